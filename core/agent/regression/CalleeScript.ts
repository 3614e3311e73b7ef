/**
 * A scripted callee for testing an agent before it calls anybody: what the callee says and does, what the agent's tools answer, and the expected
 * result. `readScripts.ts` documents the format.
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

/** One thing that the callee does, at the first of their turns for which its conditions hold. */
export interface CalleeStep {
  /** Only at the node of this name or id. */
  readonly at: string | undefined
  /** Only if the agent has said these words since the callee's last turn. */
  readonly hears: string | undefined
  /** How often it may be done. */
  readonly times: number
  readonly act: CalleeAct
}

/** What a variable must be: a value, a text that contains these words, or absent. */
export type ExpectedValue =
  | { readonly _tag: "Equals"; readonly value: unknown }
  | { readonly _tag: "Contains"; readonly words: string }
  | { readonly _tag: "Absent" }

/** Undefined members are not checked. Nodes are given by name or id, edges by label or id. */
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
  /** The tools' answers, by the name under which the model knows them: one for each call in order, the last one for all further calls. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<ToolAnswer>>
  readonly expected: Expectations
}
