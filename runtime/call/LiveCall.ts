/** A live call of this node, as its actor keeps it. There may be a hundred thousand of them, so it has fields and no closures. */
import { type Deferred, Queue } from "effect"
import type { Attempt } from "#core/call/Attempt.ts"
import type { CallEvent, CallLimits, Over } from "#core/call/Call.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { detected } from "#core/provider/TrunkEvent.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Departure } from "#runtime/dispatch/CallRate.ts"
import type { Deadline } from "#runtime/dispatch/Deadlines.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import type { VoicePlan, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import type { Recorded } from "./Recorded.ts"
import type { Fetching } from "./Fetching.ts"

/** Permission to dial, asked again at the last moment. The calls of a campaign share one. */
export interface Permit {
  /** False: the window has closed, the campaign has stopped, or the engine is stopping. */
  readonly holds: () => boolean
}

/** What a call needs until its request has left. It is taken from the call when the request leaves or is withdrawn, whichever is first. */
export interface Dialing {
  readonly phoneNumber: string
  /** What is known about the callee: the contact's columns. */
  readonly context: Readonly<Record<string, unknown>>
  /** The caller number; undefined: the trunk chooses one. */
  readonly from?: string | undefined
  /** The moment reserved for the call under its rates. */
  readonly departure: Departure
  /** The attempt has been recorded as `sent` already. */
  readonly marked: boolean
  readonly permit: Permit
  /** When the call's slot became free, if its campaign was waiting for one. */
  readonly freedAt?: SteadyMillis | undefined
  /** Called when the provider has accepted the request, or when it is unknown whether it has. */
  readonly placed?: () => void
}

export interface CallWatcher {
  /** The call is over and its slot still taken: what follows from the end is done before the line goes to another call. */
  readonly over?: (how: Over, call: LiveCall) => void
  /** The line is free and the slot released, unless the call was never seen and may still appear. */
  readonly lineFree?: (how: Over) => void
  /** The callee heard nothing of what was to be said to them. Called before the end is recorded. */
  readonly greetingMissed?: () => void
  /** The call has been recorded completely. */
  readonly recorded?: (how: Over, recorded: Recorded, attempt: Attempt) => void
  /** The call's actor has ended, and nothing more will be recorded. */
  readonly gone?: (attempt: Attempt) => void
}

export class LiveCall {
  dialing: Dialing | undefined
  /** When the request left; undefined if another process sent it. */
  sentAt: SteadyMillis | undefined
  /** When the request left, if another process sent it. */
  sentBeforeAt: SteadyMillis | undefined
  /** The callee may have answered while another process had the call. */
  get wasAdopted(): boolean {
    return this.sentBeforeAt !== undefined
  }
  /** The call has ended and its actor no longer listens; the end may not have been recorded yet. */
  isOver = false
  /** What the local journal says about the call, besides that it has left. */
  noted: "placed" | "answered" | undefined
  /** The provider has told something about the call, besides its id. */
  wasHeard = false
  deadline: Deadline | undefined
  session: VoiceSession | undefined
  /** Somebody who may be lying says that the call has ended, and that is being checked. `repeated`: it has been said again. */
  endClaim: "checked" | "repeated" | undefined
  /** A machine has answered, and that decides the outcome. */
  isMachine = false
  /** Who or what has answered, as the provider's own detection judges. */
  answeredBy: (typeof detected)[number] | undefined
  /** The provider has heard the end of a machine's greeting. */
  isGreetingOver = false
  /** The provider handles the answered call first, and this is done when the call is handed to us. Undefined: it was ours from the answer on. */
  handover: Deferred.Deferred<void> | undefined
  /** When the call became ours, so that its audio could be opened. */
  handedOverAt: SteadyMillis | undefined
  /** What the provider has found out about the call. */
  gathered: Readonly<Record<string, string>> | undefined
  /** Told once it is known whether the callee who is being transferred is with somebody else. */
  handedOver: ((isWithOther: boolean) => void) | undefined
  /** The transfer whose request may still leave. */
  transfer: number | undefined
  /** DTMF digits of the callee. */
  keys = ""
  readonly attempt: Attempt
  /** What the verbs of the trunk are told about the call. It grows: the number shown is set when the request leaves, the provider's id later. */
  ref: CallRef
  readonly trunk: LiveTrunk
  readonly limits: CallLimits
  readonly voice: VoicePlan
  readonly mailbox: Queue.Queue<CallEvent>
  /** Undefined: nothing is fetched before the call. */
  readonly fetching: Fetching | undefined
  readonly watcher: CallWatcher

  constructor(
    attempt: Attempt,
    ref: CallRef,
    trunk: LiveTrunk,
    limits: CallLimits,
    voice: VoicePlan,
    mailbox: Queue.Queue<CallEvent>,
    dialing: Dialing | undefined,
    fetching: Fetching | undefined,
    watcher: CallWatcher
  ) {
    this.attempt = attempt
    this.ref = ref
    this.trunk = trunk
    this.limits = limits
    this.voice = voice
    this.mailbox = mailbox
    this.dialing = dialing
    this.fetching = fetching
    this.watcher = watcher
  }

  /** Puts an event into the mailbox of the call's actor. False: the mailbox is full. */
  tell(event: CallEvent): boolean {
    return Queue.offerUnsafe(this.mailbox, event)
  }
}
