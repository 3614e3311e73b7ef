/**
 * A carrier of Plivo's dialect as seen from the wire: its REST interface on a real port of the loopback interface, and signed callbacks. The number
 * that is dialed selects the callee (`Callee.ts`), and `log` records what the callees saw.
 */
import { randomUUID } from "node:crypto"
import { CallbackSender } from "./CallbackSender.ts"
import { CalleeLog, preciseNow } from "./CalleeLog.ts"
import { CallLives } from "./CallLife.ts"
import { type CarrierAsk, CarrierServer } from "./CarrierServer.ts"
import { type DialectAccount, DialectCall } from "./PlivoDialectCall.ts"
import { readDial, readRedirect } from "./PlivoDialectDials.ts"

export interface DialectOptions {
  /** The account's numbers in E.164. */
  readonly numbers: ReadonlyArray<string>
  readonly timeScale?: number
  readonly ringMillis?: number
  readonly talkMillis?: number
  /** 2 by default; infinite for no limit. */
  readonly callsPerSecond?: number
  /** How many calls the account may have at the same time. */
  readonly mostCalls?: number
  /** How many requests the account may send in any period of that length; 300 in 5 s by default. */
  readonly mostRequests?: { readonly requests: number; readonly millis: number }
  /** How long after its end the record of a call appears. */
  readonly recordMillis?: number
}

export interface DialectAnswer {
  readonly status: number
  readonly body?: unknown
}

/** What carriers of the dialect do differently. */
export interface Traits extends Pick<DialectAccount, "authId" | "hasOneId" | "isAlwaysCompleted" | "media" | "signed" | "tellsCodes"> {
  /** The path below the account's, as Plivo would write it; or the error if there is none. */
  readonly pathOf: (ask: CarrierAsk) => string | DialectAnswer
  readonly placedStatus: number
  /** Calls beyond the rate wait; otherwise they are refused. */
  readonly queues: boolean
  /** Whether a call that has not ended counts as queued rather than live. */
  readonly isQueued: (call: DialectCall) => boolean
  /** Resources that only this carrier has. */
  readonly answerMore: (emulator: DialectEmulator, ask: CarrierAsk, path: string) => DialectAnswer | undefined
}

/** The limit for requests of any kind. */
const mostRequests = { requests: 300, millis: 5000 }

/** Whether a request is to place a call. */
export const placesDialectCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && path.endsWith("/Call/")

export const errorOf = (status: number, words: string): DialectAnswer => ({ status, body: { api_id: randomUUID(), error: words } })
export const bodyOf = (body: object, status = 200): DialectAnswer => ({ status, body: { api_id: randomUUID(), ...body } })

/** Whether a request is to give a call another document. */
export const redirectsDialectCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && /\/Call\/[^/]+\/$/.test(path)

const redirected = (call: DialectCall, body: string): DialectAnswer => {
  const { aleg_method = "POST", aleg_url, legs = "aleg", ...others } = readRedirect(body) ?? { none: "" }
  const isRequest = aleg_method === "POST" && legs === "aleg" && Object.keys(others).length === 0
  if (!isRequest || aleg_url === undefined || !/^https?:\/\/[^/]/.test(aleg_url)) return errorOf(400, "invalid aleg_url")
  if (!call.redirect(aleg_url)) return errorOf(404, "call not found")
  return bodyOf({ call_uuids: [call.uuid], message: "call transferred" }, 202)
}

export class DialectEmulator {
  readonly log = new CalleeLog()
  readonly sender = new CallbackSender({ retries: 5 })
  readonly server = new CarrierServer((ask) => this.#answer(ask))
  readonly lives: CallLives
  readonly calls = new Map<string, DialectCall>()
  readonly options: DialectOptions
  readonly #traits: Traits
  readonly #account: DialectAccount
  readonly #queue: Array<DialectCall> = []
  #isHeld = false
  /** Calls wait for this timer; undefined while the next call may leave at once. */
  #gap: NodeJS.Timeout | undefined
  #askedAt: Array<number> = []
  #dialedAt: Array<number> = []

  constructor(options: DialectOptions, traits: Traits) {
    const { ringMillis = 100, talkMillis = 300, timeScale: scale = 1 } = options
    this.options = options
    this.#traits = traits
    this.lives = new CallLives(this.log, { ringMillis, scale, talkMillis })
    const asUsual = { detected: undefined, endMillis: 0, hasCredit: true, hasUnsignedMedia: false }
    this.#account = { ...traits, ...asUsual, lives: this.lives, sender: this.sender }
  }

  get url(): string {
    return this.server.url
  }

  /** Sets what machine detection says about every callee from now on. */
  detect(isMachine: boolean | undefined): void {
    this.#account.detected = isMachine
  }

  /** From now on, requests for media sockets have no signature. */
  leaveMediaUnsigned(): void {
    this.#account.hasUnsignedMedia = true
  }

  /** Whether the account has any credit, from now on. */
  credit(hasAny: boolean): void {
    this.#account.hasCredit = hasAny
  }

  /** Sets how long after their streams the ends of calls are reported. */
  endLate(millis: number): void {
    this.#account.endMillis = millis
  }

  /** On: calls stay in the queue. Off: they leave it at the account's rate. */
  holdQueue(on: boolean): void {
    this.#isHeld = on
    this.#dialNext()
  }

  /** The calls to this number, the oldest first. */
  callsTo(number: string): ReadonlyArray<DialectCall> {
    return [...this.calls.values()].filter(({ dialed }) => `+${dialed.to}` === number)
  }

  /** Whether the record of a call exists. */
  isRecorded({ endedAt = Number.POSITIVE_INFINITY }: DialectCall): boolean {
    return Date.now() >= endedAt + (this.options.recordMillis ?? 0)
  }

  /** Deletes the record of a call. */
  forget(uuid: string): void {
    this.calls.delete(uuid)
  }

  async stop(): Promise<void> {
    for (const call of this.calls.values()) call.hangUp()
    this.sender.lose()
    await this.server.stop()
  }

  async #answer(ask: CarrierAsk): Promise<DialectAnswer> {
    const now = preciseNow()
    const { millis, requests } = this.options.mostRequests ?? mostRequests
    this.#askedAt = this.#askedAt.filter((at) => now - at < millis)
    if (this.#askedAt.length >= requests) return errorOf(429, "request rate limit exceeded")
    this.#askedAt.push(now)
    const path = this.#traits.pathOf(ask)
    if (typeof path !== "string") return path
    if (path === "/Call/") return this.#allCalls(ask)
    const [, uuid, verb] = /^\/Call\/([^/]+)\/(?:(\w+)\/)?$/.exec(path) ?? []
    const own = this.#traits.answerMore(this, ask, path)
    if (own !== undefined) return own
    return uuid === undefined ? errorOf(404, "not found") : this.#oneCall(ask, uuid, verb)
  }

  #allCalls(ask: CarrierAsk): DialectAnswer | Promise<DialectAnswer> {
    const { method, query } = ask
    if (method === "POST") return this.#create(ask)
    if (method === "DELETE") {
      for (const call of this.calls.values()) call.hangUp()
      return { status: 204 }
    }
    const status = query.get("status")
    if (status === null) return this.#traits.answerMore(this, ask, "/Call/") ?? errorOf(404, "not found")
    const [from, to] = [query.get("from_number"), query.get("to_number")]
    const calls = this.#inState(status).filter(
      ({ dialed }) => (to === null || dialed.to.startsWith(to)) && (from === null || dialed.from.startsWith(from))
    )
    return bodyOf({ calls: calls.map(({ uuid }) => uuid) })
  }

  #inState(status: string): ReadonlyArray<DialectCall> {
    return [...this.calls.values()].filter((call) => call.state !== "ended" && this.#traits.isQueued(call) === (status === "queued"))
  }

  async #create(ask: CarrierAsk): Promise<DialectAnswer> {
    const { callsPerSecond = 2, mostCalls = Number.POSITIVE_INFINITY, numbers } = this.options
    const dial = readDial(
      ask.headers["content-type"] ?? "",
      ask.body,
      numbers.map((number) => number.slice(1))
    )
    if ("status" in dial) return errorOf(dial.status, dial.words)
    const { placedStatus, queues } = this.#traits
    const isFull = [...this.calls.values()].filter(({ state }) => state !== "ended").length >= mostCalls
    if (isFull) return errorOf(queues ? 403 : 429, "concurrent call limit reached")
    if (!queues && !this.#isInTime()) return errorOf(429, `more than ${callsPerSecond} calls per second`)
    const mustWait = this.#isHeld || this.#gap !== undefined
    const call = new DialectCall(this.#account, dial)
    this.calls.set(call.uuid, call)
    this.#queue.push(call)
    setImmediate(() => this.#dialNext())
    await call.mayReply
    return bodyOf({ message: mustWait ? "call queued" : "call fired", request_uuid: call.requestUuid }, placedStatus)
  }

  /** If calls beyond the rate are refused, the rate is counted over the last second. */
  #isInTime(): boolean {
    const now = preciseNow()
    this.#dialedAt = this.#dialedAt.filter((at) => now - at < 1000 * this.lives.pace.scale)
    const isInTime = this.#dialedAt.length < (this.options.callsPerSecond ?? 2)
    if (isInTime) this.#dialedAt.push(now)
    return isInTime
  }

  #dialNext(): void {
    if (this.#isHeld || this.#gap !== undefined) return
    const call = this.#queue.shift()
    if (call === undefined) return
    if (call.state === "ended") return this.#dialNext()
    call.dial()
    const gapMillis = this.#traits.queues ? (1000 / (this.options.callsPerSecond ?? 2)) * this.lives.pace.scale : 0
    if (gapMillis === 0) return this.#dialNext()
    const next = () => {
      this.#gap = undefined
      this.#dialNext()
    }
    this.#gap = setTimeout(next, gapMillis).unref()
  }

  #oneCall({ body, method, query }: CarrierAsk, uuid: string, verb: string | undefined): DialectAnswer {
    const call = this.calls.get(uuid)
    if (call === undefined || call.state === "ended") return errorOf(404, "call not found")
    if (verb === undefined && method === "GET") {
      const isQueued = this.#traits.isQueued(call)
      const isThere = query.get("status") === (isQueued ? "queued" : "live")
      return isThere ? bodyOf(call.liveRecord(isQueued)) : errorOf(404, "call not found")
    }
    if (verb === undefined && method === "DELETE") {
      call.hangUp()
      return { status: 204 }
    }
    if (verb === undefined && method === "POST") return redirected(call, body)
    const [, digits] = /"digits":"([0-9*#wW]+)"/.exec(body) ?? []
    if (verb !== "DTMF" || method !== "POST") return errorOf(405, "method not allowed")
    if (digits === undefined) return errorOf(400, "invalid digits")
    if (call.state !== "in-progress") return errorOf(404, "call not found")
    this.log.press(call.uuid, digits)
    return bodyOf({ message: "digits sent" }, 202)
  }
}
