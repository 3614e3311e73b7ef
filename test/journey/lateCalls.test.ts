/** Calls that are alive after they were written off, and whose engine was killed in between. */
import t, { type Test } from "tap"
import { type AriEmulator, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { attemptsOf, numbersOf, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { parse } from "#test/support/prometheus.ts"
import { nowMillis, untilTrue } from "#test/support/until.ts"

// Most of the time is spent waiting for calls that do not appear.
t.jobs = 2

const quick = { ringMillis: 200, talkMillis: 500 }
const isDial = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === "POST" && path.startsWith("/ari/channels?")

/** An engine whose requests go through a proxy to an Asterisk of the test's own. */
const behindProxy = async (t: Test) => {
  const asterisk = await startAriEmulator({ media: false, ...quick })
  t.teardown(() => asterisk.stop())
  const proxy = await HttpProxy.start(asterisk.url)
  t.teardown(() => proxy.stop())
  const account = { ari_endpoint: proxy.url, app_name: asterisk.user, app_password: asterisk.password }
  const world = await World.open(t, {
    account,
    environment: { PACED: "on", RECORDINGS: "off", RING_TIMEOUT: "300" }
  })
  return { asterisk, proxy, world }
}
const runsOf = (world: World) =>
  world.sql<Array<{ annotations: Record<string, Record<string, string>> | null; outcome: string }>>`
    SELECT r.annotations, a.outcome FROM runs r JOIN attempts a ON a.id = r.attempt_id ORDER BY a.created_at`

/** `appear` lets Asterisk place the calls, which happens after `meanwhile` at the latest. Returns when the engine could first learn of them. */
const check = async (t: Test, meanwhile: (world: World, asterisk: AriEmulator, appear: () => void) => Promise<number>, ending = "11") => {
  const { asterisk, proxy, world } = await behindProxy(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  t.teardown(release)
  proxy.befall(fates.holdUntil(released), isDial, 2)
  const { id } = await world.campaign([...numbersOf(2, [ending]), ...numbersOf(3, ["01"], "+1556")], { max_concurrency: 2 })
  await world.api.start(id)
  await untilTrue("requests that are held", () => proxy.exchanges.filter(({ fate }) => fate.startsWith("held")).length === 2)
  // As long as a phone may ring.
  await world.engine.forward(300_000)
  await untilTrue(
    "attempts that were written off",
    async () => (await attemptsOf(world.sql, id)).filter(({ outcome }) => outcome === "unknown").length === 2
  )
  const lateness = watchLateness()
  const heardFrom = await meanwhile(world, asterisk, release)
  release()
  const isLate = ({ number }: { readonly number: string }) => number.endsWith(ending)
  const lateEnds = () => asterisk.log.entries.filter((entry) => entry.kind === "ended" && isLate(entry)).length
  await untilTrue("late calls that were ended", () => lateEnds() >= 2)
  const late = asterisk.log.entries.filter(isLate)
  const firstEnd = late.find(({ kind }) => kind === "ended")?.at ?? 0
  const early = asterisk.log.entries.filter((entry) => entry.kind === "originate" && !isLate(entry) && entry.at < firstEnd)
  t.strictSame(early, [], "then nobody else is dialed while they may still appear")
  const lives = late
    .filter(({ kind }) => kind === "originate")
    .map(
      ({ at, channelId }) =>
        (late.find((entry) => entry.kind === "ended" && entry.channelId === channelId)?.at ?? Infinity) - Math.max(at, heardFrom)
    )
  const areShort = lives.every((millis) => millis < lateness.allow(5000))
  t.ok(areShort, `then each is hung up within 5 s: ${lives.map(Math.round).join(", ")}`)
  t.strictSame([...new Set(late.flatMap(({ by, kind }) => (kind === "ended" ? [by] : [])))], ["us"])
  await world.api.untilState(id, "completed")
  t.ok(asterisk.log.mostLive() <= 2, `then the cap holds: ${asterisk.log.mostLive()}`)
  t.strictSame([...asterisk.log.dialsByNumber().values()], [1, 1, 1, 1, 1], "then everybody is called once")
  const runs = await runsOf(world)
  const outcomes = runs.map(({ outcome }) => outcome)
  t.strictSame(outcomes, ["unknown", "unknown", "answered", "answered", "answered"])
  t.match(
    runs.slice(0, 2).map(({ annotations }) => annotations?.["late_call"]),
    Array.from({ length: 2 }, () => ({ appeared_at: /^2/, ended_at: /^2/ })),
    "then their runs say so"
  )
  const metrics = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
  t.equal(metrics.values.get("calls_late_total"), 2, "then they are counted")
}

const trunkIsUp = (world: World) =>
  untilTrue("trunk that is up", async () => {
    const { body } = await world.api.ask("GET", "/organizations/telephony-trunks")
    return JSON.stringify(body).includes('"up"')
  })

t.test("given requests that Asterisk holds until they are written off, and an engine that is killed", { buffered: true }, (t) =>
  check(t, async (world) => {
    await world.end("SIGKILL")
    await world.launch()
    await trunkIsUp(world)
    return 0
  })
)

t.test("given the same, and phones that start to ring while there is no engine, so that only a list shows them", { buffered: true }, (t) =>
  check(
    t,
    async (world, asterisk, appear) => {
      await world.end("SIGKILL")
      appear()
      await untilTrue("phones that ring", () => asterisk.log.count("ringing") === 2)
      await world.launch()
      await trunkIsUp(world)
      return nowMillis()
    },
    "03"
  )
)
