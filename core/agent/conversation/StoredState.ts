/** A conversation as JSON, from which it goes on at another time and in another process. */
import type { JsonObject } from "#core/Json.ts"
import { type ConversationPlan, type ConversationState, fresh } from "./ConversationState.ts"
import type { Entry } from "./History.ts"

/** Another number, and a conversation that was stored before cannot go on. New members need none: they begin as in a new conversation. */
const version = 1

export interface StoredState {
  readonly version: number
  readonly state: JsonObject
}

/** Without the context, which never changes and may be large: whoever stores many states of a conversation stores it once. */
export const stored = ({ context: _, ...state }: ConversationState): StoredState => ({ version, state: { ...state } })

/** Undefined: another version of the engine has stored it. */
export const restored = (
  plan: ConversationPlan,
  context: JsonObject,
  { state, version: of }: StoredState
): ConversationState | undefined =>
  // What lies in `state` was written by `stored`.
  of === version ? ({ ...fresh(plan), ...state, context } as ConversationState) : undefined

/** Nothing fires between two messages: the next event sets the timers that are still wanted. */
export const atRest = (state: ConversationState): ConversationState => ({ ...state, timers: {} })

/** For whoever shows it: also of another version, as far as it is one. */
export const historyOf = ({ state: { history } }: StoredState): ReadonlyArray<Entry> => (Array.isArray(history) ? history : [])
