/** The reports about a conversation in progress, and the entries that are stored of it for its run: appended in order, and never changed. */
import type { ConversationFact } from "#core/agent/conversation/ConversationFact.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ModelUsage } from "#core/model/LanguageModel.ts"
import type { RunProblem } from "#core/run/RunProblem.ts"
import type { FeedbackEvent, UsageInfo } from "#core/run/RunRecord.ts"

/**
 * What callees wait for. `recognition`: from the end of the callee's voice to the text of the turn. `end_of_turn`: from the end of the voice until the
 * turn is certain to be over, which is seldom before its text is there. `first_token`: from a request that the callee waits for to the first piece of the
 * language model's answer. `synthesis`: from a text that nothing is heard before to its speech. `first_audio`: from the end of the voice to the first
 * sound of the agent, which is all that the callee notices.
 */
export const latencyStages = ["recognition", "end_of_turn", "first_token", "synthesis", "first_audio"] as const
export type LatencyStage = (typeof latencyStages)[number]

/** A service and its model or voice, as they stand in the usage of a run. */
interface Service {
  readonly processor: string
  readonly model: string
}

/** Times are epoch milliseconds. */
export type CallFact =
  | ConversationFact
  /** A whole turn of the callee, or as much of a line of the agent as the callee has heard. */
  | {
      readonly _tag: "Said"
      readonly speaker: "assistant" | "user"
      readonly text: string
      readonly at: number
      readonly until: number
    }
  /** The callee hears the agent for the first time, this long after the call's audio was opened. */
  | ({ readonly _tag: "Greeted"; readonly millis: number; readonly at: number } & Service)
  /** Something could not be said, played or recorded. */
  | ({ readonly _tag: "Troubled" } & RunProblem)
  /** The callee has pressed one key. */
  | { readonly _tag: "Pressed"; readonly digit: string; readonly at: number }
  | ({ readonly _tag: "Waited"; readonly stage: LatencyStage; readonly millis: number; readonly at: number } & Service)
  /** All usage of the service so far in this call: later entries replace earlier ones. */
  | ({ readonly _tag: "Used" } & Service &
      (
        | { readonly kind: "llm"; readonly tokens: ModelUsage }
        | { readonly kind: "tts"; readonly characters: number }
        | { readonly kind: "stt"; readonly seconds: number }
      ))

export type ConversationUsage = Required<Pick<UsageInfo, "llm" | "tts" | "stt">>

export type ConversationEntry =
  | { readonly kind: "event"; readonly content: FeedbackEvent }
  /** All that has been gathered by then. */
  | { readonly kind: "gathered"; readonly content: JsonObject }
  /** All that has been used by then. */
  | { readonly kind: "usage"; readonly content: ConversationUsage }
  /** Becomes an event of the organization as it is written. */
  | { readonly kind: "callback"; readonly content: { readonly callback_at: string; readonly time_zone: string } }
