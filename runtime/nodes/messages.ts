/**
 * What the engine with the lock, the *dispatcher*, and a call node say to each other: JSON over a websocket that the dispatcher opens. A message
 * that is lost costs time, never a call: everything that matters is in the database as well, and a call node sends no request without having been
 * allowed to.
 */
import type { AttemptEnd, NewAttempt } from "#core/call/Attempt.ts"
import type { Over } from "#core/call/Call.ts"
import type { CallId, CampaignId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import type { Recorded } from "#runtime/call/Recorded.ts"
import type { Undone } from "#runtime/journal/FormerJournals.ts"

/** Changes with every change of these messages: both sides must have the same. */
export const PROTOCOL = 8

/**
 * How long a call node may use a permission to send a request, counted from when it asked. A stop is confirmed, and the lock given up, only
 * after the last permission has been used or has lapsed; so this is also how long either may take.
 */
export const GRANT_MILLIS = 250
/** When a call asks again that met a full second. */
export const FULL_AGAIN_MILLIS = 5
/** When a call asks again that met a dispatcher whose proof is about to lapse, unless it is renewed. */
export const PROVEN_AGAIN_MILLIS = 50
/** An answer takes about this long to arrive. */
export const ON_THE_WAY_MILLIS = 1

/** A link on which nothing has been heard for this long is closed. Both sides say something every `PING_MILLIS`. */
export const SILENT_MILLIS = 2500
export const PING_MILLIS = 500

/** The answer to a call that asks whether it may leave. `again`: ask again in so many milliseconds. */
export type Answer = "go" | "no" | { readonly again: number }

/** Said by the dispatcher. */
export type ToNode =
  /** `proof`: of the challenge, see `handshake.ts`. `nonce`: the challenge to the call node. */
  | { readonly _tag: "Hello"; readonly proof: string; readonly nonce: string; readonly protocol: number; readonly schemaVersion: number }
  /** The call has its slot and its attempt, which names the node's journal. `from`: the number that it shows. `marked`: the attempt is `sent`. */
  | { readonly _tag: "Place"; readonly attempt: NewAttempt; readonly from?: string | undefined; readonly marked: boolean }
  | { readonly _tag: "Answered"; readonly callId: CallId; readonly answer: Answer }
  | { readonly _tag: "TransferAnswered"; readonly callId: CallId; readonly answer: Answer }
  /** A carrier has said this about a call, at an address that does not name the call. */
  | { readonly _tag: "Heard"; readonly callId: CallId; readonly configurationId: TelephonyConfigId; readonly event: TrunkEvent }
  | { readonly _tag: "TrunkChanged"; readonly id: TelephonyConfigId; readonly changed: "configuration" | "numbers" }
  /** The organization has chosen other services for its agents. */
  | { readonly _tag: "ModelsChanged"; readonly organizationId: OrganizationId }
  /** Somebody watches the run, or nobody does any more. */
  | { readonly _tag: "Watch"; readonly organizationId: OrganizationId; readonly runId: RunId; readonly isWatched: boolean }
  | { readonly _tag: "Ping" }

/** Said by a call node. */
export type FromNode =
  | { readonly _tag: "Challenge"; readonly nonce: string }
  /**
   * The calls that it has or had a moment ago, of earlier dispatchers or from before the link broke. Said at the beginning: any others never
   * reached it. `proof`: of the challenge in `Hello`.
   */
  | { readonly _tag: "Has"; readonly proof: string; readonly callIds: ReadonlyArray<CallId> }
  /** How many calls with audio it may have at once; null: no limit. Said after that, and repeated as a sign of life. */
  | { readonly _tag: "Room"; readonly calls: number | null }
  /** May the call's request leave? */
  | { readonly _tag: "Ask"; readonly callId: CallId }
  /** The call's request is being sent. */
  | { readonly _tag: "Left"; readonly callId: CallId }
  /** May the request to transfer its callee leave? */
  | { readonly _tag: "AskTransfer"; readonly callId: CallId; readonly configurationId: TelephonyConfigId }
  /** It is being sent. */
  | { readonly _tag: "TransferLeft"; readonly callId: CallId }
  /** The provider has accepted the call, or it is unknown whether it has. */
  | { readonly _tag: "Placed"; readonly callId: CallId }
  /** The call was not started: its trunk is down there. It has not asked to leave, and will not. */
  | { readonly _tag: "NotStarted"; readonly callId: CallId }
  /** The call is over, but its end is not recorded yet. `refusal`: why the provider refuses the call, in its own words. */
  | { readonly _tag: "Over"; readonly callId: CallId; readonly how: Over; readonly refusal?: string | undefined }
  | { readonly _tag: "LineFree"; readonly callId: CallId; readonly how: Over }
  | { readonly _tag: "GreetingMissed"; readonly callId: CallId }
  /** `end`, `undone`: what was recorded, in case the database fails over and loses it. */
  | {
      readonly _tag: "Recorded"
      readonly callId: CallId
      readonly how: Over
      readonly recorded: Recorded
      readonly end?: AttemptEnd | undefined
      readonly undone?: Undone | undefined
    }
  /** Nothing more will be recorded about the call. */
  | { readonly _tag: "Gone"; readonly callId: CallId }
  /** A number has become free that contacts of these campaigns wait for. */
  | { readonly _tag: "NumberFreed"; readonly campaignIds: ReadonlyArray<CampaignId> }
  /** The provider has said this about a call that an earlier process of this engine sent. Nobody else hears it. */
  | { readonly _tag: "HeardOfFormer"; readonly callId: CallId; readonly configurationId: TelephonyConfigId; readonly event: TrunkEvent }
  /** An earlier process of this engine was to send the call, and its journal proves that the request never left. */
  | { readonly _tag: "NeverLeft"; readonly callId: CallId }
  /** What happens in a conversation, if somebody watches it. */
  | { readonly _tag: "Feedback"; readonly organizationId: OrganizationId; readonly runId: RunId; readonly event: FeedbackEvent }
  /** Callees must not be called again. */
  | { readonly _tag: "OptedOut"; readonly organizationId: OrganizationId; readonly phoneNumbers: ReadonlyArray<string> }

/** Nobody waits for these: whatever depends on them is in the database as well, or has been said before. */
const unhurried: ReadonlySet<FromNode["_tag"]> = new Set(["Gone", "GreetingMissed", "Placed", "Recorded"])

export const isUnhurried = ({ _tag }: FromNode): boolean => unhurried.has(_tag)
