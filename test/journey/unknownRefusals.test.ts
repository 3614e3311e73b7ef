/** Carriers that refuse a number in words that the engine does not know. Judged by the log of the carrier's callees, and by the campaign's. */
import t from "tap"
import { contactStates, numbersOf, type World } from "#test/support/engine.ts"
import { type Carrier, carriers, openThrough } from "#test/support/hostedCarriers.ts"

t.jobs = 2

const apiId = "97ceeb52-58b6-11e1-86da-77300b68f8bb"
const words = {
  Plivo: { status: 400, body: { api_id: apiId, error: { dial: ["no such subscriber"] } } },
  Vobiz: { status: 400, body: { api_id: apiId, error: "invalid number: to" } },
  Telnyx: { status: 403, body: { errors: [{ code: "D99", title: "Dialed number is not in the whitelist" }] } },
  Vonage: {
    status: 400,
    body: { type: "https://developer.vonage.com/api-errors#rejected", title: "Rejected", detail: "No such subscriber." }
  },
  Twilio: { status: 400, body: { code: 19999, message: "This number cannot be reached.", status: 400 } },
  Cloudonix: { status: 403, body: { message: "Unreachable subscriber" } }
}

const callingOneAtATime = { circuit_breaker: { enabled: false }, max_concurrency: 1, retry: { maxRetries: 0 } }
const originates = ({ log }: Carrier) => log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
const eventsIn = async ({ api }: World, id: number, state: "completed" | "paused") =>
  (await api.untilState(id, state)).logs.map(({ event }) => event)

for (const [name, answer] of Object.entries(words)) {
  t.test(`given ${name}, which refuses in unknown words`, { buffered: true }, async (t) => {
    const carrier = await carriers[name]?.(t, { ringMillis: 50, talkMillis: 100 })
    if (carrier === undefined) throw new Error("no carrier")
    const refuses = (count: number, number = "") => {
      const digits = number.slice(1)
      carrier.server.fail({ acts: false, reply: answer }, (ask) => carrier.places(ask) && `${ask.path} ${ask.body}`.includes(digits), count)
    }
    const world = await openThrough(t, carrier)

    await t.test("the first three contacts, when nothing has been placed, then it pauses, and they are called later", async (t) => {
      const numbers = numbersOf(4, ["01"])
      const { id } = await world.campaign(numbers, callingOneAtATime)
      refuses(3)
      await world.api.start(id)
      t.ok((await eventsIn(world, id, "paused")).includes("telephony_configuration_unavailable"))
      t.strictSame(originates(carrier), [], "then nobody's phone rang")
      await world.api.resume(id)
      await eventsIn(world, id, "completed")
      t.strictSame(originates(carrier).toSorted(), numbers.toSorted(), "then everybody's phone rang once")
    })

    await t.test("one contact, when calls were placed before a restart, then that contact alone has failed", async (t) => {
      await world.end("SIGKILL")
      await world.launch()
      const numbers = numbersOf(7, ["01"]).slice(4)
      const [first = ""] = numbers
      const { id } = await world.campaign(numbers, callingOneAtATime)
      refuses(1, first)
      await world.api.start(id)
      const events = await eventsIn(world, id, "completed")
      t.strictSame(await contactStates(world.sql, id), { completed: 2, failed: 1 })
      t.strictSame([events.includes("contacts_refused"), events.includes("telephony_configuration_unavailable")], [true, false])
      const [refused] = (await world.api.runs(id)).filter(({ initial_context: known }) => known?.["phone_number"] === first)
      t.match(refused, { gathered_context: { provider_message: /HTTP 40[03]/ } }, "and the run has the carrier's words")
      t.notMatch(world.engine.output(), first.slice(1), "and the log does not have the number")
    })
  })
}
