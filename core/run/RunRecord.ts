/**
 * What the JSON columns of a run hold, key by key, and who writes each. Clients see the columns as they are, so the keys are the API's. No key
 * is certain to be there: runs of older engines lack some, and what comes from outside may replace what is not reserved.
 */
import type { RetryReason } from "#core/campaign/RetryPolicy.ts"
import type { CallId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { FailureClass } from "#core/outcome/Outcome.ts"

/**
 * What the agent knows from the start. `AttemptBeginning.ts` writes it with the attempt: these keys, and beside them the columns of the contact's row
 * or what the request for a single call gave, which win over all but the reserved ones. What was fetched before the call is added at its end.
 */
export interface InitialContext {
  readonly phone_number?: string
  /** The number that was dialed, always as dialed; `phone_number` can be replaced. */
  readonly called_number?: string
  /** The number shown to the callee. At the end of the call `AttemptStore.finish` adds the one that was used, unless there is one. */
  readonly caller_number?: string
  readonly direction?: "outbound"
  readonly provider?: string
  readonly telephony_configuration_id?: number
  /** The next two are written for calls of campaigns. */
  readonly campaign_id?: number
  readonly source_uuid?: string
  /** The next three are written for retries. */
  readonly is_retry?: true
  readonly retry_attempt?: number
  readonly retry_reason?: RetryReason
  /** `Calls.ts` writes the rest, for single calls that are started through the API. */
  readonly trigger_mode?: "test" | "production"
  readonly agent_identifier?: string
  readonly agent_identifier_type?: "workflow_uuid" | "trigger_path"
  readonly agent_uuid?: string
  readonly workflow_uuid?: string
  readonly from_phone_number_id?: number
  readonly api_key_id?: number
  readonly api_key_created_by?: number
}

/** Keys of `initial_context` that only the engine may write; from anywhere else they are dropped. Two are reserved without being written. */
export const reservedNames: ReadonlyArray<string> = [
  "provider",
  "runtime_configuration",
  "mps_correlation_id",
  "called_number"
] satisfies ReadonlyArray<keyof InitialContext | "runtime_configuration" | "mps_correlation_id">

/**
 * What the call has shown. A retry begins with its tags (`AttemptBeginning.ts`); the rest comes from `RunReport.ts` at the end of the call, and from
 * its conversation (`ConversationRecord.ts`). Values that the provider gathered stand beside these keys.
 */
export interface GatheredContext {
  /** How the call ended, in the API's words. */
  readonly call_disposition?: string
  /** The same; lists and reports read this one. */
  readonly mapped_call_disposition?: string
  readonly call_id?: CallId
  /** Those that the run had before are kept. */
  readonly call_tags?: ReadonlyArray<string>
  readonly hangup_cause?: HangupCause
  /** Only for calls that count as failures of the breaker; null when the failure is the engine's own. */
  readonly failure_class?: FailureClass | null
  readonly provider?: string
  /** The next three come from the voice session; the keys also from the provider. */
  readonly dtmf_digits?: string
  readonly answered_by?: "human" | "machine" | "fax" | "silence" | "unknown"
  readonly voicemail_message?: "left" | "cut" | "not_left"
  /** The rest comes from the conversation. What it found out, by name; each value also stands beside these keys. */
  readonly extracted_variables?: Readonly<Record<string, unknown>>
  /** The names of the nodes, in the order in which they were entered. */
  readonly nodes_visited?: ReadonlyArray<string>
  /** When the callee is to be called back: ISO 8601 in the callee's zone, with its offset. */
  readonly callback_at?: string
  /** That zone, by its IANA name. */
  readonly callback_time_zone?: string
}

/** Tokens of a language model, in the API's words. */
export interface TokenUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
}

/** Written by `RunReport.ts` at the end of the call, and by its conversation. */
export interface UsageInfo {
  /** From the answer to the end; 0 for a call that was not answered. */
  readonly call_duration_seconds?: number
  /** The next three by service and model, as `{service}#{n}|||{model}`: tokens, characters, seconds. */
  readonly llm?: Readonly<Record<string, TokenUsage>>
  readonly tts?: Readonly<Record<string, number>>
  readonly stt?: Readonly<Record<string, number>>
}

/** Read where it is there; nothing in this engine writes it yet. */
export interface CostInfo {
  readonly total_cost_usd?: number
  /** Hundredths of a US dollar. */
  readonly dograh_token_usage?: number
}

/** An event of the conversation, as the API shows it. */
export interface FeedbackEvent {
  readonly type:
    | "rtf-user-transcription"
    | "rtf-bot-text"
    | "rtf-node-transition"
    | "rtf-function-call-start"
    | "rtf-function-call-end"
    | "rtf-ttfb-metric"
    | "rtf-latency-measured"
    | "rtf-pipeline-error"
  readonly payload: Readonly<Record<string, unknown>>
  readonly timestamp: string
  /** How many times the callee had spoken by then. */
  readonly turn: number
  /** The node that the conversation was in. */
  readonly node_id?: string
  readonly node_name?: string
}

interface StatusCallback {
  readonly call_id: CallId
  /** From the answer to the end, in seconds. */
  readonly duration: number
  readonly endpoint?: string
  readonly hangup_cause: HangupCause
  readonly status: string
  readonly timestamp: string
}

/** Written by `RunReport.ts` at the end of the call. */
export interface RunLogs {
  /** Emptied when the run's transcript is deleted (`core/file/RetentionStore.ts`). */
  readonly realtime_feedback_events?: ReadonlyArray<FeedbackEvent>
  readonly telephony_status_callbacks?: ReadonlyArray<StatusCallback>
}

/** What happened to a call after its attempt was over; times in ISO 8601. The first time of each is kept. */
export type LateLife = Readonly<Partial<Record<"appeared_at" | "rang_at" | "answered_at" | "ended_at" | "hangup_cause", string>>>

/** How long callees waited in a conversation, in seconds. */
export interface LatencySummary {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly max: number
}

export interface Annotations {
  /** Written at the end of a conversation. The latencies are by stage, as in `ConversationRecord.ts`. */
  readonly conversation?: { readonly turns: number; readonly latency_seconds: Readonly<Record<string, LatencySummary>> }
  /** Written by `LateCallStore.ts`. */
  readonly late_call?: LateLife
}

/** The columns of `runs` that hold JSON. */
export interface RunRecord {
  readonly initial_context: InitialContext
  readonly gathered_context: GatheredContext
  readonly usage_info: UsageInfo
  readonly cost_info: CostInfo
  readonly logs: RunLogs
  readonly annotations: Annotations
}
