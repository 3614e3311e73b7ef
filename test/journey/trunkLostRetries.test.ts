/**
 * Calls that were cut by the trunk: dialed again if the campaign asks for it, and never while they may still be up. Judged by the callees'
 * log.
 */
import t, { type Test } from "tap"
import { aloud, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"

t.jobs = 4
const environment = { RECORDINGS: "off" }
const talking = { media: false, ringMillis: 200, talkMillis: 600_000 }
const breakerOff = { circuit_breaker: { enabled: false } }

const answered = (world: World, calls: number) =>
  untilTrue("conversations", async () => (await world.sql`SELECT 1 FROM attempts WHERE state = 'answered'`).length === calls)
const breakOff = async ({ emulator }: World) => {
  await emulator.refuseConnections(true)
  emulator.crash()
}
const isAway = (world: World) =>
  untilTrue("an outage", async () => (await world.sql`SELECT 1 FROM trunk_outages WHERE began_at IS NOT NULL`).length === 1)
/** Checks that nobody's phone was dialed while one of our calls was on it. */
const neverTwiceAtOnce = (t: Test, { emulator: { log } }: World) => {
  const live = new Set<string>()
  for (const { kind, number } of log.entries) {
    if (kind === "originate") t.notOk(live.has(number), `${number} is free`)
    if (kind === "originate") live.add(number)
    if (kind === "ended") live.delete(number)
  }
}
const dials = ({ emulator: { log } }: World) => [...log.dialsByNumber().values()]

t.test("given a campaign that asks for it, when Asterisk dies in calls, then all are called again", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: talking, environment, greeting: aloud })
  const { api } = world
  const settings = { retry_config: { max_retries: 1, retry_delay_seconds: 30, retry_on_trunk_lost: true }, ...breakerOff }
  const { id } = await world.campaign(numbersOf(3, ["01"]), settings)
  await api.start(id)
  await answered(world, 3)
  await breakOff(world)
  await isAway(world)
  t.strictSame(dials(world), [1, 1, 1], "then nobody is dialed before Asterisk is back")
  await world.emulator.refuseConnections(false)
  await world.seen("answered", 6)
  t.strictSame(dials(world), [2, 2, 2], "then each is dialed once more")
  neverTwiceAtOnce(t, world)
  const entry = await until("entry", async () => (await api.campaign(id)).logs.find(({ event }) => event === "telephony_outage"))
  t.match(entry.details, { calls_cut: 3, called_again: 3, not_called_again: 0 }, "then the log says that they are called again")
  const runs = await api.runs(id)
  t.match(runs.at(-1)?.gathered_context, { call_tags: ["retry", "retry_reason_trunk_lost"] })
})

t.test("given calls that outlive the connection, when it is back, then none that may be up is dialed", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: { ...talking, talkMillis: 500 }, environment, greeting: aloud })
  world.emulator.letTalk(true)
  const { id } = await world.campaign(numbersOf(4, ["01"]), { ...breakerOff, retry: { retryOnTrunkLost: true } })
  await world.api.start(id)
  await answered(world, 4)
  await world.emulator.refuseConnections(true)
  world.emulator.dropSockets()
  await isAway(world)
  await world.seen("originate", 4)
  await world.emulator.refuseConnections(false)
  await untilTrue("the connection", () => world.emulator.listeners() > 0)
  world.emulator.letTalk(false)
  await world.api.untilState(id, "completed")
  neverTwiceAtOnce(t, world)
})

t.test("given requests without replies, when Asterisk dies in their calls, then each is repeated once", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: talking, environment, greeting: aloud })
  world.emulator.setResponseFault("reset-after-placing", 4)
  const { id } = await world.campaign(numbersOf(4, ["01"]), { ...breakerOff, retry: { retryOnTrunkLost: true } })
  await world.api.start(id)
  await answered(world, 4)
  t.strictSame(dials(world), [1, 1, 1, 1], "then a lost reply causes no second call")
  await breakOff(world)
  await isAway(world)
  await world.emulator.refuseConnections(false)
  await world.seen("answered", 8)
  t.strictSame(dials(world), [2, 2, 2, 2])
  neverTwiceAtOnce(t, world)
})
