/** A conversation as JSON, from which it can continue at another time and in another process. */
import type { JsonObject } from "#core/Json.ts"
import { type ConversationPlan, type ConversationState, fresh } from "./ConversationState.ts"
import type { Entry } from "./History.ts"

/** If this changes, stored conversations cannot continue. New members do not need a change: they start as in a new conversation. */
const version = 1

export interface StoredState {
  readonly version: number
  readonly state: JsonObject
}

/** Without the context, which never changes and may be large: store it once for all states of a conversation. */
export const stored = ({ context: _, ...state }: ConversationState): StoredState => ({ version, state: { ...state } })

/** Undefined: another version of the engine has stored it. */
export const restored = (
  plan: ConversationPlan,
  context: JsonObject,
  { state, version: of }: StoredState
): ConversationState | undefined =>
  // The cast holds because `stored` wrote `state`.
  of === version ? ({ ...fresh(plan), ...state, context } as ConversationState) : undefined

/** No timer fires between two messages: the next event sets the timers that are still needed. */
export const atRest = (state: ConversationState): ConversationState => ({ ...state, timers: {} })

/** For display. Also reads other versions, as far as their entries are well-formed. */
export const historyOf = ({ state: { history } }: StoredState): ReadonlyArray<Entry> => (Array.isArray(history) ? history : [])
