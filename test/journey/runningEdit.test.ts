/** A running campaign is edited, as in the existing product's web interface: from the answer on, nothing leaves under the old settings. */
import t from "tap"
import { contactStates, eventsOf, judge, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { leftAfter, momentNow, mostLeftInASecond } from "#test/support/leftAt.ts"

const environment = { CALL_RATE: "20", COMPATIBILITY: "dograh", ORG_CONCURRENCY: "50", RECORDINGS: "off" }
const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")
const edit = async (world: World, id: number, changes: object) => {
  const sentAt = nowMillis()
  const { body, status } = await world.api.ask("PATCH", `/campaign/${id}`, changes)
  if (status !== 200) throw new Error(`not edited: ${status} ${JSON.stringify(body)}`)
  const answered = await momentNow()
  // The cast holds because the engine builds its answers from the same types.
  return { sentAt, answered, at: answered.at, campaign: body as { readonly state: string } }
}
const closedWindow = () => {
  const inTwoDays = (new Date().getUTCDay() + 6 + 2) % 7
  return { timezone: "UTC", slots: [{ day_of_week: inTwoDays, start_time: "09:00", end_time: "17:00" }] }
}
/** How many other calls were up at each originate after `at`. */
const othersUp = ({ emulator }: World, at: number): ReadonlyArray<number> => {
  const up = new Set<string>()
  return emulator.log.entries.flatMap((entry) => {
    const others = up.size
    if (entry.kind === "originate") up.add(entry.channelId)
    if (entry.kind === "ended") up.delete(entry.channelId)
    return entry.kind === "originate" && entry.at > at ? [others] : []
  })
}

t.test("given a campaign at full speed", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 100, talkMillis: 500 }, environment })
  const { api, emulator, sql } = world
  const numbers = numbersOf(60, ["01"])
  const { id } = await world.campaign(numbers, { max_concurrency: 20, rate_limit: null })
  t.match(await api.campaign(id), { rate_limit: 20 }, "without a rate of its own it has the engine's")
  await api.start(id)

  await world.seen("originate", 15)
  const closed = await edit(world, id, { schedule_config: closedWindow() })
  await untilTrue("end of all calls", () => emulator.log.live() === 0)
  await untilTrue("nobody who is left half-way", async () => !("dialing" in (await contactStates(sql, id))))
  t.strictSame(
    leftAfter([world.dataDir], dialsOf(world), closed.answered),
    [],
    "when its window is closed, then nothing is dialed from the answer on"
  )
  const before = dialsOf(world).length
  await edit(world, id, { schedule_config: null })
  await world.seen("originate", before + 1)

  await world.seen("originate", 25)
  const lowered = await edit(world, id, { max_concurrency: 1 })
  await world.seen("originate", dialsOf(world).length + 3)
  const raised = await edit(world, id, { max_concurrency: 20 })
  await api.untilState(id, "completed")
  const one = othersUp(world, lowered.at).slice(0, 3)
  t.strictSame(one, [0, 0, 0], "when its cap is lowered to one, then each call waits until no other is up")
  t.ok(Math.max(...othersUp(world, raised.at)) > 1, "when it is raised, then it dials as fast as before")
  const called = dialsOf(world).map(({ number }) => number)
  t.strictSame(called.toSorted(), [...numbers], "then nobody is skipped, and nobody called twice")
  t.ok(mostLeftInASecond(world) <= 20, `then the rate holds: ${mostLeftInASecond(world)} in a second`)
  t.equal(eventsOf(await api.campaign(id))["settings_updated"], 4, "then the log has each edit")
  await judge(t, world, id, 20)
})

t.test("given a running campaign of which only retries are left", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 50, talkMillis: 100 }, environment })
  const { id } = await world.campaign(numbersOf(3, ["02"]), { retry_config: { retry_delay_seconds: 3600 } })
  await world.sql`UPDATE campaigns SET retry_config = retry_config || '{"retryDelaySeconds": 3600}' WHERE id = ${id}`
  await world.api.start(id)
  await untilTrue("three that wait", async () => (await contactStates(world.sql, id))["retry_wait"] === 3)
  const { campaign } = await edit(world, id, { name: "Same", retry_config: { retry_on_busy: false } })
  t.equal(campaign.state, "completed", "when the settings rule them out, then it is completed by the time of the answer")
  t.strictSame(await contactStates(world.sql, id), { failed: 3 })
  t.equal(dialsOf(world).length, 3)
  await judge(t, world, id, 50)
})

t.test("given a running campaign whose calls all fail", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 50, talkMillis: 100 }, environment })
  const { id } = await world.campaign(numbersOf(40, ["09"]), { max_concurrency: 1 })
  await world.api.start(id)
  await world.seen("ended", 8)
  const { sentAt } = await edit(world, id, { circuit_breaker: { enabled: true, failure_threshold: 0.5, min_calls_in_window: 5 } })
  const tripped = await world.api.untilState(id, "paused")
  t.match(tripped.logs.at(-1), { event: "circuit_breaker_tripped", details: { failure_count: 5, success_count: 0 } })
  // The edit takes effect some time before its answer.
  const since = dialsOf(world).filter(({ at }) => at > sentAt).length
  t.ok(since >= 5, `when it gets a breaker, then that trips because of later calls alone: ${since}`)
  await world.api.resume(id)
  await edit(world, id, { circuit_breaker: null })
  await world.api.untilState(id, "completed")
  await judge(t, world, id, 1)
})
