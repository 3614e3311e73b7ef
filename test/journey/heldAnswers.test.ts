/**
 * Carriers whose reports are late or lost, although the audio of the call is there: the carrier begins it once the callee has answered, so callees
 * hear the agent at once. Judged by what callees hear.
 */
import t from "tap"
import { contactStates, numbersOf, placedBy, untilTrue } from "#test/support/engine.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"

t.jobs = 3

const people = 3
const talkMillis = 4000

// Plivo and Vobiz ask for the document of the call when it is answered, which reports the answer. Telnyx opens the stream while the phone rings.
for (const name of ["Twilio", "Vonage", "Cloudonix"]) {
  t.test(`given ${name}, when no report of a call arrives before its callee has hung up`, { buffered: true }, async (t) => {
    const carrier = await (carriers[name] ?? (() => Promise.reject(new Error(name))))(t, { ringMillis: 100, talkMillis })
    const world = await openThrough(t, carrier, { greeting: "Hello there, and good morning to all of you." })
    const { callbacks, log } = carrier
    const { id } = await world.campaign(numbersOf(people, ["01"]), { max_concurrency: people, retry: { maxRetries: 0 } })
    callbacks.hold()
    await world.api.start(id)
    await untilTrue("callees hang up", () => log.count("ended") === people)
    t.ok(callbacks.held() > 0)
    t.strictSame(deafIn(log, callsIn(log)), [], "then every callee has heard the agent")
    callbacks.release()
    await world.api.untilState(id, "completed")
    t.strictSame(await contactStates(world.sql, id), { completed: people }, "and every call is recorded as answered")
    t.strictSame(
      (await placedBy(world.sql, id)).map(({ outcome }) => outcome),
      Array.from({ length: people }, () => "answered")
    )
    t.equal(log.count("originate"), people, "and nobody is called twice")
  })
}
