/** Carriers that refuse a number in words that the engine does not know. Judged by the log of the carrier's callees, and by the campaign's. */
import t from "tap"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { contactStates, numbersOf } from "#test/support/engine.ts"
import { type Carrier, openThroughEach } from "#test/support/hostedCarriers.ts"

const apiId = "97ceeb52-58b6-11e1-86da-77300b68f8bb"
const words: Readonly<Record<string, { readonly status: number; readonly body: object }>> = {
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

const oneAtATime = { circuit_breaker: { enabled: false }, max_concurrency: 1 }
const originates = ({ log }: Carrier) => log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
const refuses = (carrier: Carrier, title: string, count: number, number = "") => {
  const digits = number.slice(1)
  const isRefused = (ask: CarrierAsk) => carrier.places(ask) && `${ask.path} ${ask.body}`.includes(digits)
  carrier.server.fail({ acts: false, reply: words[title] ?? "reset" }, isRefused, count)
}

t.test("given carriers that refuse in unknown words", async (t) => {
  const { lines, world } = await openThroughEach(t, { ringMillis: 50, talkMillis: 100 })
  const eventsIn = async (id: number, state: "completed" | "paused") =>
    (await world.api.untilState(id, state)).logs.map(({ event }) => event)
  const begin = async ({ settings }: (typeof lines)[number], numbers: ReadonlyArray<string>) => {
    const { id } = await world.campaign(numbers, { ...settings, ...oneAtATime })
    await world.api.start(id)
    return id
  }

  await t.test("the first three contacts, when nothing has been placed, then it pauses, and they are called later", async (t) => {
    const first = lines.map(async (line) => {
      const { carrier, prefix, title } = line
      const numbers = numbersOf(4, ["01"], prefix)
      refuses(carrier, title, 3)
      const id = await begin(line, numbers)
      t.ok((await eventsIn(id, "paused")).includes("telephony_configuration_unavailable"), title)
      t.strictSame(originates(carrier), [], `${title}: then nobody's phone rang`)
      await world.api.resume(id)
      await eventsIn(id, "completed")
      t.strictSame(originates(carrier).toSorted(), numbers.toSorted(), `${title}: then everybody's phone rang once`)
    })
    await Promise.all(first)
  })

  await world.end("SIGKILL")
  await world.launch()
  await t.test("one contact, when calls were placed before a restart, then that contact alone has failed", async (t) => {
    const second = lines.map(async (line) => {
      const { carrier, prefix, title } = line
      const numbers = numbersOf(7, ["01"], prefix).slice(4)
      const [one = ""] = numbers
      refuses(carrier, title, 1, one)
      const id = await begin(line, numbers)
      const events = await eventsIn(id, "completed")
      t.strictSame(await contactStates(world.sql, id), { completed: 2, failed: 1 }, title)
      t.strictSame([events.includes("contacts_refused"), events.includes("telephony_configuration_unavailable")], [true, false])
      const [refused] = (await world.api.runs(id)).filter(({ initial_context: known }) => known?.["phone_number"] === one)
      t.match(refused, { gathered_context: { provider_message: /HTTP 40[03]/ } }, `${title}: and the run has the carrier's words`)
      t.notMatch(world.engine.output(), one.slice(1), "and the log does not have the number")
    })
    await Promise.all(second)
  })
})
