/**
 * The calls this node has placed, and what Asterisk's events mean for them. An id is registered before its request, because events
 * overtake the reply. `StasisStart` is the answer, although the channel is `Up` a moment earlier: only from then on can it be bridged.
 * `ChannelDestroyed` is the only end; a call whose end fell into a gap of the connection is found missing by `absent`.
 */
import { fromQ850, type HangupCause } from "#core/call/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import type { ChannelEvent } from "./AriEvents.ts"

export interface Call {
  /** Of the connection under which the request was sent; undefined when no connection knows all its events. */
  readonly connection: number | undefined
  readonly requestedAt: number
  readonly timeoutMillis: number
  /** `accepted`: Asterisk certainly had the channel. `refused`: it certainly never had. */
  request: "pending" | "lost" | "cut" | "accepted" | "refused"
  /** When the connection of a `cut` request broke. */
  cutAt: number
  rang: boolean
  answered: boolean
  /** Why we hang up, once we do. */
  asked: HangupCause | undefined
  /** From the far end's side. */
  network: { readonly cause: number; readonly sipStatus: number | undefined } | undefined
  /** Someone inside of Asterisk asked for the end. */
  soft: boolean
  stopping: boolean
}

/** In `ChannelHangupRequest`: Asterisk itself is being stopped. */
const SOFT_HANGUP_SHUTDOWN = 4
/** Asterisk counts its time-out from a little later than we do, or a little earlier. */
const TIMEOUT_SLACK_MILLIS = 1_000
const NORMAL_CLEARING = 16
const NO_ANSWER = 19

export class AriCalls {
  readonly #calls = new Map<string, Call>()
  readonly #emit: (callId: string, event: TrunkEvent) => void
  readonly #now: () => number

  constructor(emit: (callId: string, event: TrunkEvent) => void, now: () => number) {
    this.#emit = emit
    this.#now = now
  }

  get size(): number {
    return this.#calls.size
  }

  get(callId: string): Call | undefined {
    return this.#calls.get(callId)
  }

  add(callId: string, timeoutSeconds: number, connection: number | undefined, request: Call["request"]): Call {
    const call: Call = {
      connection,
      requestedAt: this.#now(),
      timeoutMillis: timeoutSeconds * 1000,
      request,
      cutAt: 0,
      rang: false,
      answered: false,
      asked: undefined,
      network: undefined,
      soft: false,
      stopping: false
    }
    this.#calls.set(callId, call)
    return call
  }

  /** Forgets a call of which nothing more can come. */
  forget(callId: string): void {
    this.#calls.delete(callId)
  }

  handle(event: ChannelEvent): void {
    const call = this.#calls.get(event.id)
    if (call === undefined) return
    call.request = "accepted"
    switch (event.type) {
      case "Dial":
        // A far end that plays its own ringing, as early media, sends PROGRESS and never RINGING.
        if (event.status === "RINGING" || event.status === "PROGRESS") this.#rang(event.id, call)
        return
      case "StasisStart":
        return this.#answered(event.id, call)
      case "ChannelHangupRequest":
        if (!event.soft) call.network = { cause: event.cause, sipStatus: event.sipStatus }
        else if ((event.cause & SOFT_HANGUP_SHUTDOWN) !== 0) call.stopping = true
        call.soft = event.soft
        return
      case "ChannelDtmfReceived":
        return this.#emit(event.id, { _tag: "Dtmf", digit: event.digit })
      case "ChannelDestroyed":
        return this.#ended(event.id, this.#causeOf(call, event.cause, event.sipStatus))
    }
  }

  /** Seen in Asterisk's list of channels, in this state. */
  present(callId: string, state: string): void {
    const call = this.#calls.get(callId)
    if (call === undefined) return
    call.request = "accepted"
    if (state === "Up") this.#answered(callId, call)
    else if (state === "Ringing") this.#rang(callId, call)
  }

  /** Those which Asterisk had and which are not in its list any more. */
  missing(present: ReadonlyMap<string, string>): ReadonlyArray<string> {
    const missing: Array<string> = []
    for (const [callId, call] of this.#calls) if (call.request === "accepted" && !present.has(callId)) missing.push(callId)
    return missing
  }

  /** Not in the list, and its end was not heard: it is over, for the reason that we know of. */
  absent(callId: string): void {
    const call = this.#calls.get(callId)
    if (call === undefined || call.request !== "accepted") return
    const { asked = "trunk_lost", network } = call
    this.#ended(callId, network === undefined ? asked : this.#causeOf(call, network.cause, network.sipStatus))
  }

  #rang(callId: string, call: Call): void {
    if (call.rang || call.answered) return
    call.rang = true
    this.#emit(callId, { _tag: "Rang" })
  }

  #answered(callId: string, call: Call): void {
    if (call.answered) return
    call.answered = true
    this.#emit(callId, { _tag: "Answered" })
  }

  #ended(callId: string, cause: HangupCause): void {
    this.#calls.delete(callId)
    this.#emit(callId, { _tag: "HungUp", cause })
  }

  #causeOf(call: Call, cause: number, sipStatus: number | undefined): HangupCause {
    if (call.asked !== undefined && call.network === undefined) return call.asked
    if (cause === 0 && call.stopping) return "trunk_lost"
    // Most telephones say goodbye without a reason, which arrives as 0.
    if (call.answered) return fromQ850(cause === 0 ? NORMAL_CLEARING : cause)
    if (this.#timedOut(call, cause)) return "ring_timeout"
    return fromQ850(cause, sipStatus)
  }

  /**
   * Asterisk ends a call at our own time-out without a hang-up request, with cause 19 and SIP status 480 as if somebody had sent it;
   * versions before 20.18 and 22.8 with cause 0.
   */
  #timedOut(call: Call, cause: number): boolean {
    if (call.network !== undefined || call.soft) return false
    return cause === NO_ANSWER || (cause === 0 && this.#now() - call.requestedAt >= call.timeoutMillis - TIMEOUT_SLACK_MILLIS)
  }
}
