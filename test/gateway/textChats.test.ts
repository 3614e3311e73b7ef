/** Text chats, as somebody who tests an agent uses them: started, written to, rewound and ended. */
import { Deferred, Effect } from "effect"
import t from "tap"
import type { Static } from "typebox"
import type { RunPageWire, RunWire } from "#gateway/wire/Run.ts"
import { definition, edge, node } from "#test/support/talkScript.ts"
import { untilTrue } from "#test/support/until.ts"
import { bodyOf } from "./apiTest.ts"
import { chatIn, extracted, openChats, said } from "./textChatTest.ts"

const { ask, asked, begin, heldUp, makeAgent, orders, runOf, sql } = await openChats(t)

const logged = (run: Static<typeof RunWire>, type: string) => {
  const events: unknown = run.logs?.["realtime_feedback_events"]
  return (Array.isArray(events) ? events : []).filter((one) => one.type === type).map((one) => one.payload)
}

t.test("given an agent with a greeting", async (t) => {
  const agent = await makeAgent(undefined, { template_context_variables: { first_name: "Nobody", city: "Berlin" } })
  const { chat, path, say } = await begin(agent, {
    initial_context: { first_name: "Ada", provider: "mine" },
    annotations: { tester: { ui_mode: "manual_text" }, note: 1 }
  })

  t.test("when a chat starts, then the agent has spoken, and the record of the run says what it is", async (t) => {
    t.match(chat, { workflow_id: agent.id, mode: "textchat", state: "running", is_completed: false, revision: 1 })
    t.match(chat.name, /^WR-TEXT-[0-9A-F]{6}$/)
    t.strictSame(said(chat), ["Hello Ada."])
    t.strictSame(chat.initial_context, { first_name: "Ada", city: "Berlin" }, "over the draft's own variables, without reserved names")
    t.strictSame(chat.annotations, { tester: { ui_mode: "manual_text" }, note: 1 })
    t.match(chat.session_data, {
      version: 1,
      status: "idle",
      cursor_turn_id: null,
      discarded_future: [],
      simulator: { enabled: false, config: {} }
    })
    const [turn] = chat.session_data.turns
    t.match(turn, { status: "completed", user_message: null, checkpoint_after_turn: { current_node_id: "start" } })
    t.match(turn?.events, [{ type: "node_transition", payload: { node_id: "start", previous_node_id: null } }])
    t.match(chat.checkpoint, {
      version: 1,
      anchor_turn_id: turn?.id,
      current_node_id: "start",
      messages: [{ role: "assistant", content: "Hello Ada." }],
      tool_state: {}
    })
    t.match(await runOf(chat), { mode: "textchat", is_completed: false, initial_context: { first_name: "Ada" } })
  })

  t.test("when a message is sent, then the agent answers in its node, and another client reads the same", async (t) => {
    const next = await say("hm", { expected_revision: 1 })
    t.strictSame(said(next), ["Hello Ada.", "> hm", "At start."])
    t.equal(next.revision, 2)
    t.strictSame(chatIn(await ask("GET", path)), next)
  })

  t.test("when the agent ends it, then the run is complete with all results", async (t) => {
    const asked = await say("yes")
    // As if the chat had had another model before.
    const used = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, cache_read_input_tokens: 500 }
    await sql`UPDATE runs SET usage_info = jsonb_set(usage_info, '{llm}', ${JSON.stringify({ "openai#0|||gpt-4.1-mini": used })}::text::jsonb || (usage_info -> 'llm'))
      WHERE id = ${asked.workflow_run_id}`
    t.equal((await runOf(asked)).cost_info, null)
    const over = await say("done")
    t.match(over, { state: "completed", is_completed: true, session_data: { status: "completed" } })
    t.strictSame(said(over).slice(-4), ["> yes", "At ask.", "> done", "At bye."])
    t.strictSame(over.gathered_context?.["nodes_visited"], ["start", "ask", "bye"])
    t.equal(over.gathered_context?.["call_disposition"], "user_qualified")
    t.match(over.session_data.turns.at(-1)?.events.at(-1), { type: "session_end", payload: { reason: "user_qualified" } })
    const run = await runOf(over)
    t.match(run, { is_completed: true, gathered_context: { mapped_call_disposition: "user_qualified", call_tags: ["user_qualified"] } })
    const nodes = logged(run, "rtf-node-transition").map(({ node_id }) => node_id)
    t.strictSame(nodes, ["start", "ask", "bye"])
    t.match(run.usage_info?.llm, { "scripted#0|||one": { total_tokens: 0 } })
    t.match(run.cost_info, { total_cost_usd: 0.00041, is_complete: true, services: { length: 3 } }, "with what its models cost")
    const transcript = await ask("GET", `/workflow/${agent.id}/runs/${over.workflow_run_id}/transcript`)
    t.match(transcript.text, /^\[[^\]]+Z\] assistant: Hello Ada\.\n\[[^\]]+Z\] user: hm\n/)

    for (const [way, body] of [
      ["messages", { text: "more" }],
      ["rewind", { cursor_turn_id: chat.session_data.turns[0]?.id }]
    ] as const) {
      const late = await ask("POST", `${path}/${way}`, body)
      t.strictSame([late.status, late.json], [400, { detail: "Text chat session has ended" }], way)
    }
    t.strictSame(chatIn(await ask("POST", `${path}/end`, {})), over, "and it stays as it is")
    t.ok(over.checkpoint.messages.length > 4)
    const kept = await sql`SELECT place FROM text_chat_turns WHERE run_id = ${chat.workflow_run_id} AND state IS NOT NULL`
    t.strictSame(kept, [{ place: 4 }], "and of its states only the last one is kept")
  })
})

t.test("given a draft beside the published version, then the draft runs, also after it has been edited", async (t) => {
  const agent = await makeAgent(definition({ greeting: "Published." }))
  await ask("POST", `/workflow/${agent.id}/create-draft`)
  await ask("PUT", `/workflow/${agent.id}`, { workflow_definition: definition({ greeting: "Draft." }, { prompt: "Old." }) })
  const { chat, say } = await begin(agent)
  t.strictSame(said(chat), ["Draft."])
  const before = await runOf(chat)
  const edited = {
    nodes: [node("start", "startCall", { greeting: "Edited." }), node("end", "endCall")],
    edges: [edge("start", "end", "Over")]
  }
  await ask("PUT", `/workflow/${agent.id}`, { workflow_definition: edited })
  t.strictSame(said(await say("yes")).slice(-1), ["At ask."], "a chat keeps its version")
  t.equal((await runOf(chat)).definition_id, before.definition_id)
  t.strictSame(said((await begin(agent)).chat), ["Edited."], "the next chat has the next one")
})

t.test("given a chat of some turns, when it is rewound", async (t) => {
  const agent = await makeAgent()
  const { chat, path, say } = await begin(agent)
  await say("hm")
  const three = await say("yes")
  const [, second, third] = three.session_data.turns
  const rewind = (cursor_turn_id: string | null | undefined, more: object = {}) =>
    ask("POST", `${path}/rewind`, { cursor_turn_id, ...more })

  t.test("then it has the state after that turn, and so does its run", async (t) => {
    const back = chatIn(await rewind(second?.id, { expected_revision: three.revision }))
    t.match(back, { revision: three.revision + 1, session_data: { status: "rewound", cursor_turn_id: second?.id, discarded_future: [] } })
    t.equal(back.session_data.turns.length, 3, "the later turn is still there")
    t.match(back.checkpoint, { current_node_id: "start", anchor_turn_id: second?.id })
    t.notMatch(JSON.stringify(back.checkpoint.messages), "yes")
    t.strictSame(back.gathered_context?.["nodes_visited"], ["start"])
    const texts = logged(await runOf(chat), "rtf-user-transcription").map(({ text }) => text)
    t.strictSame(texts, ["hm"])
  })

  t.test("then the rewind can be undone", async (t) => {
    const again = chatIn(await rewind(null))
    t.match(again, { session_data: { status: "idle", cursor_turn_id: null }, checkpoint: { current_node_id: "ask" } })
    await rewind(second?.id)
  })

  t.test("then the next message replaces the later turns", async (t) => {
    const other = await say("no")
    t.strictSame(other.session_data.turns.map(({ id }) => id).slice(0, 2), three.session_data.turns.map(({ id }) => id).slice(0, 2))
    t.strictSame(said(other).slice(-2), ["> no", "At sorry."])
    t.match(other.session_data.discarded_future, [{ rewound_from_turn_id: second?.id, turns: [{ id: third?.id }] }])
    t.match(other, { is_completed: true, gathered_context: { nodes_visited: ["start", "sorry"] }, session_data: { status: "completed" } })
    const texts = logged(await runOf(chat), "rtf-user-transcription").map(({ text }) => text)
    t.strictSame(texts, ["hm", "no"])
  })
})

t.test("given a turn that does not exist, then 404, and the same for a discarded one", async (t) => {
  const { path, say } = await begin(await makeAgent())
  const [first, second] = (await say("hm")).session_data.turns
  await ask("POST", `${path}/rewind`, { cursor_turn_id: first?.id })
  await say("hm")
  for (const cursor_turn_id of ["turn_000000000000", second?.id]) {
    const answer = await ask("POST", `${path}/rewind`, { cursor_turn_id })
    t.strictSame([answer.status, answer.json], [404, { detail: "Turn not found in text chat session" }])
  }
})

t.test("given a client that saw an older revision, then it is told the current one, and nothing changes", async (t) => {
  const { path, say } = await begin(await makeAgent())
  const now = await say("hm")
  const detail = { message: "Text chat session revision conflict", expected_revision: 1, actual_revision: 2 }
  for (const [way, body] of [
    ["messages", { text: "late" }],
    ["rewind", { cursor_turn_id: null }],
    ["end", {}]
  ] as const) {
    const answer = await ask("POST", `${path}/${way}`, { ...body, expected_revision: 1 })
    t.strictSame([answer.status, answer.json], [409, { detail }], way)
  }
  t.strictSame(chatIn(await ask("GET", path)), now)
})

t.test("given two simultaneous messages, then one is answered and the other refused, and nothing is lost or duplicated", async (t) => {
  const { chat, path } = await begin(await makeAgent())
  const first = await heldUp(() => ask("POST", `${path}/messages`, { text: "hm", expected_revision: 1 }))
  const second = await ask("POST", `${path}/messages`, { text: "yes", expected_revision: 1 })
  t.match([second.status, second.json], [409, { detail: { expected_revision: 1, actual_revision: 1 } }])
  t.equal((await ask("POST", `${path}/end`, {})).status, 409)
  first.release()
  t.strictSame(said(chatIn(await first.answer)).slice(-2), ["> hm", "At start."])
  t.equal(first.asked(), 1, "the model is not asked for the one that was refused")
  t.equal(chatIn(await ask("GET", path)).revision, chat.revision + 1)
})

t.test("given a change that another engine has made in the meantime, then the message is refused as a whole", async (t) => {
  const { chat, path } = await begin(await makeAgent())
  const message = await heldUp(() => ask("POST", `${path}/messages`, { text: "yes" }))
  await sql`UPDATE text_chats SET revision = 7 WHERE run_id = ${chat.workflow_run_id}`
  message.release()
  const refused = await message.answer
  t.match([refused.status, refused.json], [409, { detail: { expected_revision: 1, actual_revision: 7 } }])
  t.strictSame(said(chatIn(await ask("GET", path))), said(chat))
  t.strictSame((await runOf(chat)).gathered_context?.["nodes_visited"], ["start"])
})

const extracting = { extraction_enabled: true, extraction_variables: [{ name: "count", type: "number" }] }

t.test("given variables that the model cannot extract, then the turn and the run tell so, and the chat goes on", async (t) => {
  const { say } = await begin(await makeAgent(definition({ greeting: "Hello.", ...extracting })))
  orders.push(Effect.void, "fails")
  const chat = await say("yes")
  t.strictSame(said(chat), ["Hello.", "> yes", "At ask."])
  const failure = { error: "The variables of start could not be extracted", fatal: false, processor: "extraction" }
  const failures = chat.session_data.turns.at(-1)?.events.filter(({ type }) => type === "extraction_failed")
  t.match(failures, [{ payload: failure }])
  t.strictSame(logged(await runOf(await say("done")), "rtf-pipeline-error"), [failure])
})

t.test("given a model that fails", async (t) => {
  const agent = await makeAgent(definition({ greeting: "Hello." }, extracting))
  const { chat, path, say } = await begin(agent)
  orders.push("fails")
  const failed = await ask("POST", `${path}/messages`, { text: "yes", expected_revision: 1 })
  const detail = "Failed to execute text chat assistant turn: the language model failed (credit): no credit left"
  t.strictSame([failed.status, failed.json], [502, { detail }], "then the answer has the reason")
  t.strictSame(chatIn(await ask("GET", path)), chat, "then the chat is unchanged")
  t.strictSame(said(await say("yes", { expected_revision: 1 })).slice(-1), ["At ask."], "then the same message can be sent again")

  orders.push("fails")
  const unopened = await makeAgent(definition())
  t.equal((await ask("POST", unopened.sessions, {})).status, 502)
  const { json } = await ask("GET", `/workflow/${unopened.id}/runs`)
  t.strictSame((json as Static<typeof RunPageWire>).runs, [], "then a chat that could not start has left nothing")

  orders.push("fails")
  const before = asked()
  const ended = chatIn(await ask("POST", `${path}/end`, {}))
  t.equal(asked(), before + 1)
  t.match(ended, { is_completed: true, gathered_context: { call_disposition: "user_hangup" } }, "then a chat can still be ended")
})

t.test("given a model that does not answer, then the message is given up, and the chat continues", async (t) => {
  const { chat, path, say } = await begin(await makeAgent())
  orders.push("hangs", "hangs")
  const slow = await ask("POST", `${path}/messages`, { text: "yes" })
  const detail = "Failed to execute text chat assistant turn: the language model did not answer in time"
  t.strictSame([slow.status, slow.json], [502, { detail }])
  t.strictSame(chatIn(await ask("GET", path)), chat)
  t.strictSame(said(await say("yes")).slice(-1), ["At ask."])
})

t.test("given a node with variables, then the answer comes with the extracted values, however long that takes", async (t) => {
  const { path } = await begin(await makeAgent(definition({ greeting: "Hello.", ...extracting })))
  const gate = Deferred.makeUnsafe<void>()
  const before = asked()
  // Follows the edge; then extracts, and meanwhile speaks in the next node.
  orders.push(Effect.void, Deferred.await(gate), Effect.void)
  const answer = ask("POST", `${path}/messages`, { text: "yes" })
  await untilTrue("all questions to the model", () => asked() >= before + 3)
  Deferred.doneUnsafe(gate, Effect.void)
  const next = chatIn(await answer)
  t.equal(said(next).at(-1), "At ask.")
  t.match(next, { is_completed: false, gathered_context: { ...extracted, extracted_variables: extracted } })
  t.match((await runOf(next)).gathered_context, { extracted_variables: extracted })

  const hungUp = await begin(await makeAgent(definition({ greeting: "Hello." }, extracting)))
  await hungUp.say("yes")
  await hungUp.say("hm")
  t.match(chatIn(await ask("POST", `${hungUp.path}/end`, {})), {
    gathered_context: { call_disposition: "user_hangup", extracted_variables: extracted }
  })
})

t.test("given somebody who asks not to be called again, then it is recorded, and no number opts out", async (t) => {
  const { say } = await begin(await makeAgent(), { initial_context: { phone_number: "+15550100077" } })
  const over = await say("please stop calling me")
  t.match(over, { is_completed: true, gathered_context: { call_disposition: "user_disqualified" } })
  t.strictSame(bodyOf(await ask("GET", "/organizations/opt-outs"))["opt_outs"], [])
})
