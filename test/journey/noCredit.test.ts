/**
 * An account whose credit runs out during a campaign, at a carrier that nevertheless accepts requests and ends the calls before they are dialed.
 * Judged by the log of the carrier's callees.
 */
import t from "tap"
import { startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { attemptsOf, contactStates, numbersOf } from "#test/support/engine.ts"
import { openThrough } from "#test/support/hostedCarriers.ts"

t.test("given Cloudonix, which accepts calls without the credit to dial them", async (t) => {
  const emulator = await startCloudonixEmulator({ ringMillis: 100, talkMillis: 300, requests: 1000 })
  t.teardown(() => emulator.stop())
  const { domain, log } = emulator
  const world = await openThrough(t, emulator)
  const { api, sql } = world
  const numbers = numbersOf(6, ["01"])
  const { id } = await world.campaign(numbers, {
    circuit_breaker: { enabled: true, failure_threshold: 0.2, min_calls_in_window: 2 },
    retry: { maxRetries: 0 }
  })
  domain.hasCredit = false
  await api.start(id)
  const { logs } = await api.untilState(id, "paused")
  const entry = logs.find(({ event }) => event === "quota_exhausted")
  t.match(entry, { details: { detail: "nocredit" }, message: "Paused: the telephony provider has no credit left for us." })
  t.strictSame(log.entries, [], "then nobody's phone rang")
  domain.hasCredit = true
  await api.resume(id)
  await api.untilState(id, "completed")
  t.strictSame(await contactStates(sql, id), { completed: numbers.length }, "then no contact has failed because of it")
  const dialed = log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
  t.strictSame(dialed.toSorted(), numbers.toSorted(), "then everybody's phone rang once")
  const unpaid = (await attemptsOf(sql, id)).filter(({ state }) => state === "void")
  t.ok(unpaid.length > 0, "then those calls have no result")
})
