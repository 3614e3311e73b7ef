/**
 * The built-in language model: rules instead of a neural network. It answers from the node and its edges, which others only know
 * through the prompt and the tools, and from what their author tells it. It needs no key and no connection, and always gives the same answer to the
 * same request. It understands English.
 */
import { Effect, Stream } from "effect"
import { type ModelPart, noTokens } from "#core/model/LanguageModel.ts"
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { type AuthoredRequest, embeddedDialogue } from "./EmbeddedDialogue.ts"
import { grammarOf } from "./grammar.ts"
import { replyTo } from "./Reply.ts"

const model = "rules"

const partsOf = (request: AuthoredRequest): ReadonlyArray<ModelPart> => {
  const { call, text } = replyTo(request)
  const said: ReadonlyArray<ModelPart> = text.trim() === "" ? [] : [{ _tag: "Text", text }]
  const calls: ReadonlyArray<ModelPart> = call === undefined ? [] : [{ _tag: "ToolCall", call: { id: idFor(request), ...call } }]
  return [...said, ...calls, { _tag: "Finished", why: call === undefined ? "stop" : "tool_calls", usage: noTokens }]
}

const idFor = ({ messages }: AuthoredRequest): string => {
  const taken = new Set(messages.flatMap((message) => (message._tag === "Assistant" ? message.calls.map(({ id }) => id) : [])))
  let number = messages.length
  while (taken.has(`rule_${number}`)) number++
  return `rule_${number}`
}

export const embedded = defineLanguageModel({
  manifest: {
    contract: 1,
    kind: "llm",
    provider: "embedded",
    title: "Built in",
    description: "Rules in place of a model: follows the agent's graph offline and without a key. English.",
    languages: ["en"]
  },
  fields: {},
  expected: grammarOf,
  open: (_config, _host, told) => {
    const dialogue = embeddedDialogue(told)
    return Effect.succeed({
      provider: "embedded",
      model,
      isFree: true,
      answer: (request) => Stream.suspend(() => Stream.fromIterable(partsOf({ ...request, node: { ...request.node, dialogue } })))
    })
  }
})
