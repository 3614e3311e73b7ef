/** A call of this node, as its actor keeps it. There may be a hundred thousand: fields, no closures. */
import { type Deferred, Queue } from "effect"
import type { Attempt } from "#core/call/Attempt.ts"
import type { CallEvent, CallLimits, Over } from "#core/call/Call.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Departure } from "#runtime/dispatch/CallRate.ts"
import type { Deadline } from "#runtime/dispatch/Deadlines.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import type { VoicePlan, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import type { Recorded } from "./Recorded.ts"
import type { Fetching } from "./Fetching.ts"

/** Why a call may be dialed; asked again at the last moment. Shared by the calls of a campaign. */
export interface Permit {
  /** False: the window has closed, the campaign has stopped, or the engine is stopping. */
  readonly holds: () => boolean
}

/** What is needed until the request has left; whoever takes it from the call decides whether it leaves. */
export interface Dialing {
  readonly phoneNumber: string
  /** What is known of the callee: the contact's columns. */
  readonly context: Readonly<Record<string, unknown>>
  /** The number to show; undefined: the trunk's choice. */
  readonly from?: string | undefined
  /** The moment that it has under its rates. */
  readonly departure: Departure
  /** The attempt is `sent` already. */
  readonly marked: boolean
  readonly permit: Permit
  /** When the slot became free that it takes, if its campaign waited for one. */
  readonly freedAt?: SteadyMillis | undefined
  /** The provider has taken the request, or it is unknown whether it has. */
  readonly placed?: () => void
}

export interface CallWatcher {
  /** The call is over, and its slot still taken, so that whatever follows from the end is done before the line is given to another call. */
  readonly over?: (how: Over, attempt: Attempt) => void
  /** The line is free and the slot released, unless the call was never seen and may still appear. */
  readonly lineFree?: (how: Over) => void
  /** Before it is recorded: the callee heard nothing of what was to be said to him. */
  readonly greetingMissed?: () => void
  /** The call has been recorded completely. */
  readonly recorded?: (how: Over, recorded: Recorded, attempt: Attempt) => void
  /** The call's actor has ended, and nothing more will be recorded. */
  readonly gone?: (attempt: Attempt) => void
}

export class LiveCall {
  dialing: Dialing | undefined
  /** When the request left, unless another process sent it. */
  sentAt: SteadyMillis | undefined
  /** When another process sent it. */
  sentBeforeAt: SteadyMillis | undefined
  /** Whoever answered it may have done so under another process. */
  get wasAdopted(): boolean {
    return this.sentBeforeAt !== undefined
  }
  /** Its actor listens no more: it has ended, though that may not have been recorded yet. */
  isOver = false
  /** What the local journal says of it, besides that it has left. */
  noted: "placed" | "answered" | undefined
  deadline: Deadline | undefined
  session: VoiceSession | undefined
  /** Where its request went, if its trunk has several endpoints and somebody knows. */
  endpoint: string | undefined
  /** The number that the callee is shown, from the request on. */
  callerNumber: string | undefined
  /** A machine has answered, and that decides what the call came to. */
  isMachine = false
  /** Answered, and with something of the provider's own first; done when it is ours. Undefined: it has been ours from the answer. */
  handover: Deferred.Deferred<void> | undefined
  /** When its audio could be opened. */
  handedOverAt: SteadyMillis | undefined
  /** What the provider's side has found out about it. */
  gathered: Readonly<Record<string, string>> | undefined
  /** Keys that the callee has pressed. */
  keys = ""
  readonly attempt: Attempt
  readonly trunk: LiveTrunk
  readonly limits: CallLimits
  readonly voice: VoicePlan
  readonly mailbox: Queue.Queue<CallEvent>
  /** Undefined: nothing is fetched for it. */
  readonly fetching: Fetching | undefined
  readonly watcher: CallWatcher

  constructor(
    attempt: Attempt,
    trunk: LiveTrunk,
    limits: CallLimits,
    voice: VoicePlan,
    mailbox: Queue.Queue<CallEvent>,
    dialing: Dialing | undefined,
    fetching: Fetching | undefined,
    watcher: CallWatcher
  ) {
    this.attempt = attempt
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
