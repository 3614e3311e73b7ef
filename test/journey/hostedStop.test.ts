/** An engine that is stopped: calls through a hosted carrier get their time to end, and the carrier reaches the engine for as long as they need. */
import t from "tap"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { attemptsOf, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"

const ours = "+15550009000"

t.test("given calls that are up, when the engine is told to stop, then they end when their callees hang up", async (t) => {
  const emulator = await TwilioEmulator.start({ callsPerSecond: 1000, numbers: [ours], ringMillis: 100, talkMillis: 6000 })
  t.teardown(() => emulator.stop())
  const { accountSid, authToken, log, server } = emulator
  const port = await freePort()
  const world = await World.open(t, {
    account: { provider: "twilio", account_sid: accountSid, auth_token: authToken },
    greeting: "Hello there, and good morning to all of you.",
    environment: {
      ADAPTERS: "ari,twilio",
      DRAIN: "600",
      PORT: String(port),
      PROVIDER_URLS: `twilio=${server.url}`,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off"
    }
  })
  const { body } = await world.api.ask("GET", "/organizations/telephony-configs")
  // The list of what was made just now.
  const [config] = (body as { readonly configurations: ReadonlyArray<{ readonly id: number }> }).configurations
  await world.api.ask("POST", `/organizations/telephony-configs/${config?.id}/phone-numbers`, { address: ours })
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
  t.equal(attempts.filter(({ outcome }) => outcome === "answered").length, ends.length, "then each of them is on record")
  t.strictSame(
    attempts.filter(({ state }) => state !== "ended" && state !== "void"),
    [],
    "and none is left in between"
  )
})
