/**
 * One dial of one number, as the dial protocol writes it down:
 *
 *     intent --permit still good--> sent --answered--> answered
 *        |                            '--- ended ---------'--> ended
 *        '-------- certainly never placed --> void
 *
 * A single call begins in `intent`, and becomes `sent` just before its request leaves. An attempt of a campaign is `sent` from the statement
 * that claims its contact. So a row in `intent` was certainly not dialed, a row in `sent` may have been, and no row is ever dialed twice.
 */
import type { AgentDefinitionId, AgentId, CallId, CampaignId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { RetryConfig, RetryReason } from "#core/campaign/RetryPolicy.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import type { GatheredContext, RunLogs, UsageInfo } from "#core/run/RunRecord.ts"

/** What of its contact and campaign an attempt has to know until it ends. */
export interface CampaignPart {
  readonly campaignId: CampaignId
  readonly rowNo: number
  readonly retriesUsed: number
  readonly settingsVersion: number
  readonly retry: RetryConfig
  readonly breakerEnabled: boolean
  /** The stretch of running, from a start to the stop that follows, in which it is dialed. */
  readonly breakerEpoch: number
}

export interface Attempt {
  readonly callId: CallId
  readonly organizationId: OrganizationId
  readonly runId: RunId
  readonly telephonyConfigurationId: TelephonyConfigId
  /** Undefined for a single call. */
  readonly campaign: CampaignPart | undefined
}

/** What the agent says is made of these. */
export interface AgentPart {
  readonly agentDefinitionId: AgentDefinitionId
  readonly initialContext: Readonly<Record<string, unknown>>
}

/** An attempt that has just been written, with what its call needs. */
export interface NewAttempt extends Attempt, AgentPart {
  readonly phoneNumber: string
  readonly agentId: AgentId
}

/** An attempt that was live when its node's process ended. */
export interface LeftAttempt extends Attempt, AgentPart {
  /** The name of that node. */
  readonly node: string
  /** The local journal of that process; undefined for one that kept none. */
  readonly journal: string | undefined
  /** The number that the callee is shown; undefined when there is none. */
  readonly callerNumber: string | undefined
  /** Where its request went; undefined when nobody knows. */
  readonly endpoint: string | undefined
  readonly state: "intent" | "sent" | "answered"
  /** Epoch milliseconds. */
  readonly sentAt: number
  readonly answeredAt: number | undefined
}

/** What the run of an ended attempt shows besides its outcome. */
interface EndedRun {
  /** Values that the provider gathered stand beside the engine's own. */
  readonly gatheredContext: GatheredContext & Readonly<Record<string, unknown>>
  readonly usageInfo: UsageInfo
  readonly logs: RunLogs
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
}

export interface AttemptEnd {
  readonly outcome: Outcome
  readonly cause: HangupCause
  /** The trunk cut it, and the provider itself says that it has ended: it cannot be up any more. */
  readonly cutByTrunk?: boolean | undefined
  /** A machine answered, and the agent's message was left on it. */
  readonly messageLeft?: boolean | undefined
  /** The number that the callee was shown, for the run's context; undefined when there was none, or nobody knows any more. */
  readonly callerNumber?: string | undefined
  /** What was fetched for the call; the run's context has it from now on. */
  readonly fetchedContext?: Readonly<Record<string, unknown>> | undefined
  /** The provider's endpoint that it left through, where somebody knows. */
  readonly endpoint?: string | undefined
  /** Epoch milliseconds. */
  readonly answeredAt: number | undefined
  readonly endedAt: number
  readonly record: EndedRun
}

/** What became of the contact by the end of its attempt. */
export type ContactFate =
  | { readonly state: "completed" | "failed" }
  | { readonly state: "retry_wait"; readonly dueAt: number; readonly reason: RetryReason }
