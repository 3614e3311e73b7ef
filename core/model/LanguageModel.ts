/**
 * The contract of language models, hosted and embedded: the conversation so far and the available tools in, text and tool calls out, piece by piece.
 */
import { type Effect, Schema, type Scope, type Stream } from "effect"
import type { JsonObject } from "#core/Json.ts"

export type ModelMessage =
  /** `isKeyed`: the callee pressed these keys. */
  | { readonly _tag: "User"; readonly text: string; readonly isKeyed?: true }
  /** What the callee heard: a line that was interrupted ends where it was cut. */
  | {
      readonly _tag: "Assistant"
      readonly text: string
      readonly calls: ReadonlyArray<ModelToolCall>
      readonly wasInterrupted: boolean
      /** As in the `Finished` of the answer. */
      readonly members?: JsonObject
    }
  | { readonly _tag: "ToolResult"; readonly callId: string; readonly name: string; readonly result: JsonObject }

export interface ModelToolCall {
  /** Unique within the conversation. The adapter generates it if the service sends none. */
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
  /** What the service sent with the call for itself, such as a signature. It comes back with the call in later requests. */
  readonly members?: JsonObject
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  /** A JSON Schema of type `object`. */
  readonly parameters: JsonObject
}

/** The node that the conversation is at, for models that do not read prompts. */
export interface ModelNode {
  readonly id: string
  readonly type: "startCall" | "agentNode" | "endCall"
  readonly name: string
  /** Rendered, without the global prompt. */
  readonly prompt: string
  /** In the order of the document, with the names of their tools. */
  readonly edges: ReadonlyArray<{
    readonly id: string
    readonly tool: string
    readonly label: string
    readonly condition: string
    /** The author's examples of answers that lead along the edge. May be empty. */
    readonly phrases: ReadonlyArray<string>
    readonly leadsTo: "agentNode" | "endCall"
  }>
  readonly variables: ReadonlyArray<ExtractedVariable>
  /** How many answers in a row were not understood at this node. */
  readonly misunderstood: number
}

export interface ExtractedVariable {
  readonly name: string
  readonly type: "string" | "number" | "boolean"
  readonly prompt: string
}

export interface ModelRequest {
  readonly instructions: string
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools: ReadonlyArray<ModelTool>
  readonly purpose: ModelPurpose
  readonly node: ModelNode
}

/**
 * What a request is for. Except for a `turn`, the instructions end with it in words. `turn`: speak first in the node, or answer the callee.
 * `extract`: return the variables as one call of the only tool on offer. The others offer no tools: ask a silent callee whether they are
 * still there; say goodbye; tell a screening service who calls and why.
 */
export type ModelPurpose = "turn" | "extract" | "check_in" | "farewell" | "introduce"

export type ModelPart =
  /** Never whitespace only, never reasoning: everything in it may be spoken. */
  | { readonly _tag: "Text"; readonly text: string }
  /** Complete, with parsed arguments. Arguments that are not a JSON object are a `ModelError`. */
  | { readonly _tag: "ToolCall"; readonly call: ModelToolCall }
  /** Always the last part. */
  | {
      readonly _tag: "Finished"
      readonly why: "stop" | "length" | "tool_calls" | "filtered"
      readonly usage: ModelUsage
      /** What the service sent with the message for itself. It comes back with the message in later requests. */
      readonly members?: JsonObject
      readonly withheld?: Withheld
    }

/** How often the model's text held something that is not for the callee. */
export interface Withheld {
  /** Tool calls written as text that could not be carried out: incomplete, or of a tool that was not on offer. */
  readonly calls: number
  /** Special tokens of the model, which its service should have removed. */
  readonly tokens: number
}

/** Tokens; zero if the service does not report them. */
export interface ModelUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
}

export const noTokens: ModelUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }

export class ModelError extends Schema.TaggedError<ModelError>()("ModelError", {
  reason: Schema.Literals(["auth", "credit", "rate_limited", "refused", "unreachable", "broken", "timeout"]),
  /** Whether the same request may succeed if it is sent again. */
  isRetryable: Schema.Boolean,
  /** How long the service has asked to wait before that. */
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** The service's own message, without secrets and without anything from the conversation. */
  message: Schema.String
}) {}

export interface LanguageModel {
  /** `provider` and `model` as in the usage of a run. */
  readonly provider: string
  readonly model: string
  /** Answers cost neither time nor money, and the same request always gets the same one: the engine may ask for some that are never needed. */
  readonly isFree?: true
  /** Interrupting the stream ends the request at the service. */
  readonly answer: (request: ModelRequest) => Stream.Stream<ModelPart, ModelError>
}

/** Opens the model for one call, within the call's scope. */
export type OpenLanguageModel = Effect.Effect<LanguageModel, ModelError, Scope.Scope>
