/**
 * An engine that is killed after it has acknowledged a carrier's report, and before it has acted on it. The carrier will not report it again,
 * and no longer has a record of the call. Judged by the log of the carrier's callees.
 */
import t from "tap"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { placedBy, untilTrue, type World } from "#test/support/engine.ts"
import { ours, openThrough } from "#test/support/hostedCarriers.ts"

// Most of the time is spent waiting for calls.
t.jobs = 3

const far = { ringMillis: 100, talkMillis: 400 }
const busy = "+15560000002"
const patient = "+15560000011"
const retry = { maxRetries: 0 }

const outcomesOf = async (world: World, id: number) => (await placedBy(world.sql, id)).map(({ outcome }) => outcome)

t.test("given a callee who was busy, when the engine dies before it has recorded that", { buffered: true }, async (t) => {
  const telnyx = await startTelnyxEmulator(far)
  t.teardown(() => telnyx.stop())
  const world = await openThrough(t, telnyx, { environment: { CRASH_AT: "ended" } })
  const { id } = await world.campaign([busy], { retry })
  await world.api.start(id)
  t.equal((await world.engine.exited).signal, "SIGKILL")
  telnyx.forgetEnded()
  await world.launch({ CRASH_AT: "" })
  await world.api.untilState(id, "completed")
  t.strictSame(await outcomesOf(world, id), ["busy"], "then its contact was busy")
  t.equal(telnyx.log.count("originate"), 1)
})

t.test("given a call that was written off, when it rings and the engine dies before it could hang up", { buffered: true }, async (t) => {
  const twilio = await TwilioEmulator.start({ ...far, callsPerSecond: 1000, numbers: [ours] })
  t.teardown(() => twilio.stop())
  const { callbacks, log, server } = twilio
  // Longer than a busy machine takes to start the next engine: otherwise Twilio ends the call.
  const world = await openThrough(t, twilio, { environment: { RING_TIMEOUT: "40" } })
  let isAway = true
  twilio.lives.letRing(true)
  const isList = ({ method, path }: CarrierAsk) => method === "GET" && path.endsWith("/Calls.json")
  const isHangup = (ask: CarrierAsk) => ask.method === "POST" && !twilio.places(ask)
  twilio.holdQueue(true)
  server.fail({ acts: true, reply: "reset" }, twilio.places)
  const nothing = { status: 200, body: { calls: [], next_page_uri: null, page: 0, page_size: 50 } }
  server.fail({ acts: false, reply: nothing }, isList, Number.POSITIVE_INFINITY)
  server.fail({ acts: false, reply: "hang" }, (ask) => isAway && isHangup(ask), Number.POSITIVE_INFINITY)
  const { id } = await world.campaign([patient], { retry })
  await world.api.start(id)
  await untilTrue("attempt that is written off", async () => (await outcomesOf(world, id))[0] === "unknown")
  twilio.holdQueue(false)
  await untilTrue("hang-up", () => server.requests.some(isHangup))
  await callbacks.settled()
  await world.end("SIGKILL")
  t.equal(log.count("ended"), 0)
  isAway = false
  await world.launch()
  await untilTrue("end of the call", () => log.count("ended") === 1)
  const enders = log.entries.filter(({ kind }) => kind === "ended").map(({ by }) => by)
  t.strictSame(enders, ["us"], "then nobody is left in a call that no engine follows")
})
