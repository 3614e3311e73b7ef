/**
 * The conversation as services want it that know two roles alone: the user begins and ends it, the two alternate, and each call is followed at once
 * by its result. Agents speak first, are not always heard, and say several lines in a row.
 */
import type { JsonObject } from "#core/Json.ts"
import type { ModelMessage, ModelToolCall } from "#core/model/LanguageModel.ts"

/** What stands for the user where nobody has spoken. */
export const callBegins = "(The call begins.)"
export const calleeIsSilent = "(The callee is silent.)"
/** Stands for the missing result of a tool call, because services refuse a history in which a call has no result. */
export const unanswered: JsonObject = { status: "cancelled" }

export type TurnPart =
  /** Never blank. */
  | { readonly _tag: "Text"; readonly text: string }
  /** What the service sent for itself with the message that follows. */
  | { readonly _tag: "Members"; readonly members: JsonObject }
  | { readonly _tag: "Call"; readonly call: ModelToolCall }
  | { readonly _tag: "Result"; readonly call: ModelToolCall; readonly result: JsonObject }

export interface Turn {
  readonly role: "user" | "model"
  readonly parts: ReadonlyArray<TurnPart>
}

const textPart = (text: string): ReadonlyArray<TurnPart> => (text.trim() === "" ? [] : [{ _tag: "Text", text }])

const user = (...parts: ReadonlyArray<TurnPart>): Turn => ({ role: "user", parts })

const turnsIn = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<Turn> => {
  const results = new Map(messages.flatMap((message) => (message._tag === "ToolResult" ? [[message.callId, message.result]] : [])))
  return messages.flatMap((message): ReadonlyArray<Turn> => {
    if (message._tag === "User") return [user(...textPart(message.text))]
    // Stands behind its call.
    if (message._tag === "ToolResult") return []
    const { calls, members, text } = message
    const parts: ReadonlyArray<TurnPart> = [...textPart(text), ...calls.map((call) => ({ _tag: "Call", call }) as const)]
    return [
      { role: "model", parts: members === undefined || parts.length === 0 ? parts : [{ _tag: "Members", members }, ...parts] },
      user(...calls.map((call) => ({ _tag: "Result", call, result: results.get(call.id) ?? unanswered }) as const))
    ]
  })
}

/** Texts stay apart, so that what a service has cached of a turn stays valid when the turn is continued. */
export const turnsOf = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (const turn of turnsIn(messages)) {
    if (turn.parts.length === 0) continue
    if (turns.length === 0 && turn.role === "model") turns.push(user({ _tag: "Text", text: callBegins }))
    const last = turns.at(-1)
    if (last?.role === turn.role) turns.splice(-1, 1, { ...last, parts: [...last.parts, ...turn.parts] })
    else turns.push(turn)
  }
  if (turns.length === 0) return [user({ _tag: "Text", text: callBegins })]
  return turns.at(-1)?.role === "model" ? [...turns, user({ _tag: "Text", text: calleeIsSilent })] : turns
}
