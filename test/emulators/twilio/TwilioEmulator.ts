/**
 * Twilio as seen from the wire: its REST interface on a real port of the loopback interface, and signed callbacks. The number that is dialed selects
 * the callee (`shared/Callee.ts`), and `log` records what the callees saw. Calls beyond the rate wait in a queue, as at Twilio.
 */
import { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { CallLives } from "#test/emulators/shared/CallLife.ts"
import { type CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { refusalOf } from "./refusals.ts"
import { type TwilioAccount, TwilioCall } from "./TwilioCall.ts"

interface TwilioEmulatorOptions {
  readonly numbers: ReadonlyArray<string>
  readonly timeScale?: number
  readonly ringMillis?: number
  readonly talkMillis?: number
  readonly callsPerSecond?: number
  /** How many calls the account may have at the same time. */
  readonly mostCalls?: number
  readonly priceMillis?: number
}

type Answer = { readonly status: number; readonly body: unknown }

const errorOf = (status: number, code: number, message: string): Answer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }
})
const notFound = (path: string) => errorOf(404, 20404, `The requested resource ${path} was not found`)

/** Whether a request is to place a call. */
export const placesCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && path.endsWith("/Calls.json")

/** Whether a request is to replace the document of a call. */
export const redirectsCall = ({ body, method, path }: CarrierAsk): boolean =>
  method === "POST" && /\/Calls\/CA\w+\.json$/.test(path) && new URLSearchParams(body).has("Twiml")

export class TwilioEmulator {
  readonly accountSid = "AC00000000000000000000000000000001"
  readonly authToken = "12345678901234567890123456789012"
  readonly log = new CalleeLog()
  readonly sender = new CallbackSender()
  readonly server = new CarrierServer((ask) => this.#answer(ask))
  readonly lives: CallLives
  /** `suspended` or `closed`: calls are refused. */
  standing = "active"
  readonly #account: TwilioAccount
  readonly #options: TwilioEmulatorOptions
  readonly #calls = new Map<string, TwilioCall>()
  readonly #queue: Array<TwilioCall> = []
  #isHeld = false
  /** Calls wait for this timer; undefined while the next call may leave at once. */
  #gap: NodeJS.Timeout | undefined

  constructor(options: TwilioEmulatorOptions) {
    const { priceMillis = 0, ringMillis = 100, talkMillis = 300, timeScale: scale = 1 } = options
    this.#options = options
    this.lives = new CallLives(this.log, { scale, ringMillis, talkMillis })
    this.#account = {
      sid: this.accountSid,
      authToken: this.authToken,
      lives: this.lives,
      sender: this.sender,
      answeredBy: undefined,
      endMillis: 0,
      priceMillis
    }
  }

  static async start(options: TwilioEmulatorOptions): Promise<TwilioEmulator> {
    const emulator = new TwilioEmulator(options)
    await emulator.server.listen()
    return emulator
  }

  /** Sets what machine detection says about every callee from now on. */
  detect(answeredBy: string | undefined): void {
    this.#account.answeredBy = answeredBy
  }

  /** Sets how long after the end of the stream the end of a call is reported, from now on. */
  endLate(millis: number): void {
    this.#account.endMillis = millis
  }

  /** The media sockets of this call, in order. */
  legsOf(sid: string) {
    return this.#calls.get(sid)?.legs ?? []
  }

  /** Runs the call's answer document again: a new stream replaces the old one. */
  redirect(sid: string): void {
    this.#calls.get(sid)?.stream()
  }

  /** On: no record has a price. Off: records that are old enough have theirs. */
  holdPrices(on: boolean): void {
    this.#account.priceMillis = on ? Number.POSITIVE_INFINITY : (this.#options.priceMillis ?? 0)
  }

  /** On: calls stay in the queue. Off: they leave it at the account's rate. */
  holdQueue(on: boolean): void {
    this.#isHeld = on
    this.#dialNext()
  }

  /** The records of the calls to this number. */
  callsTo(number: string) {
    return [...this.#calls.values()].filter(({ to }) => to === number).map((call) => call.record())
  }

  /** Deletes the record of a call. */
  forget(sid: string): void {
    this.#calls.delete(sid)
  }

  stop(): Promise<void> {
    return this.server.stop()
  }

  #answer(ask: CarrierAsk): Answer | Promise<Answer> {
    const expected = `Basic ${Buffer.from(`${this.accountSid}:${this.authToken}`).toString("base64")}`
    if (ask.headers["authorization"] !== expected) return errorOf(401, 20003, "Authenticate")
    const [, resource] = /^\/2010-04-01\/Accounts\/AC0{31}1(.*)\.json$/.exec(ask.path) ?? []
    if (resource === undefined) return notFound(ask.path)
    if (resource === "") return { status: 200, body: { sid: this.accountSid, friendly_name: "Test", status: this.standing, type: "Full" } }
    if (this.standing !== "active") return errorOf(403, 20005, "Account not active")
    if (resource === "/IncomingPhoneNumbers") return { status: 200, body: this.#numbers() }
    if (resource === "/Calls") return ask.method === "POST" ? this.#create(ask) : this.#list(ask)
    const call = this.#calls.get(/^\/Calls\/(CA\w+)$/.exec(resource)?.[1] ?? "")
    if (call === undefined) return notFound(ask.path)
    if (ask.method === "POST" && call.update(new URLSearchParams(ask.body)) === "refused") {
      return errorOf(400, 21220, "Call is not in-progress. Cannot redirect.")
    }
    return { status: 200, body: call.record() }
  }

  async #create(ask: CarrierAsk): Promise<Answer> {
    if (!ask.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) return errorOf(415, 20415, "Unsupported Media Type")
    const form = new URLSearchParams(ask.body)
    const refusal = refusalOf(form, this.#options.numbers)
    if (refusal !== undefined) return errorOf(refusal.status, refusal.code, refusal.message)
    const live = [...this.#calls.values()].filter((call) => !call.hasEnded()).length
    if (live >= (this.#options.mostCalls ?? Infinity)) return errorOf(429, 10004, "Call concurrency limit exceeded")
    const call = new TwilioCall(this.#account, form)
    this.#calls.set(call.sid, call)
    const body = call.record()
    this.#queue.push(call)
    setImmediate(() => this.#dialNext())
    await call.mayReply
    return { status: 201, body }
  }

  #dialNext(): void {
    if (this.#isHeld || this.#gap !== undefined) return
    const call = this.#queue.shift()
    if (call === undefined) return
    if (call.hasEnded()) return this.#dialNext()
    const { callsPerSecond = 1 } = this.#options
    if (callsPerSecond === Number.POSITIVE_INFINITY) {
      call.dial()
      return this.#dialNext()
    }
    const next = () => {
      this.#gap = undefined
      this.#dialNext()
    }
    this.#gap = setTimeout(next, (1000 / callsPerSecond) * this.lives.pace.scale).unref()
    call.dial()
  }

  #list({ query }: CarrierAsk): Answer {
    const [from, since, status, to] = [query.get("From"), query.get("StartTime>"), query.get("Status"), query.get("To")]
    const calls = [...this.#calls.values()]
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
    const numbers = this.#options.numbers.map((phone_number, index) => ({
      sid: `PN${String(index).padStart(32, "0")}`,
      phone_number,
      friendly_name: phone_number,
      capabilities: { voice: true }
    }))
    return { incoming_phone_numbers: numbers, next_page_uri: null }
  }
}
