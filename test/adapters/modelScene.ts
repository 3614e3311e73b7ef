/** The requests that tests of language models make, and what they read from the answers. */
import { Effect, Stream } from "effect"
import type { LanguageModel, ModelError, ModelMessage, ModelPart, ModelRequest } from "#core/model/LanguageModel.ts"

export const aRequest: ModelRequest = {
  instructions: "Be brief.",
  messages: [{ _tag: "User", text: "Hello" }],
  tools: [
    { name: "booked", description: "They book.", parameters: { type: "object", properties: {} } },
    { name: "refused", description: "They refuse.", parameters: { type: "object", properties: {} } }
  ],
  purpose: "turn",
  node: { id: "1", type: "agentNode", name: "Ask", prompt: "Ask.", edges: [], variables: [], misunderstood: 0, embedded: {} }
}

/** The outcome of a request: its parts, and the error that ended it. */
interface Answered {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error: ModelError | undefined
}

export const answered = (model: LanguageModel, request: ModelRequest): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const parts: Array<ModelPart> = []
    return model.answer(request).pipe(
      Stream.runForEach((part) => Effect.sync(() => void parts.push(part))),
      Effect.match({ onFailure: (error) => ({ parts, error }), onSuccess: () => ({ parts, error: undefined }) })
    )
  })

export const textOf = (parts: ReadonlyArray<ModelPart>): string => parts.map((part) => (part._tag === "Text" ? part.text : "")).join("")
export const callsOf = (parts: ReadonlyArray<ModelPart>) =>
  parts.flatMap((part) => (part._tag === "ToolCall" ? [[part.call.name, part.call.arguments] as const] : []))
export const idsOf = (parts: ReadonlyArray<ModelPart>) => parts.flatMap((part) => (part._tag === "ToolCall" ? [part.call.id] : []))

/** The answer as the conversation has it later, with a result for each call. */
export const remembered = (parts: ReadonlyArray<ModelPart>): ReadonlyArray<ModelMessage> => {
  const calls = parts.flatMap((part) => (part._tag === "ToolCall" ? [part.call] : []))
  const last = parts.at(-1)
  const members = last?._tag === "Finished" ? last.members : undefined
  return [
    { _tag: "Assistant", text: textOf(parts), calls, wasInterrupted: false, ...(members === undefined ? {} : { members }) },
    ...calls.map(({ id, name }): ModelMessage => ({ _tag: "ToolResult", callId: id, name, result: {} }))
  ]
}
