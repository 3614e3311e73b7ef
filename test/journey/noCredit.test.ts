/**
 * An account whose credit runs out during a campaign, at carriers that nevertheless accept requests and end the calls before they are dialed.
 * Judged by the log of the carrier's callees.
 */
import t from "tap"
import { startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { account as plivoAccount, startPlivoEmulator } from "#test/emulators/plivo/PlivoEmulator.ts"
import { attemptsOf, contactStates, numbersOf } from "#test/support/engine.ts"
import { openThrough, ours } from "#test/support/hostedCarriers.ts"

// Most of the time is spent waiting for calls.
t.jobs = 2

const far = { ringMillis: 100, talkMillis: 300 }

const plivo = async () => {
  const emulator = await startPlivoEmulator({ ...far, callsPerSecond: 20, numbers: [ours] })
  const { authId: auth_id, authToken: auth_token } = plivoAccount
  return {
    credit: (hasAny: boolean) => emulator.credit(hasAny),
    emulator,
    far: { account: { auth_id, auth_token }, provider: "plivo", server: emulator.server },
    words: "Out Of Credits"
  }
}
const cloudonix = async () => {
  const emulator = await startCloudonixEmulator({ ...far, requests: 1000 })
  const { apiKey: bearer_token, domain } = emulator
  return {
    credit: (hasAny: boolean) => {
      domain.hasCredit = hasAny
    },
    emulator,
    far: { account: { bearer_token, domain_id: domain.name }, provider: "cloudonix", server: emulator.server },
    words: "nocredit"
  }
}

for (const [name, start] of Object.entries({ Cloudonix: cloudonix, Plivo: plivo }))
  t.test(`given ${name}, which accepts calls without the credit to dial them`, { buffered: true }, async (t) => {
    const { credit, emulator, far, words } = await start()
    t.teardown(() => emulator.stop())
    const world = await openThrough(t, far)
    const { api, sql } = world
    const numbers = numbersOf(6, ["01"])
    const { id } = await world.campaign(numbers, {
      circuit_breaker: { enabled: true, failure_threshold: 0.2, min_calls_in_window: 2 },
      retry: { maxRetries: 0 }
    })
    credit(false)
    await api.start(id)
    const { logs } = await api.untilState(id, "paused")
    const entry = logs.find(({ event }) => event === "quota_exhausted")
    t.match(entry, { details: { detail: words }, message: "Paused: the telephony provider has no credit left for us." })
    t.strictSame(emulator.log.entries, [], "then nobody's phone rang")
    credit(true)
    await api.resume(id)
    await api.untilState(id, "completed")
    t.strictSame(await contactStates(sql, id), { completed: numbers.length }, "then no contact has failed because of it")
    const dialed = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
    t.strictSame(dialed.toSorted(), numbers.toSorted(), "then everybody's phone rang once")
    const unpaid = (await attemptsOf(sql, id)).filter(({ state }) => state === "void")
    t.ok(unpaid.length > 0, "then those calls have no result")
  })
