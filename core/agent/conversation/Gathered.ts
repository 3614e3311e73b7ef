/** The result of a conversation: its gathered context, in the API's terms, and its disposition with its tags. */
import type { JsonObject } from "#core/Json.ts"
import type { ConversationState } from "./ConversationState.ts"

const longestTag = 255

const word = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, longestTag) : undefined

/**
 * The first reason to end, unless the conversation set a disposition. Do-not-call lists depend on opt-outs, so the model's own disposition never
 * overrides one.
 */
export const dispositionOf = ({ end, hasOptedOut, variables }: ConversationState): string | undefined => {
  if (hasOptedOut) return "user_disqualified"
  return word(variables["call_disposition"]) ?? end?.disposition ?? end?.reason
}

export const tagsOf = (state: ConversationState): ReadonlyArray<string> => {
  const { end, hasCalleeSpoken, hasOptedOut, variables } = state
  const tags = [
    dispositionOf(state),
    ...(end?.tags ?? []),
    hasCalleeSpoken ? "user_speech" : undefined,
    hasOptedOut ? "opted_out" : undefined,
    ...Object.entries(variables).map(([name, value]) => (name.startsWith("tag_") ? word(value) : undefined))
  ]
  return [...new Set(tags.filter((tag) => tag !== undefined))]
}

/** What the far end was; undefined while that is unknown. */
const answeredBy: Partial<Record<string, string>> = { human: "human", machine: "machine", screening: "machine", menu: "machine" }

/** Variables are listed both individually and together. */
export const gatheredOf = (state: ConversationState): JsonObject => {
  const { callbackAt, messageFate, variables, verdict, visited } = state
  const disposition = dispositionOf(state)
  const known = callbackAt === undefined ? variables : { ...variables, callback_at: callbackAt }
  const by = answeredBy[verdict ?? ""]
  return {
    ...known,
    extracted_variables: known,
    nodes_visited: visited,
    call_tags: tagsOf(state),
    ...(disposition === undefined ? {} : { call_disposition: disposition, mapped_call_disposition: disposition }),
    ...(by === undefined ? {} : { answered_by: by }),
    ...(messageFate === undefined ? {} : { voicemail_message: messageFate })
  }
}
