/**
 * The contents of a run's JSON columns, key by key, and who writes each. Clients see the columns as they are, so the keys are those of the API.
 * Every key may be missing: runs of older engines lack some, and values from outside may replace all that are not reserved.
 */
import type { RetryReason } from "#core/campaign/RetryPolicy.ts"
import type { CallId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { FailureClass } from "#core/outcome/Outcome.ts"

/**
 * What the agent knows from the start. `AttemptBeginning.ts` writes it together with the attempt: these keys, merged with the columns of the
 * contact's row, or with the variables of the request for a single call, which override all but the reserved keys. The values of the pre-call
 * fetch are added when the call ends.
 */
export interface InitialContext {
  readonly phone_number?: string
  /** The number as it was dialed. Unlike `phone_number`, it cannot be overridden. */
  readonly called_number?: string
  /** The number shown to the callee. `AttemptStore.finish` fills it in if it is missing. */
  readonly caller_number?: string
  /** `inbound`: from a browser. */
  readonly direction?: "inbound" | "outbound"
  readonly provider?: string
  readonly telephony_configuration_id?: number
  /** These two are written for calls of campaigns. */
  readonly campaign_id?: number
  readonly source_uuid?: string
  /** These three are written for retries. */
  readonly is_retry?: true
  readonly retry_attempt?: number
  readonly retry_reason?: RetryReason
  /** `Calls.ts` writes the rest, for single calls started through the API. */
  readonly trigger_mode?: "test" | "production"
  readonly agent_identifier?: string
  readonly agent_identifier_type?: "workflow_uuid" | "trigger_path"
  readonly agent_uuid?: string
  readonly workflow_uuid?: string
  readonly from_phone_number_id?: number
  readonly api_key_id?: number
  readonly api_key_created_by?: number
}

/** Keys of `initial_context` that only the engine may write; from elsewhere they are dropped. Two are reserved but never written. */
export const reservedNames: ReadonlyArray<string> = [
  "provider",
  "runtime_configuration",
  "mps_correlation_id",
  "called_number"
] satisfies ReadonlyArray<keyof InitialContext | "runtime_configuration" | "mps_correlation_id">

/**
 * What came out of the call. A retry starts with the tags of the attempt before (`AttemptBeginning.ts`); the rest is written at the end, by
 * `RunReport.ts` and by the conversation (`ConversationRecord.ts`). Values that the provider gathered stand next to these keys.
 */
export interface GatheredContext {
  /** How the call ended, in the API's terms. */
  readonly call_disposition?: string
  /** The same value; lists and reports read it here. */
  readonly mapped_call_disposition?: string
  readonly call_id?: CallId
  /** New tags are added to those that the run already has. */
  readonly call_tags?: ReadonlyArray<string>
  readonly hangup_cause?: HangupCause
  /** Only for calls that the circuit breaker counts as failures. Null if the failure is the engine's own. */
  readonly failure_class?: FailureClass | null
  readonly provider?: string
  /** These three come from the voice session, and the digits also from the provider. */
  readonly dtmf_digits?: string
  readonly answered_by?: "human" | "machine" | "fax" | "silence" | "unknown"
  readonly voicemail_message?: "left" | "cut" | "not_left"
  /** The rest comes from the conversation. The extracted values by name; each value also stands next to these keys. */
  readonly extracted_variables?: Readonly<Record<string, unknown>>
  /** The names of the nodes, in the order in which they were entered. */
  readonly nodes_visited?: ReadonlyArray<string>
  /** When the callee wants to be called back: ISO 8601 in the callee's time zone, with its offset. */
  readonly callback_at?: string
  /** The IANA name of the callee's time zone. */
  readonly callback_time_zone?: string
}

/** Tokens of a language model, in the API's terms. */
export interface TokenUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
}

/** Written at the end of the call, by `RunReport.ts` and by the conversation. */
export interface UsageInfo {
  /** From answer to end; 0 for a call that was not answered. */
  readonly call_duration_seconds?: number
  /** Tokens, characters and seconds; the keys are service and model, as `{service}#{n}|||{model}`. */
  readonly llm?: Readonly<Record<string, TokenUsage>>
  readonly tts?: Readonly<Record<string, number>>
  readonly stt?: Readonly<Record<string, number>>
}

/** A part of what a service was used for. `cost_usd` is `quantity / price_per * price_usd`; null, like the price, if nobody has stated the price. */
export interface ServiceCost {
  readonly kind: "llm" | "tts" | "stt"
  readonly provider: string
  /** As in the usage: of a voice, its name. */
  readonly model: string
  readonly unit: "prompt_tokens" | "cached_prompt_tokens" | "completion_tokens" | "characters" | "seconds"
  readonly quantity: number
  readonly price_usd: number | null
  readonly price_per: number
  readonly cost_usd: number | null
}

/** What the speech and language services cost, at the prices of the call's end; nothing if none was used. What the carrier charges is not part of it. */
export interface CostInfo {
  /** Of what has a price. */
  readonly total_cost_usd?: number
  /** Whether all that was used has a price. */
  readonly is_complete?: boolean
  readonly services?: ReadonlyArray<ServiceCost>
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
    /** How long the language model took. */
    | "rtf-ttfb-metric"
    /** How long another service took; without a `stage`, until the greeting was heard. */
    | "rtf-stage-metric"
    | "rtf-latency-measured"
    | "rtf-pipeline-error"
  readonly payload: Readonly<Record<string, unknown>>
  readonly timestamp: string
  /** How many times the callee had spoken before. */
  readonly turn: number
  /** The node that the conversation was at. */
  readonly node_id?: string
  readonly node_name?: string
}

interface StatusCallback {
  readonly call_id: CallId
  /** Seconds from answer to end. */
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

/** What happened to a call after its attempt was over; times in ISO 8601. For each event, the first time is kept. */
export type LateLife = Readonly<Partial<Record<"appeared_at" | "rang_at" | "answered_at" | "ended_at" | "hangup_cause", string>>>

/** How long callees had to wait in a conversation, in seconds. */
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
