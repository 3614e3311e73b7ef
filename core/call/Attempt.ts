/**
 * One dial of one number, as the dial protocol records it:
 *
 *     intent --permit still good--> sent --answered--> answered
 *        |                            '--- ended ---------'--> ended
 *        '-------- certainly never placed --> void
 *
 * A `sent` attempt also becomes void when it was certainly never placed. A single call begins in `intent` and becomes `sent` just before its
 * request leaves. A campaign's attempt is `sent` from the statement that claims its contact. So a row in `intent` was certainly not dialed,
 * a row in `sent` may have been, and no row is ever dialed twice.
 */
import type { AgentDefinitionId, AgentId, CallId, CampaignId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { RetryConfig, RetryReason } from "#core/campaign/RetryPolicy.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { Annotations, CostInfo, GatheredContext, RunLogs, UsageInfo } from "#core/run/RunRecord.ts"

/** What an attempt carries about its contact and campaign until it ends. */
export interface CampaignPart {
  readonly campaignId: CampaignId
  readonly rowNo: number
  readonly retriesUsed: number
  readonly settingsVersion: number
  readonly retry: RetryConfig
  readonly breakerEnabled: boolean
  /** The breaker epoch in which it is dialed. A start, a resume by a person, and a change of a running campaign's breaker each begin one. */
  readonly breakerEpoch: number
}

export interface Attempt {
  readonly callId: CallId
  readonly organizationId: OrganizationId
  readonly runId: RunId
  /** Undefined for a call from a browser, which needs no provider. */
  readonly telephonyConfigurationId: TelephonyConfigId | undefined
  /** Undefined for a single call. */
  readonly campaign: CampaignPart | undefined
}

/** Determines what the agent says: its version, and the values of its variables. */
export interface AgentPart {
  readonly agentDefinitionId: AgentDefinitionId
  readonly initialContext: Readonly<Record<string, unknown>>
}

/** An attempt that has just been written, with the data that its call needs. */
export interface NewAttempt extends Attempt, AgentPart {
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly phoneNumber: string
  readonly agentId: AgentId
}

/** A live attempt as read back from the database, usually because the process that began it is gone. */
export interface LeftAttempt extends Attempt, AgentPart {
  /** Name of the node that began it. */
  readonly node: string
  /** The local journal of the process that began it; undefined if that process kept none. */
  readonly journal: string | undefined
  readonly call: CallRef
  readonly state: "intent" | "sent" | "answered"
  /** Epoch milliseconds. */
  readonly answeredAt: number | undefined
}

/** What the run of an ended attempt shows besides its outcome. */
interface EndedRun {
  /** Contains the provider's values beside the engine's own. */
  readonly gatheredContext: GatheredContext & Readonly<Record<string, unknown>>
  readonly usageInfo: UsageInfo
  /** Undefined until the end is recorded, and if no service was used. */
  readonly costInfo?: CostInfo | undefined
  readonly logs: RunLogs
  readonly annotations?: Annotations | undefined
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
}

export interface AttemptEnd {
  readonly outcome: Outcome
  readonly cause: HangupCause
  /** The trunk cut the call, and the provider confirmed that it ended, so it can no longer be up. */
  readonly cutByTrunk?: boolean | undefined
  /** A machine answered, and the agent left its message. */
  readonly messageLeft?: boolean | undefined
  /** The number shown to the callee, for the run's context; undefined when there was none or it is no longer known. */
  readonly callerNumber?: string | undefined
  /** What the pre-call fetch returned. Recording the end adds it to the run's context. */
  readonly fetchedContext?: Readonly<Record<string, unknown>> | undefined
  /** The provider's endpoint that the request went to, if known. */
  readonly endpoint?: string | undefined
  /** The provider's own id of the call, if it said one. */
  readonly providerCallId?: string | undefined
  /** Epoch milliseconds. */
  readonly answeredAt: number | undefined
  readonly endedAt: number
  readonly record: EndedRun
}

/** The contact's state after its attempt has ended. */
export type ContactFate =
  | { readonly state: "completed" | "failed" }
  | { readonly state: "retry_wait"; readonly dueAt: number; readonly reason: RetryReason }
