/** A live call of this node, as its actor keeps it. There may be a hundred thousand, so it has fields and no closures. */
import { type Deferred, type Fiber, Queue } from "effect"
import type { AgentPart, Attempt } from "#core/call/Attempt.ts"
import type { CallEvent, CallLimits, Over } from "#core/call/Call.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { detected } from "#core/provider/TrunkEvent.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Departure } from "#runtime/dispatch/CallRate.ts"
import type { Deadline } from "#runtime/dispatch/Deadlines.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import type { VoicePlan, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import type { CallTrace } from "./CallTrace.ts"
import type { ClaimTrace } from "./ClaimTrace.ts"
import type { Recorded } from "./Recorded.ts"
import type { Fetching } from "./Fetching.ts"

/** Permission to dial, checked again at the last moment. The calls of a campaign share one. */
export interface Permit {
  /** False if the window has closed, or will have in `aheadMillis`, or the campaign has stopped, or the engine is stopping. */
  readonly holds: (aheadMillis?: number) => boolean
}

/** What a call needs until its request is sent. It is removed from the call when the request is sent or withdrawn, whichever comes first. */
export interface Dialing {
  readonly phoneNumber: string
  /** What is known about the callee: the contact's columns. */
  readonly context: Readonly<Record<string, unknown>>
  /** The caller number; undefined: the trunk chooses one. */
  readonly from?: string | undefined
  /** The dial time reserved for the call under its rates. */
  readonly departure: Departure
  /** The attempt is already recorded as `sent`. */
  readonly marked: boolean
  readonly permit: Permit
  /** When the call's slot became free, if its campaign was waiting for one. */
  readonly freedAt?: SteadyMillis | undefined
  /** The claim of its contact, if anything is traced. */
  readonly claim?: ClaimTrace | undefined
  /** Called when the provider has accepted the request, or when it is unknown whether it did. */
  readonly placed?: () => void
}

export interface CallWatcher {
  /** The call is over but still has its slot: consequences of the end are handled before the line goes to another call. */
  readonly over?: (how: Over, call: Pick<LiveCall, "attempt" | "refusal" | "trunk">) => void
  /** The line is free, and the slot is released unless the call was never seen and may still appear. */
  readonly lineFree?: (how: Over) => void
  /** The callee heard nothing of the greeting or message intended for them. Called before the end is recorded. */
  readonly greetingMissed?: () => void
  /** The call is fully recorded. */
  readonly recorded?: (how: Over, recorded: Recorded, attempt: Attempt) => void
  /** The call's actor has ended, and nothing more will be recorded. */
  readonly gone?: (attempt: Attempt) => void
}

export class LiveCall {
  dialing: Dialing | undefined
  /** When the request was sent; undefined if another process sent it. */
  sentAt: SteadyMillis | undefined
  /** When the request was sent, if another process sent it. */
  sentBeforeAt: SteadyMillis | undefined
  /** The callee may have answered while another process had the call. */
  get wasAdopted(): boolean {
    return this.sentBeforeAt !== undefined
  }
  /** The call has ended and its actor no longer listens; the end may not have been recorded yet. */
  isOver = false
  /** What the local journal says about the call, besides that it was sent. */
  noted: "placed" | "answered" | undefined
  /** The provider has reported something about the call besides its id. */
  wasHeard = false
  deadline: Deadline | undefined
  session: VoiceSession | undefined
  /** Keeps a recognizer open for the answer. */
  listening: Fiber.Fiber<unknown> | undefined
  /** An untrusted source says that the call has ended, and that is being checked. `repeated`: it has said so again. */
  endClaim: "checked" | "repeated" | undefined
  /** A machine answered; this decides the outcome. */
  isMachine = false
  /** Who or what answered, according to the provider's own detection. */
  answeredBy: (typeof detected)[number] | undefined
  /** The provider has detected the end of a machine's greeting. */
  isGreetingOver = false
  /** Done when the provider, which handles the answered call first, hands it to us. Undefined if the call was ours from the answer on. */
  handover: Deferred.Deferred<void> | undefined
  /** When the call became ours, so that its audio could be opened. */
  handedOverAt: SteadyMillis | undefined
  /** What the provider has found out about the call. */
  gathered: Readonly<Record<string, string>> | undefined
  /** Called once it is known whether the callee being transferred has been connected to the other party. */
  handedOver: ((isWithOther: boolean) => void) | undefined
  /** The transfer whose request may still be sent. */
  transfer: number | undefined
  /** Undefined if the call is not traced. */
  trace: CallTrace | undefined
  /** Why the provider refuses the call, in its own words. */
  refusal: string | undefined
  /** DTMF digits pressed by the callee. */
  keys = ""
  readonly attempt: Attempt & Pick<AgentPart, "agentDefinitionId">
  /** What the trunk's verbs are told about the call. It grows: the number shown is set when the request is sent, the provider's id later. */
  ref: CallRef
  readonly trunk: LiveTrunk
  readonly limits: CallLimits
  readonly voice: VoicePlan
  readonly mailbox: Queue.Queue<CallEvent>
  /** Undefined if nothing is fetched before the call. */
  readonly fetching: Fetching | undefined
  readonly watcher: CallWatcher

  constructor(
    attempt: LiveCall["attempt"],
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

  /** Puts an event into the mailbox of the call's actor. False if the mailbox is full. */
  tell(event: CallEvent): boolean {
    return Queue.offerUnsafe(this.mailbox, event)
  }
}
