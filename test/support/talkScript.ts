/** A small graph for conversations, and models that play their part in it. */
import { Effect, Stream } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ModelRequest, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { call, finished, type ScriptedModel, type Talk, text } from "./talk.ts"

export const node = (id: string, type: string, data: JsonObject = {}): JsonObject => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { name: id, prompt: `Prompt of ${id}.`, allow_interrupt: true, add_global_prompt: false, ...data }
})
export const edge = (source: string, target: string, label: string, data: JsonObject = {}): JsonObject => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label, condition: `When ${label}.`, ...data }
})
/** start -yes-> ask -done-> bye, start -no-> sorry */
export const definition = (start: JsonObject = {}, middle: JsonObject = {}, transition: JsonObject = {}): JsonObject => ({
  nodes: [node("start", "startCall", start), node("ask", "agentNode", middle), node("bye", "endCall"), node("sorry", "endCall")],
  edges: [edge("start", "ask", "Yes", transition), edge("start", "sorry", "No"), edge("ask", "bye", "Done")]
})

const lastWords = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1)
  return last?._tag === "User" ? last.text : ""
}
/** Follows the edge whose tool the callee names, and otherwise says something about the node. */
export const follower: ScriptedModel = (request) => {
  if (request.purpose === "extract") return [call("save_variables", {})]
  if (request.purpose !== "turn") return [text(request.purpose)]
  const words = lastWords(request)
  return request.tools.some(({ name }) => name === words) ? [call(words)] : [text(`At ${request.node.id}.`)]
}
export const scripted =
  (...replies: ReadonlyArray<ReturnType<ScriptedModel>>): ScriptedModel =>
  (request) => {
    if (request.purpose === "extract") return [call("save_variables", {})]
    const [reply, ...rest] = replies
    replies = rest
    return reply ?? "hangs"
  }
/** The model in the form in which it is opened for a call. */
export const played = (model: ScriptedModel): OpenLanguageModel =>
  Effect.succeed({
    provider: "scripted",
    model: "one",
    answer: (request) => {
      const reply = model(request)
      return typeof reply === "string" ? Stream.never : Stream.fromIterable([...reply, finished])
    }
  })
export const tagsOf = (talk: Talk) => talk.actions.map(({ _tag }) => _tag)
export const lastMessages = (talk: Talk) => talk.requests().at(-1)?.messages ?? []
export const spoken = (talk: Talk) => {
  for (const { id } of talk.state().lines) talk.send({ _tag: "LineSpoken", line: id })
}
