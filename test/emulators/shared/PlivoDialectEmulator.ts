/** A carrier of Plivo's dialect: its REST interface, and signed callbacks. */
import { randomUUID } from "node:crypto"
import { AcceptWindow } from "./AcceptWindow.ts"
import type { CarrierAnswer, CarrierAsk } from "./CarrierServer.ts"
import { DialQueue } from "./DialQueue.ts"
import { HostedEmulator, type HostedOptions } from "./HostedEmulator.ts"
import { type CallTraits, DialectCall } from "./PlivoDialectCall.ts"
import { readDial, redirectIn } from "./PlivoDialectDials.ts"

export interface DialectOptions extends HostedOptions {
  /** 2 by default; infinite for no limit. */
  readonly callsPerSecond?: number
  /** How long after its end the record of a call appears. */
  readonly recordMillis?: number
}

export interface Traits extends CallTraits {
  readonly provider: string
  readonly authToken: string
  /** The path below the account's, as Plivo would write it; or the error if there is none. */
  readonly pathOf: (ask: CarrierAsk) => string | CarrierAnswer
  readonly placedStatus: number
  /** Calls beyond the rate wait; otherwise they are refused. */
  readonly queues: boolean
  /** Whether a call that has not ended counts as queued rather than live. */
  readonly isQueued: (call: DialectCall) => boolean
  /** Resources that only this carrier has. */
  readonly answerMore: (emulator: DialectEmulator, ask: CarrierAsk, path: string) => CarrierAnswer | undefined
}

/** The limit for requests of any kind. */
const mostRequests = { requests: 300, millis: 5000 }

export const errorOf = (status: number, words: string): CarrierAnswer => ({ status, body: { api_id: randomUUID(), error: words } })
export const bodyOf = (body: object, status = 200): CarrierAnswer => ({ status, body: { api_id: randomUUID(), ...body } })

const redirected = (call: DialectCall, body: string): CarrierAnswer => {
  const url = redirectIn(body)
  if (url === undefined) return errorOf(400, "invalid aleg_url")
  if (!call.redirect(url)) return errorOf(404, "call not found")
  return bodyOf({ call_uuids: [call.uuid], message: "call transferred" }, 202)
}

export class DialectEmulator extends HostedEmulator<DialectCall> {
  readonly provider: string
  readonly account: { readonly auth_id: string; readonly auth_token: string }
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && path.endsWith("/Call/")
  /** It gives the call another document. */
  readonly transfers = ({ method, path }: CarrierAsk) => method === "POST" && /\/Call\/[^/]+\/$/.test(path)
  readonly hangsUp = ({ method }: CarrierAsk) => method === "DELETE"
  readonly options: DialectOptions
  readonly traits: Traits
  hasCredit = true
  hasUnsignedMedia = false
  readonly #queue: DialQueue
  readonly #asks = new AcceptWindow()
  readonly #dials = new AcceptWindow()

  constructor(options: DialectOptions, traits: Traits) {
    super(options, 5)
    this.options = options
    this.traits = traits
    this.provider = traits.provider
    this.account = { auth_id: traits.authId, auth_token: traits.authToken }
    this.#queue = new DialQueue(traits.queues ? (1000 / this.#callsPerSecond) * this.lives.pace.scale : 0)
  }

  get #callsPerSecond(): number {
    return this.options.callsPerSecond ?? 2
  }

  /** From now on, requests for media sockets have no signature. */
  leaveMediaUnsigned(): void {
    this.hasUnsignedMedia = true
  }

  /** Whether the account has any credit, from now on. */
  credit(hasAny: boolean): void {
    this.hasCredit = hasAny
  }

  override holdQueue(on: boolean): void {
    this.#queue.hold(on)
  }

  readonly callsTo = (number: string) => this.to(number)

  /** Whether the record of a call exists. */
  isRecorded({ endedAt = Number.POSITIVE_INFINITY }: DialectCall): boolean {
    return Date.now() >= endedAt + (this.options.recordMillis ?? 0)
  }

  protected async answer(ask: CarrierAsk): Promise<CarrierAnswer> {
    if (!this.#asks.accepts(mostRequests.requests, mostRequests.millis)) return errorOf(429, "request rate limit exceeded")
    const path = this.traits.pathOf(ask)
    if (typeof path !== "string") return path
    if (path === "/Call/") return this.#allCalls(ask)
    const [, uuid, verb] = /^\/Call\/([^/]+)\/(?:(\w+)\/)?$/.exec(path) ?? []
    const own = this.traits.answerMore(this, ask, path)
    if (own !== undefined) return own
    return uuid === undefined ? errorOf(404, "not found") : this.#oneCall(ask, uuid, verb)
  }

  #allCalls(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer> {
    const { method, query } = ask
    if (method === "POST") return this.#create(ask)
    if (method === "DELETE") {
      for (const call of this.calls.values()) call.hangUp()
      return { status: 204 }
    }
    const status = query.get("status")
    if (status === null) return this.traits.answerMore(this, ask, "/Call/") ?? errorOf(404, "not found")
    const [from, to] = [query.get("from_number"), query.get("to_number")]
    const calls = this.#inState(status).filter(
      ({ dialed }) => (to === null || dialed.to.startsWith(to)) && (from === null || dialed.from.startsWith(from))
    )
    return bodyOf({ calls: calls.map(({ uuid }) => uuid) })
  }

  #inState(status: string): ReadonlyArray<DialectCall> {
    return [...this.calls.values()].filter((call) => call.state !== "ended" && this.traits.isQueued(call) === (status === "queued"))
  }

  async #create(ask: CarrierAsk): Promise<CarrierAnswer> {
    const owned = this.numbers.map((number) => number.slice(1))
    const dial = readDial(ask.headers["content-type"] ?? "", ask.body, owned)
    if ("status" in dial) return errorOf(dial.status, dial.words)
    const { placedStatus, queues } = this.traits
    // If calls beyond the rate are refused, the rate is counted over the last second.
    if (!queues && !this.#dials.accepts(this.#callsPerSecond, 1000 * this.lives.pace.scale))
      return errorOf(429, "too many calls per second")
    const mustWait = this.#queue.mustWait()
    const call = new DialectCall(this, dial)
    this.calls.set(call.uuid, call)
    this.#queue.add(call)
    await call.placed
    return bodyOf({ message: mustWait ? "call queued" : "call fired", request_uuid: call.requestUuid }, placedStatus)
  }

  #oneCall({ body, method, query }: CarrierAsk, uuid: string, verb: string | undefined): CarrierAnswer {
    const call = this.calls.get(uuid)
    if (call === undefined || call.state === "ended") return errorOf(404, "call not found")
    if (verb === undefined && method === "GET") {
      const isQueued = this.traits.isQueued(call)
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
