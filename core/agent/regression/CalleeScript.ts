/**
 * A scripted callee, with whom an agent is tried out before it calls anybody: what the callee says and does, what the agent's tools answer, and
 * what has to come of it. How scripts are written is in `readScripts.ts`.
 */
import type { JsonObject } from "#core/Json.ts"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"

export type CalleeAct =
  | { readonly _tag: "Says"; readonly text: string }
  | { readonly _tag: "Presses"; readonly keys: string }
  | { readonly _tag: "IsSilent"; readonly seconds: number }
  | { readonly _tag: "HangsUp" }
  /** The tone of a machine, after which it records. */
  | { readonly _tag: "Beeps" }

/** One thing that the callee does, at the first of their turns at which its conditions hold. */
export interface CalleeStep {
  /** Only at the node of this name or id. */
  readonly at: string | undefined
  /** Only if the agent has said these words since the callee's last turn. */
  readonly hears: string | undefined
  /** How often it may be done. */
  readonly times: number
  readonly act: CalleeAct
}

/** What a variable has to be: a value, a text that contains these words, or nothing at all. */
export type ExpectedValue =
  | { readonly _tag: "Equals"; readonly value: unknown }
  | { readonly _tag: "Contains"; readonly words: string }
  | { readonly _tag: "Absent" }

/** What is undefined is not checked. Nodes go by their name or id, edges by their label or id. */
export interface Expectations {
  /** All nodes, in the order in which they were entered. */
  readonly path: ReadonlyArray<string> | undefined
  /** All edges, in the order in which they were followed. */
  readonly edges: ReadonlyArray<string> | undefined
  readonly visits: ReadonlyArray<string>
  readonly neverVisits: ReadonlyArray<string>
  readonly variables: ReadonlyArray<readonly [name: string, expected: ExpectedValue]>
  readonly disposition: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly says: ReadonlyArray<string>
  readonly neverSays: ReadonlyArray<string>
  /** The names of tools that have to be called. */
  readonly calls: ReadonlyArray<string>
}

export interface CalleeScript {
  readonly name: string
  readonly context: JsonObject
  /** When the call is answered, in epoch milliseconds; undefined: now. */
  readonly startsAt: number | undefined
  /** The callee's. */
  readonly timeZone: string
  readonly callee: ReadonlyArray<CalleeStep>
  /** What tools answer, by the name under which the model knows them: one call after the other, the last answer for all that follow. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<ToolAnswer>>
  readonly expected: Expectations
}
