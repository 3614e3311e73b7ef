/** The templates, tested in text chats, to each of their ends. */
import { Effect, Stream } from "effect"
import t from "tap"
import { toolNameOf } from "#core/agent/AgentGraph.ts"
import { compile, type ConversationGraph } from "#core/agent/conversation/ConversationGraph.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { LanguageModel } from "#core/model/LanguageModel.ts"
import { finished } from "#test/support/talk.ts"
import { follower } from "#test/support/talkScript.ts"
import { bodyOf, openApi } from "./apiTest.ts"
import { chatIn } from "./textChatTest.ts"

/** Follows the edge that the callee names. */
const model: LanguageModel = {
  provider: "scripted",
  model: "one",
  answer: (request) => {
    const reply = follower(request)
    return typeof reply === "string" ? Stream.never : Stream.fromIterable([...reply, finished])
  }
}
const { ask } = await openApi(t, undefined, { model: Effect.succeed(model) })

/** The labels of the edges on a path to each end. */
const waysIn = ({ nodes, start }: ConversationGraph): ReadonlyMap<string, ReadonlyArray<string>> => {
  const ways = new Map<string, ReadonlyArray<string>>([[start.id, []]])
  for (const [id, way] of ways) {
    for (const { label, target } of nodes.get(id)?.edges ?? []) if (!ways.has(target)) ways.set(target, [...way, label])
  }
  return new Map([...ways].filter(([id]) => nodes.get(id)?.type === "endCall"))
}

for (const { definition, id: template_id, name } of agentTemplates) {
  t.test(`given the template ${name}, when its callee follows a path, then the chat comes to the end of that path`, async (t) => {
    const graph = compile(definition)
    const ways = [...(graph === undefined ? [] : waysIn(graph))]
    t.ok(ways.length > 1)
    const { id } = bodyOf(await ask("POST", "/workflow/templates/duplicate", { template_id, workflow_name: "Tried" }))
    const sessions = `/workflow/${id}/text-chat/sessions`
    for (const [end, way] of ways) {
      let chat = chatIn(await ask("POST", sessions, { initial_context: { first_name: "Ada", company: "Acme" } }))
      t.match(chat.session_data.turns[0]?.assistant_message?.text, "Ada")
      for (const label of way) {
        t.equal(chat.is_completed, false)
        const message = { text: toolNameOf(label), expected_revision: chat.revision }
        chat = chatIn(await ask("POST", `${sessions}/${chat.workflow_run_id}/messages`, message))
      }
      t.equal(chat.is_completed, true, end)
      t.equal(chat.checkpoint.current_node_id, end)
      t.equal(chat.gathered_context?.["call_disposition"], "user_qualified")
      t.equal(chat.session_data.turns.length, way.length + 1)
    }
  })
}
