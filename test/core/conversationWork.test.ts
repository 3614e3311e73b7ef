/** What a conversation does besides talking: it extracts variables, uses tools, and deals with machines. */
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { step } from "#core/agent/conversation/Conversation.ts"
import { fresh, type ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { type Entry, userEntry, withEntries } from "#core/agent/conversation/History.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import { restored, stored } from "#core/agent/conversation/StoredState.ts"
import type { ModelPart } from "#core/model/LanguageModel.ts"
import { call, finished, planOf, type ScriptedModel, started, storedTool, type Talk, text, toolUuid } from "#test/support/talk.ts"
import { definition, edge, follower, lastMessages, scripted, tagsOf } from "#test/support/talkScript.ts"

/** The nodes whose variables could not be extracted. */
const failuresOf = ({ actions }: Talk) =>
  actions.flatMap((action) => (action._tag === "Note" && action.note._tag === "ExtractionFailed" ? [action.note.node.id] : []))

t.test("given variables to extract", async (t) => {
  const variables = [
    { name: "seats", type: "number" },
    { name: "callback_time", type: "string" },
    { name: "nodes_visited", type: "string" },
    { name: "tag_mood", type: "string" }
  ]
  const extracting = { extraction_enabled: true, extraction_prompt: "For {{who}}.", extraction_variables: variables }
  const talkWith = (given: JsonObject) => {
    const talk = started(planOf(definition({ greeting: "Hi.", ...extracting })), {
      model: (request) => (request.purpose === "extract" ? [call("save_variables", given)] : follower(request)),
      context: { who: "us" }
    })
    talk.says("yes")
    return talk
  }
  t.test("when the node is left, then they are gathered in both places, and only with their types", async (t) => {
    const talk = talkWith({ seats: "12", nodes_visited: "none", tag_mood: "glad", other: 1, callback_time: "tomorrow at 3" })
    talk.send({ _tag: "CalleeHungUp" })
    const at = "2026-03-06T15:00:00-05:00"
    t.strictSame(talk.conclusion()?.gathered["extracted_variables"], {
      seats: 12,
      tag_mood: "glad",
      callback_time: "tomorrow at 3",
      callback_at: at
    })
    t.match(talk.conclusion()?.gathered, { seats: 12, callback_at: at, nodes_visited: ["start", "ask"] })
    t.ok(talk.conclusion()?.tags.includes("glad"))
    const agreed = talk.actions.filter(({ _tag }) => _tag === "AgreeCallback")
    t.match(agreed, [{ at: Date.UTC(2026, 2, 6, 20, 0), local: at }])
    const request = talk.requests().find(({ purpose }) => purpose === "extract")
    t.match(request?.instructions, /For us\./)
    t.match(request?.messages, [{ text: "Hi." }, { text: "yes" }])
  })
  t.test("when the agent's texts use gathered values, then they show them from the next request on", async (t) => {
    const said = "Thank you for {{gathered_context.seats}}."
    const prompt = "{{gathered_context.seats | none}} {{gathered_context.tag_mood}} {{gathered_context.nodes_visited}} {{seats}}"
    const plain = definition({ greeting: "Hi {{gathered_context.seats | you}}.", ...extracting }, { prompt })
    const edges = (plain["edges"] as ReadonlyArray<JsonObject>).map((one) =>
      one["target"] === "bye" ? edge("ask", "bye", "Done", { transition_speech: said }) : one
    )
    const talk = started(planOf({ ...plain, edges }), {
      model: (request) => (request.purpose === "extract" ? [call("save_variables", { seats: 12, tag_mood: "● glad" })] : follower(request)),
      context: { gathered_context: { seats: 99 } }
    })
    talk.says("yes")
    talk.says("well")
    const asked = talk.requests().filter(({ node, purpose }) => node.id === "ask" && purpose === "turn")
    const instructions = asked.map(({ instructions }) => instructions)
    t.strictSame(instructions, ['none  ["start","ask"] ', '12   glad ["start","ask"] '])
    t.equal(asked.at(-1)?.node.prompt, '12   glad ["start","ask"] ')
    talk.says("done")
    t.strictSame([talk.lines()[0], talk.lines().at(-2)], ["Hi you.", "Thank you for 12."])
  })
  t.test("when a number is not one, then it is refused and reported", async (t) => {
    const talk = talkWith({ seats: "a dozen" })
    t.strictSame(talk.state().variables, {})
    t.ok(talk.actions.some((action) => action._tag === "Note" && action.note._tag === "VariableRefused" && action.note.name === "seats"))
  })
  t.test("when they come in the wrong order, then the later node's count", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi.", ...extracting }, extracting)), {
      model: (request) => (request.purpose === "extract" ? "hangs" : follower(request))
    })
    talk.says("yes")
    talk.says("done")
    const [first, second] = talk.state().extractions.map(({ generation }) => generation)
    t.equal(talk.conclusion(), undefined, "the line is closed, and the variables are still awaited")
    for (const [generation, seats] of [
      [second, 2],
      [first, 1]
    ] as const) {
      talk.send({ _tag: "ModelSaid", generation: generation ?? 0, part: call("save_variables", { seats }) })
      talk.send({
        _tag: "ModelSaid",
        generation: generation ?? 0,
        part: finished
      })
    }
    t.match(talk.conclusion()?.gathered, { seats: 2 })
  })
  t.test("when they never come, then the conversation concludes without them", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi.", ...extracting })), {
      model: ({ purpose }) => (purpose === "extract" ? "hangs" : [text("Hm.")])
    })
    talk.says("what")
    talk.send({ _tag: "CalleeHungUp" })
    t.equal(talk.conclusion(), undefined)
    talk.wait(30_000)
    t.match(talk.conclusion(), { disposition: "user_hangup" })
    t.strictSame(failuresOf(talk), ["start"], "and reports it")
  })
  t.test("when the model fails, then it is asked once more, and a second failure is reported", async (t) => {
    const failing = (...replies: ReadonlyArray<ReturnType<ScriptedModel>>) => {
      const left = [...replies]
      const talk = started(planOf(definition({ greeting: "Hi.", ...extracting })), {
        model: (request) => (request.purpose === "extract" ? (left.shift() ?? [call("save_variables", { seats: 2 })]) : follower(request))
      })
      talk.says("yes")
      return {
        failures: failuresOf(talk),
        seats: talk.state().variables["seats"],
        asked: talk.requests().filter(({ purpose }) => purpose === "extract").length
      }
    }
    t.strictSame(failing("fails"), { failures: [], seats: 2, asked: 2 })
    t.strictSame(failing("fails", [text("I cannot say.")]), { failures: ["start"], seats: undefined, asked: 2 })
    t.strictSame(failing("refuses"), { failures: ["start"], seats: undefined, asked: 1 })
    t.strictSame(
      failing([text('Well: {"seats": 3} {"seats": 4}')]),
      { failures: [], seats: 3, asked: 1 },
      "the first complete object counts"
    )
  })
})

t.test("given tools", async (t) => {
  const order = storedTool(1, "Find order", {
    type: "http_api",
    config: {
      method: "GET",
      url: "https://shop.example/orders/{{number}}",
      parameters: [{ name: "number", type: "string", description: "The number." }],
      customMessage: "Let me look, {{name}}."
    }
  })
  const end = storedTool(2, "Finish", {
    type: "end_call",
    config: { messageType: "custom", customMessage: "So long.", endCallReason: true }
  })
  const calculator = storedTool(3, "Sums", { type: "calculator" })
  const move = storedTool(4, "Hand over", { type: "transfer_call", config: { destination: "{{desk}}", timeout: 20 } })
  const plan = planOf(definition({ greeting: "Hi.", tool_uuids: [1, 2, 3, 4, 9].map(toolUuid) }), { send_dtmf: true }, [
    order,
    end,
    calculator,
    move
  ])
  const withTools = (model: ScriptedModel, tool?: (request: HttpToolRequest) => ToolAnswer | undefined) => {
    const talk = started(plan, { model, context: { name: "Ada", desk: "+15550100" }, ...(tool === undefined ? {} : { tool }) })
    talk.says("go")
    return talk
  }
  const resultOf = (talk: Talk) => {
    const last = lastMessages(talk).at(-1)
    return last?._tag === "ToolResult" ? last.result : undefined
  }

  t.test("when a service is called, then the message is said first and the answer goes to the model", async (t) => {
    const asked: Array<HttpToolRequest> = []
    const talk = withTools(scripted([call("find_order", { number: "a/1" })], [text("It is here.")]), (request) => {
      asked.push(request)
      return { _tag: "Response", status: 404, body: '{"error":"none"}' }
    })
    t.match(asked, [{ method: "GET", url: "https://shop.example/orders/a%2F1?number=a%2F1", body: undefined }])
    t.strictSame(talk.lines(), ["Hi.", "Let me look, Ada.", "It is here."])
    t.strictSame(resultOf(talk), { status: "success", status_code: 404, data: { error: "none" } })
  })
  t.test("when it is slow, then the callee is told, and if it never answers the model continues", async (t) => {
    const talk = withTools(scripted([call("find_order", { number: "1" })], [text("Not now.")]))
    talk.wait(2500)
    t.equal(talk.lines().at(-1), "One moment, please.")
    talk.says("Hello?")
    talk.wait(5000)
    t.equal(talk.lines().at(-1), "Not now.")
    t.match(lastMessages(talk).slice(-2), [
      { _tag: "ToolResult", result: { status: "error" } },
      { _tag: "User", text: "Hello?" }
    ])
  })
  t.test("when arguments are missing, then the model is told and the service is not called", async (t) => {
    const talk = withTools(scripted([call("find_order")], [text("Which?")]))
    t.notOk(tagsOf(talk).includes("RunTool"))
    t.match(resultOf(talk), { status: "error", error: /number/ })
  })
  t.test("when arithmetic and keys are requested, then they are done", async (t) => {
    const talk = withTools(
      scripted(
        [call("safe_calculator", { expression: "2 * (3 + 4)" })],
        [call("send_dtmf", { digits: "1w2#" })],
        [call("send_dtmf", { digits: "1;2" })],
        [text("x")]
      )
    )
    const sent = talk.actions.filter(({ _tag }) => _tag === "SendDigits")
    t.match(sent, [{ digits: "1w2#" }])
    const results = lastMessages(talk).flatMap((message) => (message._tag === "ToolResult" ? [message.result] : []))
    t.match(results, [{ status: "success", result: 14 }, { status: "success" }, { status: "error" }])
  })
  t.test("when the call is to end, then the message is heard first and the reason is the disposition", async (t) => {
    const talk = withTools(scripted([call("finish", { reason: "sold" })]))
    t.equal(talk.lines().at(-1), "So long.")
    t.match(talk.conclusion(), { disposition: "sold", tags: ["sold", "end_call_tool", "user_speech"] })
  })
  t.test("when it is to be transferred and cannot be, then the model is told", async (t) => {
    const talk = withTools(scripted([call("hand_over")], [text("Sorry.")]))
    const [transfer] = talk.actions.flatMap((action) => (action._tag === "Transfer" ? [action] : []))
    t.match(transfer, { destination: "+15550100", timeoutSeconds: 20 })
    talk.send({ _tag: "ToolAnswered", callId: transfer?.callId ?? "", answer: { _tag: "Failed", reason: "Transfers are not available." } })
    t.match(resultOf(talk), { status: "error", error: "Transfers are not available." })
    t.equal(talk.lines().at(-1), "Sorry.")
  })
})

t.test("given a machine", async (t) => {
  const detecting = (action: string, start: JsonObject = { greeting: "Hi." }) =>
    started(planOf(definition(start), { voicemail_detection: { enabled: true, action, message: "Call {{name}}." } }), {
      model: follower,
      context: { name: "us" }
    })
  t.test("when the agent hangs up on machines, then it does, whoever noticed", async (t) => {
    const heard = detecting("hangup")
    heard.send({ _tag: "MachineHeard", verdict: "machine" })
    t.match(heard.conclusion(), { disposition: "voicemail_detected", isVoicemail: true, gathered: { answered_by: "machine" } })
    const said = detecting("hangup")
    said.says("Please leave a message after the tone.")
    t.match(said.conclusion(), { disposition: "voicemail_detected" })
  })
  t.test("when one answers before the agent has begun, then the agent does not wait", async (t) => {
    const early = detecting("hangup", { delayed_start: true, greeting: "Hi." })
    early.send({ _tag: "MachineHeard", verdict: "machine" })
    t.match(early.conclusion(), { disposition: "voicemail_detected" })
    const screened = detecting("hangup", { delayed_start: true, greeting: "Hi." })
    screened.send({ _tag: "MachineHeard", verdict: "screening" })
    t.equal(screened.lines().at(-1), "introduce")
    screened.wait(3000)
    t.equal(screened.lines().at(-1), "introduce")
  })
  t.test("when the agent leaves messages, then it does after the beep, and reports the result", async (t) => {
    const talk = detecting("leave_message")
    talk.send({ _tag: "MachineHeard", verdict: "machine" })
    talk.send({ _tag: "MessageMoment", canSpeak: true })
    t.equal(talk.lines().at(-1), "Call us.")
    t.match(talk.conclusion(), { disposition: "voicemail_detected", gathered: { voicemail_message: "left" } })
    const never = detecting("leave_message")
    never.send({ _tag: "MachineHeard", verdict: "machine" })
    never.wait(90_000)
    t.match(never.conclusion(), { gathered: { voicemail_message: "not_left" } })
  })
  t.test("when it is heard while the context is still being fetched, then the agent acts on that", async (t) => {
    const early = (action: string, context?: JsonObject) => {
      const plan = planOf(definition({ greeting: "Hi." }), { voicemail_detection: { enabled: true, action, message: "Call {{name}}." } })
      const heard = step(plan, fresh(plan), { _tag: "MachineHeard", verdict: "machine" }, 0)
      return context === undefined ? heard : step(plan, heard.state, { _tag: "Started", context }, 0)
    }
    t.match(early("hangup").actions.at(-1), { _tag: "Conclude", conclusion: { isVoicemail: true } }, "at once, if it hangs up")
    const { actions, state } = early("leave_message", { name: "us" })
    t.strictSame([state.phase, actions.some(({ _tag }) => _tag === "Say")], ["message", false])
    t.match(actions.at(-1), { _tag: "AwaitMoment", message: "Call us." })
  })
  t.test("when the machine goes on and nobody else speaks, then the call reached a voicemail", async (t) => {
    const talk = detecting("continue")
    talk.send({ _tag: "MachineHeard", verdict: "machine" })
    talk.send({ _tag: "CalleeHungUp" })
    t.match(talk.conclusion(), { isVoicemail: true })
  })
  t.test("when a service screens calls, then it is told who is calling, and the person is greeted", async (t) => {
    const talk = detecting("hangup")
    talk.says("Please state your name and the reason for your call.")
    t.strictSame(talk.lines(), ["Hi.", "introduce"])
    talk.says("Thank you. Please stay on the line.")
    talk.says("Hello?")
    t.strictSame(talk.lines(), ["Hi.", "introduce", "Hi."])
    talk.says("yes")
    t.equal(talk.lines().at(-1), "At ask.")
  })
  t.test("when a person has been heard, then what they say about messages is theirs, and they are on record as a person", async (t) => {
    for (const turns of [
      ["Ann Miller.", "Hang on, do you want to leave a message?"],
      ["This is Ann.", "She is out, you can leave a message with me.", "Can I take your number?"],
      ["Who is calling?", "Leave your name and number, please.", "Please leave a message after the tone, he says."],
      ["Please stay on the line."],
      ["One moment, I will get her for you.", "Press one? What do you mean?"]
    ]) {
      const talk = detecting("hangup")
      for (const words of turns) talk.says(words)
      t.equal(talk.conclusion(), undefined, turns.join(" "))
      talk.send({ _tag: "CalleeHungUp" })
      t.match(talk.conclusion(), { disposition: "user_hangup", isVoicemail: false, gathered: { answered_by: "human" } }, turns.join(" "))
    }
  })
  t.test("when a mailbox follows words that a mailbox may begin with, then it is found", async (t) => {
    for (const turns of [
      ["Hello?", "You've reached the voicemail of Ann."],
      ["Hi, this is Ann.", "Leave me a message after the beep."],
      ["Hi, you have reached Ann.", "I cannot come to the phone right now.", "Please leave a message."],
      ["Please state your name and the reason for your call.", "Hello?", "Please leave a message after the tone."]
    ]) {
      const talk = detecting("hangup")
      for (const words of turns) talk.says(words)
      t.match(talk.conclusion(), { disposition: "voicemail_detected", isVoicemail: true }, turns.join(" "))
    }
  })
  t.test("when it does not put the call through, then the call ends as screened", async (t) => {
    const talk = detecting("hangup")
    talk.says("Please state your name and the reason for your call.")
    talk.wait(30_000)
    t.match(talk.conclusion(), { disposition: "voicemail_detected", isVoicemail: true })
    t.ok(talk.conclusion()?.tags.includes("screened"))
  })
})

t.test("given what a service keeps in its messages", async (t) => {
  const end = (members: JsonObject): ModelPart => ({ ...finished, ...(finished._tag === "Finished" ? { members } : {}) })
  const withMembers = (name: string): ModelPart => ({
    _tag: "ToolCall",
    call: { id: `${name}-1`, name, arguments: {}, members: { signature: name } }
  })
  const plan = planOf(definition({ greeting: "Hi.", extraction_enabled: true, extraction_variables: [{ name: "seats", type: "number" }] }))
  const replies: Array<ReadonlyArray<ModelPart>> = [
    [text("Well."), end({ state: 1 })],
    [text("Fine."), withMembers("yes"), end({ state: 2 })]
  ]
  const talk = started(plan, {
    model: (request) => (request.purpose === "extract" ? [call("save_variables", {})] : (replies.shift() ?? [text("At last.")]))
  })
  talk.says("hm")
  talk.says("yes")
  const assistants = lastMessages(talk).filter((message) => message._tag === "Assistant")
  const kept = assistants.map(({ members }) => members)
  t.match(kept, [undefined, { state: 1 }, { state: 2 }], "then later requests have it, message by message")
  t.match(assistants[2]?.calls, [{ members: { signature: "yes" } }], "and call by call")
  const asked = talk
    .requests()
    .find(({ purpose }) => purpose === "extract")
    ?.messages.filter((message) => message._tag === "Assistant")
  const extracted = asked?.map(({ members }) => members)
  t.strictSame(extracted, [undefined, { state: 1 }, undefined], "but not where the calls are left out")
  const restoredState = restored(plan, {}, stored(talk.state()))
  t.strictSame(restoredState?.history, talk.state().history, "and it is stored with the conversation")

  const entry = (size: number): Entry => ({
    _tag: "Assistant",
    line: 1,
    text: "a",
    calls: [],
    wasInterrupted: false,
    members: { state: "x".repeat(size) }
  })
  const history = withEntries([], userEntry("u"), entry(60_000), entry(60_000), entry(60_000))
  t.equal(history.length, 4, "it displaces nothing that was said")
  const areKept = history.map((one) => one._tag === "Assistant" && one.members !== undefined)
  t.strictSame(areKept, [false, false, true, true], "and the newest is kept")
})
