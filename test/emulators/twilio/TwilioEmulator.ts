/** Twilio's REST interface, and signed callbacks. Calls beyond the rate wait in a queue. */
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { DialQueue } from "#test/emulators/shared/DialQueue.ts"
import { HostedEmulator, type HostedOptions, started } from "#test/emulators/shared/HostedEmulator.ts"
import { refusalOf } from "./refusals.ts"
import { TwilioCall } from "./TwilioCall.ts"

interface TwilioOptions extends HostedOptions {
  readonly callsPerSecond?: number
}

const errorOf = (status: number, code: number, message: string): CarrierAnswer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }
})
const notFound = (path: string) => errorOf(404, 20404, `The requested resource ${path} was not found`)

const updatesCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && /\/Calls\/CA\w+\.json$/.test(path)

export class TwilioEmulator extends HostedEmulator<TwilioCall> {
  readonly provider = "twilio"
  readonly accountSid = "AC00000000000000000000000000000001"
  readonly authToken = "12345678901234567890123456789012"
  readonly account = { account_sid: this.accountSid, auth_token: this.authToken }
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && path.endsWith("/Calls.json")
  /** It replaces the document of the call. */
  readonly transfers = (ask: CarrierAsk) => updatesCall(ask) && new URLSearchParams(ask.body).has("Twiml")
  readonly hangsUp = (ask: CarrierAsk) => updatesCall(ask) && new URLSearchParams(ask.body).has("Status")
  /** `suspended` or `closed`: calls are refused. */
  standing = "active"
  hasPrices = true
  readonly #queue: DialQueue

  constructor(options: TwilioOptions) {
    super(options, 1)
    const { callsPerSecond = 1 } = options
    this.#queue = new DialQueue((1000 / callsPerSecond) * this.lives.pace.scale)
  }

  static start(options: TwilioOptions): Promise<TwilioEmulator> {
    return started(new TwilioEmulator(options))
  }

  /** On: no record has a price. Off: those of calls that are over have theirs. */
  holdPrices(on: boolean): void {
    this.hasPrices = !on
  }

  override holdQueue(on: boolean): void {
    this.#queue.hold(on)
  }

  /** The records of the calls to this number. */
  callsTo(number: string) {
    return this.to(number).map((call) => call.record())
  }

  protected answer(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer> {
    const expected = `Basic ${Buffer.from(`${this.accountSid}:${this.authToken}`).toString("base64")}`
    if (ask.headers["authorization"] !== expected) return errorOf(401, 20003, "Authenticate")
    const [, resource] = /^\/2010-04-01\/Accounts\/AC0{31}1(.*)\.json$/.exec(ask.path) ?? []
    if (resource === undefined) return notFound(ask.path)
    if (resource === "") return { status: 200, body: { sid: this.accountSid, friendly_name: "Test", status: this.standing, type: "Full" } }
    if (this.standing !== "active") return errorOf(403, 20005, "Account not active")
    if (resource === "/IncomingPhoneNumbers") return { status: 200, body: this.#numbers() }
    if (resource === "/Calls") return ask.method === "POST" ? this.#create(ask) : this.#list(ask)
    const call = this.calls.get(/^\/Calls\/(CA\w+)$/.exec(resource)?.[1] ?? "")
    if (call === undefined) return notFound(ask.path)
    if (ask.method === "POST" && call.update(new URLSearchParams(ask.body)) === "refused") {
      return errorOf(400, 21220, "Call is not in-progress. Cannot redirect.")
    }
    return { status: 200, body: call.record() }
  }

  async #create(ask: CarrierAsk): Promise<CarrierAnswer> {
    if (!ask.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) return errorOf(415, 20415, "Unsupported Media Type")
    const form = new URLSearchParams(ask.body)
    const refusal = refusalOf(form, this.numbers)
    if (refusal !== undefined) return errorOf(refusal.status, refusal.code, refusal.message)
    const call = new TwilioCall(this, form)
    this.calls.set(call.sid, call)
    const body = call.record()
    this.#queue.add(call)
    await call.placed
    return { status: 201, body }
  }

  #list({ query }: CarrierAsk): CarrierAnswer {
    const [from, since, status, to] = [query.get("From"), query.get("StartTime>"), query.get("Status"), query.get("To")]
    const calls = [...this.calls.values()]
      .filter((call) => to === null || call.to === to)
      .filter((call) => from === null || call.from === from)
      .filter((call) => status === null || call.record().status === status)
      .filter(({ startedAt }) => since === null || (startedAt !== undefined && startedAt >= Date.parse(since)))
      .map((call) => call.record())
      .toReversed()
    const size = Number(query.get("PageSize") ?? 50)
    const next_page_uri = calls.length > size ? `/2010-04-01/Accounts/${this.accountSid}/Calls.json?Page=1` : null
    return { status: 200, body: { calls: calls.slice(0, size), next_page_uri, page: 0, page_size: size } }
  }

  #numbers() {
    const numbers = this.numbers.map((phone_number, index) => ({
      sid: `PN${String(index).padStart(32, "0")}`,
      phone_number,
      friendly_name: phone_number,
      capabilities: { voice: true }
    }))
    return { incoming_phone_numbers: numbers, next_page_uri: null }
  }
}
