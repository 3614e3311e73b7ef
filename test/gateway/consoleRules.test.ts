/** What the console works out by itself: calling hours in words, when a campaign ends, and which way calls went through a graph. */
import t from "tap"
import { apart } from "#gateway/console/base/apart.ts"
import { Paced } from "#gateway/console/base/Paced.ts"
import { endOf } from "#gateway/console/pages/campaigns/forecast.ts"
import { type Hours, hoursInWords, hoursOf, slotsOf } from "#gateway/console/pages/campaigns/schedule.ts"
import { boxesOf, graphOf, visitsOf } from "#gateway/console/pages/agents/graph.ts"

const office: Hours = { days: [0, 1, 2, 3, 4], from: "09:00", until: "17:00" }
const schedule = (timezone: string, hours: ReadonlyArray<Hours> = [office]) => ({ enabled: true, timezone, slots: slotsOf(hours) })

t.test("given calling hours", async (t) => {
  const saturday = { days: [5], from: "10:00", until: "12:00" }
  t.strictSame(hoursOf(slotsOf([office, saturday])), [office, saturday], "then days with the same hours are shown together")
  for (const [hours, said] of [
    [[office], "Mon to Fri 09:00 to 17:00 (Europe/Berlin)"],
    [[{ ...office, days: [6, 0, 1] }], "Mon, Tue, Sun 09:00 to 17:00 (Europe/Berlin)"],
    [[office, saturday], "Mon to Fri 09:00 to 17:00, Sat 10:00 to 12:00 (Europe/Berlin)"]
  ] as const)
    t.equal(hoursInWords(schedule("Europe/Berlin", hours)), said)
  t.equal(hoursInWords(null), "At any time")
  t.equal(hoursInWords({ ...schedule("UTC"), enabled: false }), "At any time", "and hours that are switched off are none")
})

t.test("given a campaign's limits, when its end is estimated", async (t) => {
  const end = (from: string, contacts: number, more: Partial<Parameters<typeof endOf>[0]> = {}) => {
    const course = {
      contacts,
      perSecond: 1,
      atOnce: 60,
      callSeconds: 60,
      schedule_config: schedule("Europe/Berlin"),
      from: Date.parse(from)
    }
    const at = endOf({ ...course, ...more })
    return at === undefined ? undefined : new Date(at).toISOString()
  }
  const monday = "2026-11-30T09:00:00Z"
  t.equal(end(monday, 3600), "2026-11-30T10:00:00.000Z", "then the rate counts")
  t.equal(end(monday, 3600, { atOnce: 30 }), "2026-11-30T11:00:00.000Z", "or how many calls may be up at once")
  t.equal(end("2026-11-30T03:00:00Z", 3600), "2026-11-30T09:00:00.000Z", "it waits for the hours, in their zone")
  t.equal(end("2026-11-30T15:30:00Z", 3600), "2026-12-01T08:30:00.000Z", "goes on the next day")
  t.equal(end("2026-12-04T15:30:00Z", 3600), "2026-12-07T08:30:00.000Z", "or after the weekend")
  t.equal(end("2026-03-27T15:30:00Z", 3600), "2026-03-30T07:30:00.000Z", "also when clocks have changed on it")
  t.equal(end(monday, 3600, { schedule_config: null }), "2026-11-30T10:00:00.000Z")
  const night = schedule("UTC", [{ days: [0], from: "23:00", until: "24:00" }])
  t.equal(end(monday, 3600, { schedule_config: night }), "2026-12-01T00:00:00.000Z", "and to the end of a day")
  t.equal(end(monday, 100_000_000), undefined, "but nothing is said of more than a year")
  t.equal(end(monday, 5), "2026-11-30T09:01:00.000Z", "not before a single call is over")
  t.equal(end(monday, 10, { atOnce: 0 }), undefined)
})

t.test("given an agent's graph", async (t) => {
  const node = (id: string, x: number, y: number) => ({ id, type: "agentNode", position: { x, y }, data: { name: `Node ${id}` } })
  const edges = [
    { id: "a", source: "1", target: "2" },
    { id: "b", source: "2", target: "3" },
    { id: "c", source: "1", target: "3" }
  ]
  const graph = graphOf({ nodes: [node("1", 0, 0), node("2", 0, 0), node("3", 0, 0)], edges })
  t.strictSame(
    boxesOf(graph).map(({ x, y }) => [x, y]),
    [
      [0, 0],
      [0, 120],
      [220, 120]
    ],
    "then nodes at one place are laid out by how far they are from the start"
  )
  const placed = boxesOf(graphOf({ nodes: [node("1", -100, 50), node("2", 100, 150)], edges }))
  t.strictSame([placed[0]?.x, placed[0]?.y], [0, 0], "and others as the editor has put them, from the corner on")
  t.ok((placed[1]?.x ?? 0) > 0 && (placed[1]?.y ?? 0) > 0)
  const run = (...visited: ReadonlyArray<string>) => ({ gathered_context: { nodes_visited: visited.map((id) => `Node ${id}`) } })
  const visits = visitsOf(graph, [run("1", "2", "3"), run("1", "3"), run("1", "2"), { gathered_context: null }])
  t.strictSame(Object.fromEntries(visits), { a: 2, b: 1, c: 1 }, "and it is counted how often calls went each way")
  t.strictSame(graphOf({ nodes: "none", edges: [7, null] }), { nodes: [], edges: [] }, "a draft without a graph is empty")
})

t.test("given curves with equal values, when they are drawn, then they are apart", async (t) => {
  const drawn = (...curves: ReadonlyArray<ReadonlyArray<number | null>>) => apart(curves, 0.02)
  t.strictSame(drawn([0, 50], [0, 100], [0, 50]), [
    [0, 50],
    [2, 100],
    [4, 52]
  ])
  t.strictSame(drawn([1, null], [2, null]), [
    [1, null],
    [2, null]
  ])
  t.strictSame(drawn([0], [0]), [[0], [0.02]], "also if all of them are zero")
})

t.test(
  "given something that is read at most every ten minutes, when somebody waits for it during a reading",
  { timeout: 60_000 },
  async (t) => {
    const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = Promise.withResolvers<void>()
    let readings = 0
    const read = async () => {
      began[readings++]?.resolve()
      await first.promise
    }
    const paced = new Paced(read, async () => {}, 600_000)
    t.teardown(() => paced.end())
    paced.want()
    await began[0]?.promise
    paced.wantNow()
    first.resolve()
    await began[1]?.promise
    t.equal(readings, 2, "then it is read again without a pause")
  }
)
