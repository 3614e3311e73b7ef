/**
 * The order of messages that strict chat templates insist on: first the user, then the assistant and the user in turn. Agents speak first, are not
 * always heard, and say several lines in a row, so neutral messages fill the gaps. A call and its results count as part of the assistant's turn,
 * as in Mistral's templates: https://github.com/vllm-project/vllm/issues/6862
 */
import type { JsonObject } from "#core/Json.ts"
import { callBegins, calleeIsSilent } from "#adapters/voice/shared/Turns.ts"

export interface ChatMessage extends JsonObject {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
}

const begins: ChatMessage = { role: "user", content: callBegins }
const waits: ChatMessage = { role: "user", content: calleeIsSilent }
const listens: ChatMessage = { role: "assistant", content: "…" }

const hasCalls = (message: ChatMessage): boolean => message["tool_calls"] !== undefined

/** What stands between the two, or undefined if they become one message. */
const gapAfter = (before: ChatMessage, next: ChatMessage): ReadonlyArray<ChatMessage> | undefined => {
  if (before.role === next.role && before.role !== "tool" && !hasCalls(before)) return undefined
  return before.role === "tool" && next.role === "user" ? [listens] : []
}

const joined = (before: ChatMessage, next: ChatMessage): ChatMessage => ({
  ...before,
  ...next,
  content: [before.content, next.content].filter((text) => text !== "").join("\n")
})

const system = (messages: ReadonlyArray<ChatMessage>) => messages.filter(({ role }) => role === "system")

export const alternating = (messages: ReadonlyArray<ChatMessage>): ReadonlyArray<ChatMessage> => {
  const spoken = messages.filter(({ role }) => role !== "system")
  const ordered: Array<ChatMessage> = spoken[0]?.role === "user" ? [] : [begins]
  for (const next of spoken) {
    const before = ordered.at(-1)
    const gap = before === undefined ? [] : gapAfter(before, next)
    if (before !== undefined && gap === undefined) ordered.splice(-1, 1, joined(before, next))
    else ordered.push(...(gap ?? []), next)
  }
  const last = ordered.at(-1)
  return [...system(messages), ...ordered, ...(last?.role === "assistant" ? [waits] : [])]
}

/** For templates that know no system message: it becomes part of the first message. The messages must alternate. */
export const withoutSystem = (messages: ReadonlyArray<ChatMessage>): ReadonlyArray<ChatMessage> => {
  const instructions = system(messages).map(({ content }) => content)
  const [first, ...rest] = messages.filter(({ role }) => role !== "system")
  return first === undefined ? [] : [{ ...first, content: [...instructions, first.content].join("\n\n") }, ...rest]
}
