/**
 * The calls this node has placed, and what Asterisk's events mean for them. An id is registered before its request is sent, because events can
 * overtake the reply. `StasisStart` is the answer, although the channel is `Up` a moment earlier: only then can it be bridged. A call that runs
 * through the dialplan first (`AriDialplan`) has two of them: one for the answer, and one when the dialplan hands it over to us.
 * `ChannelDestroyed` is the only end; if it falls into a gap of the connection, `absent` ends the call. Events of a channel that is not followed
 * here, but whose id has the form of a call's, are passed on unchanged: the engine knows whose call it is.
 */
import { Schema } from "effect"
import { fromQ850, type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import { CallId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { Listed } from "./AriListing.ts"
import { amdVariables, type Dialplan, foundIn, placeIn, plain } from "./DialplanPlace.ts"
import type { ChannelEvent } from "./AriEvents.ts"

export interface Call {
  /** Its events may have been missed, and with them its answer. */
  gap: boolean
  /** When the call was added. All times here are steady. */
  readonly requestedAt: number
  /** When the first byte of the request was written; undefined until then, and for a call of an earlier process. */
  leftAt: number | undefined
  readonly timeoutMillis: number
  /** `accepted`: Asterisk certainly had the channel. `refused`: it certainly never did. */
  request: "pending" | "lost" | "accepted" | "refused"
  rang: boolean
  answered: boolean
  /** `inside`: answered, and in the dialplan or on its way there. `over`: the dialplan has handed it over to us. */
  dialplan: "none" | "inside" | "over"
  /** It has been sent into the dialplan, or is being sent. Sending it again would take it away from whoever has it by then. */
  isSentOn: boolean
  /** AMD() in the dialplan has detected a machine. */
  isMachine: boolean
  /** The cause of our own hangup, once we have requested one. */
  asked: HangupCause | undefined
  /** The reason that the far end gave. */
  network: { readonly cause: number; readonly sipStatus: number | undefined } | undefined
  /** The hangup was requested inside Asterisk. */
  soft: boolean
  stopping: boolean
  /** Asterisk has been restarted since the call was placed; no call survives that. */
  outlived: boolean
}

/** A flag of `ChannelHangupRequest`: Asterisk itself is shutting down. */
const SOFT_HANGUP_SHUTDOWN = 4
/** Asterisk's ring timeout may start slightly earlier or later than ours. */
const TIMEOUT_SLACK_MILLIS = 1_000
const NORMAL_CLEARING = 16
/** The value of `AMDSTATUS` for a machine. */
const MACHINE = "MACHINE"
const NO_ANSWER = 19
/** How many ended calls are remembered, so that repeated and late events are recognized. */
const MAX_ENDED = 1_000

export const isCallId = Schema.is(CallId)

interface ThroughDialplan {
  /** Whether calls that are placed now run through the dialplan first. */
  readonly isUsed: boolean
  /** Sends an answered call into the dialplan. */
  readonly enter: (callId: CallId, place: Dialplan) => void
}

export class AriCalls {
  readonly #calls = new Map<string, Call>()
  /** Calls whose `ChannelDestroyed` has arrived, newest last. */
  readonly #ended = new Map<string, Call>()
  readonly #emit: (callId: string, event: TrunkEvent) => void
  readonly #now: () => number
  readonly #dialplan: ThroughDialplan | undefined
  #gaps = 0

  constructor(emit: (callId: string, event: TrunkEvent) => void, now: () => number, dialplan?: ThroughDialplan) {
    this.#dialplan = dialplan
    this.#emit = emit
    this.#now = now
  }

  get size(): number {
    return this.#calls.size
  }

  /** How many gaps there have been in the events. */
  get gaps(): number {
    return this.#gaps
  }

  get(callId: string): Call | undefined {
    return this.#calls.get(callId)
  }

  /** `pending`: its request follows. `lost`: an earlier process or trunk has sent it, and its events since then were missed. */
  add(callId: string, timeoutSeconds: number, request: "pending" | "lost"): Call {
    const call: Call = {
      gap: request === "lost",
      requestedAt: this.#now(),
      timeoutMillis: timeoutSeconds * 1000,
      request,
      leftAt: undefined,
      rang: false,
      answered: false,
      dialplan: "none",
      isSentOn: false,
      isMachine: false,
      asked: undefined,
      network: undefined,
      soft: false,
      stopping: false,
      outlived: false
    }
    this.#calls.set(callId, call)
    return call
  }

  /** Forgets a call about which nothing more is expected. */
  forget(callId: string): void {
    this.#calls.delete(callId)
  }

  handle(event: ChannelEvent): void {
    const call = this.#calls.get(event.id)
    if (call === undefined) return this.#handleUnfollowed(event)
    call.request = "accepted"
    switch (event.type) {
      case "Dial":
        // A far end that plays its own ringing, as early media, sends PROGRESS and never RINGING.
        if (event.status === "RINGING" || event.status === "PROGRESS") this.#rang(event.id, call)
        return
      case "StasisStart":
        return this.#enteredStasis(event.id, call, event.args, event.at)
      case "ChannelVarset":
        return this.#recordAmd(event.id, call, event.variable, event.value)
      case "ChannelHangupRequest":
        if (!event.soft) call.network = { cause: event.cause, sipStatus: event.sipStatus }
        else if ((event.cause & SOFT_HANGUP_SHUTDOWN) !== 0) call.stopping = true
        call.soft = event.soft
        return
      case "ChannelDtmfReceived":
        // Digits in a menu of the dialplan are not meant for us.
        return call.dialplan === "inside" ? undefined : this.#emit(event.id, { _tag: "Dtmf", digit: event.digit })
      case "ChannelDestroyed":
        return this.#destroyed(event.id, call, event)
    }
  }

  /** The call has ended, or is not followed here: it was forgotten while in doubt, or another process placed it. */
  #handleUnfollowed(event: ChannelEvent): void {
    const ended = this.#ended.get(event.id)
    if (ended !== undefined) {
      if (event.type === "StasisStart") this.#answered(event.id, ended, event.at)
    } else if (isCallId(event.id)) {
      this.#emit(event.id, signOf(event))
    }
  }

  /** A list or a lookup shows the channel. `afterGap`: its events may have been missed. */
  present(callId: string, channel: Listed, afterGap: boolean): void {
    const call = this.#calls.get(callId)
    if (call === undefined) {
      if (isCallId(callId) && !this.#ended.has(callId)) this.#emit(callId, { _tag: tagOf(channel) })
      return
    }
    call.request = "accepted"
    // Without a gap, the events report everything, in order.
    if (!afterGap) return
    if (channel.state === "Ringing") this.#rang(callId, call)
    else if (channel.state === "Up") this.#up(callId, call, channel)
  }

  #up(callId: string, call: Call, { args, inStasis }: Listed): void {
    if (args !== undefined) return this.#enteredStasis(callId, call, args)
    if (call.dialplan === "inside" || this.#dialplan?.isUsed === true) return this.#inside(callId, call)
    // Unless it is in Stasis, its StasisStart is still to come.
    if (inStasis !== false) this.#answered(callId, call)
  }

  /** The calls that Asterisk has, as far as we know. Any of them that a list requested later does not show has ended. */
  accepted(): ReadonlyArray<string> {
    const accepted: Array<string> = []
    for (const [callId, call] of this.#calls) if (call.request === "accepted") accepted.push(callId)
    return accepted
  }

  /** The events were interrupted for a while. */
  noteGap(): void {
    this.#gaps++
    for (const call of this.#calls.values()) call.gap = true
  }

  /** A list that was requested after gap number `gaps` shows this channel: from now on all its events arrive. */
  closeGap(callId: string, { state }: Listed, gaps: number): void {
    const call = this.#calls.get(callId)
    // A call that is up may have been answered during the gap, in which case Asterisk is dropping it at this moment.
    if (call !== undefined && gaps === this.#gaps && state !== "Up") call.gap = false
  }

  /** Asterisk has been restarted: none of these calls exists any more. */
  outlive(): void {
    for (const call of this.#calls.values()) call.outlived = true
  }

  /** The call is not in the list and its end was missed: it ends now, with a cause inferred from what is known. */
  absent(callId: string): void {
    const call = this.#calls.get(callId)
    if (call === undefined || call.request !== "accepted") return
    this.#calls.delete(callId)
    this.#emit(callId, { _tag: "HungUp", cause: this.#causeOfMissing(call) })
  }

  #causeOfMissing(call: Call): HangupCause {
    if (call.network !== undefined) return this.#causeOf(call, call.network.cause, call.network.sipStatus)
    if (call.asked !== undefined) return call.asked
    if (this.#isLeftWithMachine(call) && !call.outlived && !call.stopping) return "machine_detected"
    // The same Asterisk had this conversation and no longer does: somebody hung up. Whether a ringing call was answered, nobody knows.
    return call.answered && !call.outlived && !call.stopping ? "normal_clearing" : "trunk_lost"
  }

  #rang(callId: string, call: Call): void {
    if (call.rang || call.answered) return
    call.rang = true
    this.#emit(callId, { _tag: "Rang" })
  }

  #answered(callId: string, call: Call, at?: number): void {
    if (call.answered) return
    call.answered = true
    this.#emit(callId, { _tag: "Answered", ...(at === undefined ? {} : { at }) })
  }

  #enteredStasis(callId: string, call: Call, args: ReadonlyArray<string> = [], at?: number): void {
    const place = placeIn(args)
    if (place !== undefined && this.#dialplan !== undefined && isCallId(callId)) {
      this.#inside(callId, call, at)
      if (call.isSentOn) return
      call.isSentOn = true
      return this.#dialplan.enter(callId, place)
    }
    const found = foundIn(args)
    // For a call that another session sent there, only these arguments show that it is back.
    const isBack = call.dialplan === "inside" || (call.dialplan === "none" && Object.keys(found).length > 0)
    if (isBack) this.#backFromDialplan(callId, call, found, at)
    else this.#answered(callId, call, at)
  }

  #inside(callId: string, call: Call, at?: number): void {
    if (call.dialplan !== "none") return
    call.dialplan = "inside"
    call.answered = true
    this.#emit(callId, { _tag: "VariablesSet", values: { dialplan: "entered" } })
    this.#emit(callId, { _tag: "Answered", isElsewhere: true, ...(at === undefined ? {} : { at }) })
  }

  #recordAmd(callId: string, call: Call, variable: string, value: string): void {
    if (call.dialplan !== "inside" || !amdVariables.has(variable)) return
    if (variable === "AMDSTATUS") call.isMachine = value === MACHINE
    this.#emit(callId, { _tag: "VariablesSet", values: { [variable]: plain(value) } })
  }

  /** Takes over a call from the dialplan. From now on the agent decides what to do about a machine. */
  #backFromDialplan(callId: string, call: Call, found: Readonly<Record<string, string>>, at?: number): void {
    call.dialplan = "over"
    call.answered = true
    call.isMachine = (found["AMDSTATUS"] ?? (call.isMachine ? MACHINE : "")) === MACHINE
    this.#emit(callId, { _tag: "VariablesSet", values: { ...found, dialplan: "handed_over" } })
    if (call.isMachine) this.#emit(callId, { _tag: "Detected", who: "machine" })
    this.#emit(callId, { _tag: "Answered", ...(at === undefined ? {} : { at }) })
  }

  /** The dialplan has detected a machine and kept the call. */
  #isLeftWithMachine({ dialplan, isMachine }: Call): boolean {
    return dialplan === "inside" && isMachine
  }

  #destroyed(callId: string, call: Call, { at, cause, sipStatus }: ChannelEvent & { readonly type: "ChannelDestroyed" }): void {
    this.#calls.delete(callId)
    this.#ended.set(callId, call)
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest)
    this.#emit(callId, { _tag: "HungUp", cause: this.#causeOf(call, cause, sipStatus), ...(at === undefined ? {} : { at }) })
  }

  #causeOf(call: Call, cause: number, sipStatus: number | undefined): HangupCause {
    if (call.asked !== undefined && call.network === undefined) return call.asked
    if (cause === 0 && call.stopping) return "trunk_lost"
    if (this.#isLeftWithMachine(call)) return "machine_detected"
    // Most phones hang up without a reason, which arrives as 0.
    if (call.answered) return fromQ850(cause === 0 ? NORMAL_CLEARING : cause)
    if (this.#timedOut(call, cause)) return "ring_timeout"
    const told = fromQ850(cause, sipStatus)
    // A callee who answers while the events are interrupted is dropped at once, with the same cause.
    return call.gap && mayHideAnswer(told) ? "trunk_lost" : told
  }

  /**
   * At our own ring timeout, Asterisk ends a call without a hangup request, with cause 19 and SIP status 480 as if the far end had sent them;
   * versions before 20.18 and 22.8 with cause 0.
   */
  #timedOut(call: Call, cause: number): boolean {
    if (call.network !== undefined || call.soft) return false
    return cause === NO_ANSWER || (cause === 0 && this.#now() - call.requestedAt >= call.timeoutMillis - TIMEOUT_SLACK_MILLIS)
  }
}

const tagOf = ({ inStasis, state }: Listed) => {
  if (state === "Up") return inStasis === false ? "Rang" : "Answered"
  return state === "Ringing" ? "Rang" : "Placed"
}

/** What an event means if nothing is known about its call. */
const signOf = (event: ChannelEvent): TrunkEvent => {
  const at = "at" in event && event.at !== undefined ? { at: event.at } : {}
  switch (event.type) {
    case "Dial":
      return { _tag: event.status === "RINGING" || event.status === "PROGRESS" ? "Rang" : "Placed" }
    case "StasisStart":
      return { _tag: "Answered", ...at }
    case "ChannelHangupRequest":
    case "ChannelVarset":
      return { _tag: "Placed" }
    case "ChannelDtmfReceived":
      return { _tag: "Dtmf", digit: event.digit }
    case "ChannelDestroyed":
      return { _tag: "HungUp", cause: fromQ850(event.cause, event.sipStatus), ...at }
  }
}
