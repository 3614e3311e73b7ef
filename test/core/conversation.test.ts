/** The rules of an agent's conversation, one by one, without audio. */
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import type { ConversationEvent } from "#core/agent/conversation/ConversationState.ts"
import { ConversationRecord } from "#core/conversation/ConversationRecord.ts"
import { call, planOf, type ScriptedModel, started, type Talk, talkStart, text } from "#test/support/talk.ts"
import { definition, edge, follower, lastMessages, node, scripted, spoken, tagsOf } from "#test/support/talkScript.ts"

const visited = (talk: Talk) => talk.conclusion()?.gathered["nodes_visited"]

t.test("given a graph, when the callee answers, then the agent follows it to its end", async (t) => {
  const talk = started(planOf(definition({ greeting: "Hello {{name}}." })), { model: follower, context: { name: "Ada" } })
  talk.says("yes")
  talk.says("done")
  t.strictSame(talk.lines(), ["Hello Ada.", "At ask.", "At bye."])
  t.match(talk.conclusion(), { disposition: "user_qualified", tags: ["user_qualified", "user_speech"], isVoicemail: false })
  t.strictSame(visited(talk), ["start", "ask", "bye"])
  t.equal(tagsOf(talk).filter((tag) => tag === "HangUp").length, 1)
  t.equal(tagsOf(talk).at(-1), "Conclude")
})

t.test("given a tool that cannot be opened, then the conversation reports it, and continues without it", async (t) => {
  const plan = { ...planOf(definition({ greeting: "Hello." })), unreadableTools: ["Look up"] }
  const talk = started(plan, { model: follower })
  const note = { _tag: "ToolUnreadable", name: "Look up" } as const
  t.strictSame(talk.actions.filter((action) => action._tag === "Note")[0], { _tag: "Note", note })
  t.strictSame(talk.lines(), ["Hello."])
  const record = new ConversationRecord({ keepsTranscript: false, timeZone: "UTC" })
  const payload = { error: "The tool Look up cannot be opened with the key of this installation", fatal: false, processor: "tools" }
  t.match(record.take({ _tag: "Noted", note, at: 0 }), [{ kind: "event", content: { type: "rtf-pipeline-error", payload } }])
  const failed = { error: "The variables of start could not be extracted", fatal: false, processor: "extraction" }
  t.match(record.take({ _tag: "Noted", note: { _tag: "ExtractionFailed", node: plan.graph.start }, at: 0 }), [
    { content: { payload: failed } }
  ])
})

t.test("given the opening", async (t) => {
  const opens = (start: JsonObject, context: JsonObject, ...lines: ReadonlyArray<string>) =>
    t.strictSame(started(planOf(definition(start)), { model: follower, context }).lines(), lines)
  opens({ greeting: "Hi." }, { greeting_override: { type: "text", text: "Dear {{name}}." }, name: "Bo" }, "Dear Bo.")
  opens({ greeting: "Hi." }, { greeting_override: "nonsense" }, "Hi.")
  opens({}, {}, "At start.")
  opens({ greeting_type: "audio", greeting_recording_id: "7" }, {}, `[${JSON.stringify({ _tag: "Id", id: 7 })}]`)

  t.test("when its recording cannot be played, then the contact's gives way to the text, and the node's to the model", async (t) => {
    const fails = (start: JsonObject, context: JsonObject) => {
      const talk = started(planOf(definition(start)), { model: follower, context, holdsLines: true })
      talk.send({ _tag: "LineFailed", line: talk.state().lines[0]?.id ?? 0 })
      return talk.lines().at(-1)
    }
    t.equal(fails({ greeting: "Hi." }, { greeting_override: { type: "audio", recording_id: "ra" } }), "Hi.")
    t.equal(fails({ greeting_type: "audio", greeting_recording_id: "7" }, {}), "At start.")
  })

  t.test("when the start is delayed, then what the callee says meanwhile is known, and not answered", async (t) => {
    const talk = started(planOf(definition({ delayed_start: true, delayed_start_duration: 3 })), { model: follower })
    talk.says("Hello?")
    talk.wait(2900)
    t.strictSame(talk.lines(), [])
    talk.wait(200)
    t.strictSame(talk.lines(), ["At start."])
    t.match(talk.requests()[0]?.messages, [{ _tag: "User", text: "Hello?" }])
  })
})

t.test("given a node, then its prompt and tools replace the previous ones", async (t) => {
  const graph = definition({ add_global_prompt: true })
  const plan = planOf({
    ...graph,
    nodes: [...(Array.isArray(graph["nodes"]) ? graph["nodes"] : []), node("g", "globalNode", { prompt: "You are {{who}}." })]
  })
  const talk = started(plan, { model: follower, context: { who: "Ada" } })
  talk.says("yes")
  talk.says("done")
  const told = talk.requests().map(({ instructions, node: { id }, tools }) => [id, instructions, tools.map(({ name }) => name).join(" ")])
  t.strictSame(told, [
    ["start", "You are Ada.\n\nPrompt of start.", "yes no opt_out"],
    ["start", "You are Ada.\n\nPrompt of start.", "yes no opt_out"],
    ["ask", "Prompt of ask.", "done opt_out"],
    ["ask", "Prompt of ask.", "done opt_out"],
    ["bye", "Prompt of bye.", ""]
  ])
})

t.test("given a transition", async (t) => {
  t.test("when it has a speech, then it is said first, rendered, without interruption, and not told to the model", async (t) => {
    const talk = started(planOf(definition({}, {}, { transition_speech: "Fine, {{name}}." })), {
      model: follower,
      context: { name: "Ada" }
    })
    talk.says("yes")
    t.strictSame(talk.lines(), ["At start.", "Fine, Ada.", "At ask."])
    t.match(talk.actions, { ...[], length: talk.actions.length })
    t.ok(talk.actions.some((action) => action._tag === "Say" && action.text === "Fine, Ada." && !action.isInterruptible))
    t.notOk(JSON.stringify(lastMessages(talk)).includes("Fine"))
    t.match(lastMessages(talk).at(-1), { _tag: "ToolResult", name: "yes", result: { status: "done" } })
  })

  t.test("when text comes with it, then it waits until the text has been heard", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), {
      model: scripted([text("Good."), call("yes")], [text("Now.")]),
      holdsLines: true
    })
    spoken(talk)
    talk.says("sure")
    t.equal(talk.state().nodeId, "start")
    spoken(talk)
    t.equal(talk.state().nodeId, "ask")
    t.equal(talk.lines().at(-1), "Now.")
  })

  t.test("when the callee interrupts that text, then it is not followed, and the model hears why", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), {
      model: scripted([text("Good then."), call("yes")], [text("Oh.")]),
      holdsLines: true
    })
    spoken(talk)
    talk.says("sure")
    talk.send({ _tag: "CalleeStarted" })
    talk.send({ _tag: "LineInterrupted", line: talk.state().lines[0]?.id ?? 0, heard: "Good" })
    t.equal(talk.requests().length, 1, "the callee is still speaking")
    talk.send({ _tag: "CalleeTurn", text: "No, wait" })
    t.equal(talk.state().nodeId, "start")
    t.match(lastMessages(talk), [
      { text: "Hi." },
      { text: "sure" },
      { text: "Good", wasInterrupted: true, calls: [{ name: "yes" }] },
      { result: { status: "cancelled" } },
      { text: "No, wait" }
    ])
  })

  t.test("when two come at once, or an unknown one, then the first is followed and the others are refused", async (t) => {
    const talk = started(planOf(definition()), {
      model: scripted([text("Hi.")], [call("nothing"), call("yes"), call("no")], [text("Next.")])
    })
    talk.says("well")
    t.equal(talk.state().nodeId, "ask")
    t.match(
      lastMessages(talk)
        .slice(-3)
        .map((message) => (message._tag === "ToolResult" ? message.result["status"] : "")),
      ["error", "done", "error"]
    )
  })
})

t.test("given a model that fails", async (t) => {
  const meets = (...replies: ReadonlyArray<ReturnType<ScriptedModel>>) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: scripted(...replies) })
    talk.says("one")
    talk.wait(60_000 - 1)
    return talk
  }
  const sorry = "Sorry, I did not get that. Could you say it again?"
  t.test("when it fails once, says nothing or hangs, then it is asked again", async (t) => {
    for (const first of ["fails", [], [text(" \n")]] as const) {
      const [greeting, answer] = meets(first, [text("Fine.")]).lines()
      t.strictSame([greeting, answer], ["Hi.", "Fine."])
    }
    const hung = meets("hangs", [text("Fine.")]).lines()
    t.equal(hung.at(1), "One moment, please.")
    t.ok(hung.includes("Fine."))
  })
  t.test("when it fails again, then the callee is asked to repeat, and after the second time the call ends politely", async (t) => {
    const talk = meets("fails", "fails", "fails", "fails")
    t.strictSame(talk.lines().slice(0, 2), ["Hi.", sorry])
    talk.says("two")
    t.match(talk.conclusion(), { disposition: "pipeline_error" })
    t.match(talk.lines().at(-1), /Goodbye/)
  })
  t.test("when it refuses for good, then the request is not repeated", async (t) => {
    t.equal(meets("refuses", "hangs").lines().at(1), sorry)
  })
  t.test("when it breaks off, then what was said stands, and none of its tool calls is run", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: scripted("hangs") })
    talk.says("go")
    const generation = talk.state().answer?.generation ?? 0
    for (const part of [text("Well"), call("yes")]) talk.send({ _tag: "ModelSaid", generation, part })
    talk.send({ _tag: "ModelFailed", generation, isRetryable: true })
    t.equal(talk.state().nodeId, "start")
    t.equal(talk.lines().at(-1), "Well")
    t.equal(talk.requests().length, 1)
  })
  t.test("when it falls silent in the middle, then what was said stands, and the line is whole", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: scripted("hangs") })
    talk.says("go")
    const generation = talk.state().answer?.generation ?? 0
    talk.send({ _tag: "ModelSaid", generation, part: text("Well") })
    const line = talk.state().lines[0]?.id ?? 0
    talk.send({ _tag: "LineSpoken", line })
    t.equal(talk.state().lines.length, 1, "more of it may come")
    talk.wait(12_000)
    t.match(talk.actions.filter((action) => action._tag === "Say" && action.line === line).at(-1), { isLast: true })
    t.strictSame(talk.state().lines, [])
    t.ok(tagsOf(talk).includes("DropModel"))
  })
  t.test("when it calls tools without end, then it is stopped", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), {
      model: () => [call("nothing")]
    })
    talk.says("go")
    t.equal(talk.requests().length, 8)
    t.equal(talk.lines().at(-1), sorry)
  })
  t.test("when it walks in circles without the callee, then it is stopped", async (t) => {
    const circle = {
      nodes: [node("s", "startCall"), node("a", "agentNode"), node("b", "agentNode")],
      edges: [edge("s", "a", "go"), edge("a", "b", "go"), edge("b", "a", "go")]
    }
    const talk = started(planOf(circle), { model: ({ tools }) => (tools.length > 0 ? [call("go")] : [text("x")]) })
    for (let turn = 0; turn < 20; turn++) talk.says(`and ${turn}`)
    t.match(talk.conclusion(), { disposition: "pipeline_error" })
    t.ok(talk.state().entries <= 51)
  })
})

t.test("given a callee", async (t) => {
  t.test("when they are silent, then they are asked once, then told goodbye; any word restarts the count", async (t) => {
    const talk = started(planOf(definition()), { model: follower })
    talk.wait(10_000)
    t.equal(talk.lines().at(-1), "check_in")
    talk.says("yes I am")
    talk.wait(10_000)
    t.equal(talk.lines().at(-1), "check_in")
    talk.wait(10_000)
    t.equal(talk.lines().at(-1), "farewell")
    t.match(talk.conclusion(), { disposition: "user_idle_max_duration_exceeded" })
  })
  t.test("when they keep speaking while the model thinks, then it is asked about everything", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: () => "hangs" })
    talk.says("Yes.")
    talk.says("But why?")
    t.match(lastMessages(talk), [{ text: "Hi." }, { text: "Yes." }, { text: "But why?" }])
    t.equal(tagsOf(talk).filter((tag) => tag === "DropModel").length, 1)
  })
  t.test("when noise cuts an answer off, then it is made again", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: follower, holdsLines: true })
    spoken(talk)
    talk.says("well")
    talk.send({ _tag: "LineInterrupted", line: talk.state().lines[0]?.id ?? 0, heard: "" })
    talk.send({ _tag: "CalleeTurn", text: " " })
    t.match(lastMessages(talk), [{ text: "Hi." }, { text: "well" }])
    t.equal(talk.requests().length, 2)
  })
  t.test("when they speak into a line that cannot be interrupted, then it is noted but not answered", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi.", allow_interrupt: false })), { model: follower, holdsLines: true })
    talk.says("Hello?")
    t.strictSame(talk.requests(), [])
    spoken(talk)
    talk.says("well")
    t.match(lastMessages(talk), [{ text: "Hi." }, { text: "Hello?" }, { text: "well" }])
  })
  t.test("when they press keys, then a choice counts at once and a number when they stop", async (t) => {
    const menu = started(planOf(definition({ greeting: "Hi." })), { model: follower })
    menu.send({ _tag: "KeyPressed", digit: "2" })
    t.match(lastMessages(menu).at(-1), { _tag: "User", text: "2", isKeyed: true })
    const asks = { extraction_enabled: true, extraction_variables: [{ name: "zip", type: "string" }] }
    const number = started(planOf(definition({ greeting: "Hi.", ...asks })), { model: follower })
    for (const digit of "123") number.send({ _tag: "KeyPressed", digit })
    t.equal(number.requests().length, 0)
    number.wait(1500)
    t.match(lastMessages(number).at(-1), { text: "123", isKeyed: true })
    for (const digit of "45#") number.send({ _tag: "KeyPressed", digit })
    t.match(lastMessages(number).at(-1), { text: "45", isKeyed: true })
  })
  t.test("when they ask not to be called again, then it is recorded at once, and no conclusion of the model hides it", async (t) => {
    const asks = { extraction_enabled: true, extraction_variables: [{ name: "call_disposition", type: "string" }] }
    const talk = started(planOf(definition({ greeting: "Hi.", ...asks })), {
      model: ({ purpose }) => (purpose === "extract" ? [call("save_variables", { call_disposition: "happy" })] : [text(purpose)])
    })
    talk.says("Please stop calling me.")
    t.ok(tagsOf(talk).indexOf("OptOut") < tagsOf(talk).indexOf("AskModel"))
    t.equal(talk.lines().at(-1), "farewell")
    t.match(talk.conclusion(), { disposition: "user_disqualified", tags: ["user_disqualified", "opted_out", "user_speech"] })
  })
  t.test("when they say so again, then it is recorded once, and the goodbye continues", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: () => "hangs" })
    talk.says("Stop calling me.")
    talk.says("Did you hear? Stop calling me!")
    t.equal(tagsOf(talk).filter((tag) => tag === "OptOut").length, 1)
    t.equal(tagsOf(talk).filter((tag) => tag === "AskModel").length, 1)
    talk.wait(12_000)
    t.match(talk.conclusion(), { disposition: "user_disqualified" })
    t.match(talk.lines().at(-1), /Goodbye/)
  })
  t.test("when the model notices it, then it is recorded while it still speaks", async (t) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), {
      model: scripted([text("I see."), call("opt_out")], [text("Bye.")]),
      holdsLines: true
    })
    spoken(talk)
    talk.says("laissez-moi tranquille")
    t.ok(tagsOf(talk).includes("OptOut"))
    t.equal(talk.conclusion(), undefined)
    spoken(talk)
    spoken(talk)
    t.match(talk.conclusion(), { disposition: "user_disqualified" })
  })
})

t.test("given several ends, then the first counts", async (t) => {
  const ends = (events: ReadonlyArray<ConversationEvent>, disposition: string, hangUps: number) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: () => "hangs" })
    for (const event of events) talk.send(event)
    t.match(talk.conclusion(), { disposition })
    t.equal(tagsOf(talk).filter((tag) => tag === "HangUp").length, hangUps)
  }
  ends([{ _tag: "CalleeHungUp" }, { _tag: "EndRequested", reason: "system_cancelled" }], "user_hangup", 0)
  ends([{ _tag: "EndRequested", reason: "system_cancelled" }, { _tag: "CalleeHungUp" }], "system_cancelled", 1)
  const leaving = (event: ConversationEvent) => {
    const talk = started(planOf(definition({ greeting: "Hi." })), { model: scripted([call("no")], [text("Bye.")]), holdsLines: true })
    spoken(talk)
    talk.says("no")
    t.equal(talk.conclusion(), undefined, "the goodbye is still being spoken")
    talk.send(event)
    t.match(talk.conclusion(), { disposition: "user_qualified" })
  }
  leaving({ _tag: "CalleeHungUp" })
  leaving({ _tag: "EndRequested", reason: "system_cancelled" })
  const late = started(planOf(definition({ greeting: "Hi." }), { max_call_duration: 30, max_user_idle_timeout: 60 }), { model: follower })
  late.wait(30_000)
  t.match(late.conclusion(), { disposition: "call_duration_exceeded" })
})

t.test("given lines that cannot be spoken, then the call does not stay open in silence", async (t) => {
  const talk = started(planOf(definition()), { model: follower, holdsLines: true })
  for (let tries = 0; tries < 3; tries++) talk.send({ _tag: "LineFailed", line: talk.state().lines[0]?.id ?? 0 })
  t.match(talk.conclusion(), { disposition: "pipeline_error" })
  const lost = started(planOf(definition({ greeting: "Hi." }, {}, {}), { max_user_idle_timeout: 5 }), { model: follower, holdsLines: true })
  lost.wait(60_000)
  t.ok(lost.lines().includes("check_in"), "a line that nobody reports does not hold it up")
})

t.test("given a turn that may not be over, when it is speculated on, then nothing is done, and the request is the same", async (t) => {
  const { step } = await import("#core/agent/conversation/Conversation.ts")
  const plan = planOf(definition({ greeting: "Hi." }))
  const talk = started(plan, { model: follower })
  const event: ConversationEvent = { _tag: "CalleeTurn", text: "yes" }
  const ahead = step(plan, talk.state(), event, talkStart)
  const done = ahead.actions.map(({ _tag }) => _tag).filter((tag) => !tag.endsWith("Timer"))
  t.strictSame(done, ["AskModel"])
  const [asked] = ahead.actions.flatMap((action) => (action._tag === "AskModel" ? [action.request] : []))
  talk.send(event)
  t.strictSame(talk.requests()[0], asked)
})
