/** Text chats for tests of the gateway, with a language model that does what the test says. */
import { Deferred, Effect, Stream } from "effect"
import type { Test } from "tap"
import type { Static } from "typebox"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest } from "#core/model/LanguageModel.ts"
import type { RunWire } from "#gateway/wire/Run.ts"
import type { TextChatWire } from "#gateway/wire/TextChat.ts"
import { call, finished } from "#test/support/talk.ts"
import { definition, follower } from "#test/support/talkScript.ts"
import { untilTrue } from "#test/support/until.ts"
import { bodyOf, openApi } from "./apiTest.ts"
import type { Answer } from "./gatewayTest.ts"

export type Chat = Static<typeof TextChatWire>
/** The cast holds because every answer has been checked against its schema. */
export const chatIn = ({ json, status, text }: Answer): Chat => {
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json as Chat
}

/** The values that are extracted whenever a node asks for them. */
export const extracted = { count: 7 }

const partsOf = (request: ModelRequest): Stream.Stream<ModelPart, ModelError> => {
  const reply = request.purpose === "extract" ? [call("save_variables", extracted)] : follower(request)
  return typeof reply === "string" ? Stream.never : Stream.fromIterable([...reply, finished])
}

/** The lines of a chat. */
export const said = (chat: Chat): ReadonlyArray<string> =>
  chat.session_data.turns.flatMap(({ assistant_message: agent, user_message: user }) => [
    ...(user === null ? [] : [`> ${user.text}`]),
    ...(agent === null ? [] : [agent.text])
  ])

/** The model follows the edge that is named, unless `orders` has something else for it to do next. */
const orderedModel = () => {
  const orders: Array<"fails" | "hangs" | Effect.Effect<void>> = []
  let asked = 0
  const model: LanguageModel = {
    provider: "scripted",
    model: "one",
    answer: (request) =>
      Stream.unwrap(
        Effect.sync(() => {
          asked++
          const order = orders.shift()
          if (order === "hangs") return Stream.never
          if (order === "fails") return Stream.fail(new ModelError({ reason: "credit", isRetryable: false, message: "no credit left" }))
          return order === undefined ? partsOf(request) : Stream.unwrap(Effect.as(order, partsOf(request)))
        })
      )
  }
  return { model, orders, asked: () => asked }
}

export const openChats = async (t: Test) => {
  const { asked, model, orders } = orderedModel()
  const api = await openApi(t, undefined, { model: Effect.succeed(model) })
  const { ask } = api
  const makeAgent = async (workflow_definition: object = definition({ greeting: "Hello {{first_name}}." }), more: object = {}) => {
    const { id } = bodyOf(await ask("POST", "/workflow/create/definition", { name: "Tried", workflow_definition, ...more }))
    return { id, sessions: `/workflow/${id}/text-chat/sessions` }
  }
  const begin = async (agent: { readonly sessions: string }, body: object = {}) => {
    const chat = chatIn(await ask("POST", agent.sessions, body))
    const path = `${agent.sessions}/${chat.workflow_run_id}`
    const say = async (text: string, more: object = {}) => chatIn(await ask("POST", `${path}/messages`, { text, ...more }))
    return { chat, path, say }
  }
  const runOf = async (chat: Chat) => {
    const { json } = await ask("GET", `/workflow/${chat.workflow_id}/runs/${chat.workflow_run_id}`)
    return json as Static<typeof RunWire> // The answer has been checked against its schema.
  }
  /** Sends a request, and holds up the answer to its first question to the model. */
  const heldUp = async (send: () => Promise<Answer>) => {
    const [gate, before] = [Deferred.makeUnsafe<void>(), asked()]
    orders.push(Deferred.await(gate))
    const answer = send()
    await untilTrue("question to the model", () => asked() > before)
    return { answer, asked: () => asked() - before, release: () => Deferred.doneUnsafe(gate, Effect.void) }
  }
  return { ...api, orders, asked, heldUp, makeAgent, begin, runOf }
}
