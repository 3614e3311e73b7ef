/** What is stored of a conversation while it is in progress. A kill loses only what has not been written yet. */
import type { JsonObject } from "#core/Json.ts"
import type { ConversationNote } from "./ConversationState.ts"

export type ConversationFact =
  | { readonly _tag: "Noted"; readonly note: ConversationNote; readonly at: number }
  | { readonly _tag: "Remembered"; readonly gathered: JsonObject }
  | { readonly _tag: "OptedOut" }
  | { readonly _tag: "CallbackAgreed"; readonly at: number; readonly local: string }
