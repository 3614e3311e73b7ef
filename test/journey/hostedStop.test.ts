/** An engine that is stopped: calls through a hosted carrier get time to end, and the carrier can reach the engine for as long as they need it. */
import t from "tap"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { attemptsOf, numbersOf, untilTrue } from "#test/support/engine.ts"
import { openThrough, ours } from "#test/support/hostedCarriers.ts"

t.test("given calls that are up, when the engine is told to stop, then they end when their callees hang up", async (t) => {
  const emulator = await TwilioEmulator.start({ callsPerSecond: 1000, numbers: [ours], ringMillis: 100, talkMillis: 6000 })
  t.teardown(() => emulator.stop())
  const { accountSid, authToken, log, server } = emulator
  const account = { account_sid: accountSid, auth_token: authToken }
  const world = await openThrough(
    t,
    { account, provider: "twilio", server },
    { environment: { DRAIN: "600" }, greeting: "Hello there, and good morning to all of you." }
  )
  const { id } = await world.campaign(numbersOf(20, ["01"]), { max_concurrency: 4, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("calls", () => log.count("answered") >= 4)
  t.equal((await world.end("SIGTERM")).code, 0)
  const ends = log.entries.filter(({ kind }) => kind === "ended")
  t.ok(ends.length >= 4)
  t.strictSame(
    ends.filter(({ by }) => by !== "callee"),
    [],
    "then nobody is cut off"
  )
  const attempts = await attemptsOf(world.sql, id)
  t.equal(attempts.filter(({ outcome }) => outcome === "answered").length, ends.length, "then each of them is recorded")
  t.strictSame(
    attempts.filter(({ state }) => state !== "ended" && state !== "void"),
    [],
    "and none is left in between"
  )
})
