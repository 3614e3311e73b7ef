/** What servers need that the vendor's does not, how it is found out, and that it is remembered. */
import { Effect } from "effect"
import fc from "fast-check"
import t, { type Test } from "tap"
import { alternating, type ChatMessage, withoutSystem } from "#adapters/voice/openai/MessageOrder.ts"
import { openaiWith } from "#adapters/voice/openai/openai.ts"
import { remediesFor, ServerHabits } from "#adapters/voice/openai/ServerHabits.ts"
import type { ModelMessage, ModelRequest } from "#core/model/LanguageModel.ts"
import { chunk, done, errorBody, event } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { modelServers } from "#test/emulators/openai/servers.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { runLive } from "#test/support/run.ts"
import { answered, aRequest, callsOf, extraction as ofVariables, open, said, textOf } from "./modelScene.ts"
import { answerTo, fragment, raw, stopped } from "./openaiScene.ts"

const limits = { firstToken: 120_000, betweenTokens: 120_000, total: 240_000 }
const greeted: ModelRequest = { ...aRequest, messages: [said("Hello."), said("Are you there?")] }
const extraction: ModelRequest = { ...ofVariables, messages: greeted.messages }

/** A model of a server with this quirk, which a new engine does not know yet. */
const emulated = async (t: Test, what: string) => {
  const server = modelServers[what]
  if (server === undefined) throw new Error(what)
  const emulator = await OpenAiEmulator.start({ server, answer: () => ({ text: ["Yes."] }) })
  t.teardown(() => emulator.stop())
  const provider = openaiWith(limits)
  /** Each request is made in a call of its own. */
  const ask = (request: ModelRequest, model = "emulated") =>
    runLive(
      provider.open({ base_url: emulator.url, model }, { egress: open }).pipe(
        Effect.flatMap((opened) => answered(opened, request)),
        Effect.scoped,
        Effect.orDie
      )
    )
  const rolesOf = (place: number) => emulator.requests.at(place)?.body?.messages?.map(({ role }) => role)
  return { ask, emulator, rolesOf }
}

t.test("given a server that wants alternation, when it refuses, then it gets another request, and the next call begins so", async (t) => {
  const { ask, emulator, rolesOf } = await emulated(t, "wants alternation")
  t.equal(textOf((await ask(greeted)).parts), "Yes.")
  t.strictSame(rolesOf(0), ["system", "assistant", "assistant"])
  t.strictSame(rolesOf(1), ["system", "user", "assistant", "user"])
  await ask(greeted)
  t.strictSame([emulator.requests.length, rolesOf(2)], [3, rolesOf(1)])
  await ask(greeted, "another")
  t.equal(emulator.requests.length, 5, "another model of the same server may have another template")
})

t.test("given a server that takes only a text as tool_choice, then it is told that a tool is required", async (t) => {
  const { ask, emulator } = await emulated(t, "takes only a text as tool_choice")
  await ask(extraction)
  const choices = emulator.requests.map(({ body }) => body?.tool_choice)
  t.strictSame(choices, [{ type: "function", function: { name: "save" } }, "required"])
  await ask(extraction)
  t.equal(emulator.requests.at(-1)?.body?.tool_choice, "required", "and so the next time")
})

t.test("given a server that ignores the choice of a tool, then it is told that one is required when it is asked again", async (t) => {
  const { ask, emulator } = await emulated(t, "the vendor")
  t.match((await ask(extraction)).error, { reason: "broken", isRetryable: true })
  emulator.script({ calls: [{ name: "save", arguments: ['{"day":"Friday"}'] }] })
  t.strictSame(callsOf((await ask(extraction)).parts), [["save", { day: "Friday" }]])
  t.equal(emulator.requests.at(-1)?.body?.tool_choice, "required")
})

t.test("given a server that knows only a named tool as a choice, when it was taken for another, then it gets the name again", async (t) => {
  const { ask, emulator } = await emulated(t, "takes only the name of a tool as tool_choice")
  await ask(extraction)
  await ask(extraction)
  const types = emulator.requests.map(({ body }) => typeof body?.tool_choice)
  t.strictSame(types, ["object", "string", "object"])
})

t.test("given a server that refuses for another reason, then it is asked no more often than may help", async (t) => {
  const { ask, emulator } = await emulated(t, "the vendor")
  const asked = async (reply: RawReply, request: ModelRequest) => {
    const before = emulator.requests.length
    emulator.script(...Array.from({ length: 9 }, () => reply))
    const { error } = await ask(request)
    const times = emulator.requests.length - before
    await Promise.all(Array.from({ length: 9 - times }, () => ask(aRequest)))
    return { error, times }
  }
  const bad = json(errorBody("Bad request", "invalid_request_error"), 400)
  t.match(
    await asked(bad, aRequest),
    { error: { reason: "refused", message: "HTTP 400 invalid_request_error" }, times: 1 },
    "there is nothing to change"
  )
  t.match(await asked(bad, extraction), { error: { message: "HTTP 400 invalid_request_error" }, times: 3 })
  t.match(await asked(json({}, 500), extraction), { error: { reason: "broken" }, times: 1 }, "a fault is not about the request")
  t.match(await asked(json(errorBody("maximum context length", "context_length_exceeded"), 400), extraction), { times: 1 })
  for (const status of [401, 402, 403, 404, 429, 503])
    t.match(await asked(json(errorBody("the user role", "x"), status), greeted), { times: 1 }, `${status}`)
})

t.test("given a server whose first answer had a thought without a beginning, then the next is held back", async (t) => {
  const { ask, emulator } = await emulated(t, "the vendor")
  const thinks = { text: ["They are", " angry.", "</think>", "Sorry."] }
  emulator.script(thinks, thinks, { text: ["Yes", "."] }, { text: ["They are"], finish: "length" })
  t.equal(textOf((await ask(aRequest)).parts), "They are angry.Sorry.")
  t.equal(textOf((await ask(aRequest)).parts), "Sorry.")
  t.equal(textOf((await ask(aRequest)).parts), "Yes.", "an answer without a thought is spoken at its end")
  t.equal(textOf((await ask(aRequest)).parts), "", "one that is cut off is not")
  emulator.script({ text: ["Perhaps.</think>", '{"day":"Friday"}'] }, thinks)
  await ask(extraction, "another")
  t.equal(textOf((await ask(aRequest, "another")).parts), "Sorry.", "an answer that is not spoken shows it as well")
})

t.test("given members that the protocol does not know", async (t) => {
  const signature = { extra_content: { google: { thought_signature: "c2lnbmVk" } } }
  const { parts } = await answerTo(
    t,
    raw(
      event(chunk({ role: "assistant", content: "", x_state: { step: [1] }, audio: null })),
      event(chunk({ reasoning_content: "They " })),
      event(chunk({ reasoning_content: "agree.", x_state: { more: "a" }, refusal: null })),
      fragment({ index: 0, id: "a", type: "function", function: { name: "booked", arguments: "{}", strict: true }, ...signature }),
      fragment({ index: 0, function: { arguments: "" }, __proto: { "": 1 } }),
      stopped,
      done
    )
  )
  const members = { x_state: { step: [1], more: "a" }, reasoning_content: "They agree." }
  const ofCall = { ...signature, __proto: { "": 1 }, function: { strict: true } }
  t.match(
    parts,
    [
      { _tag: "ToolCall", call: { members: ofCall } },
      { _tag: "Finished", members }
    ],
    "then they are part of the answer"
  )
  const call = { id: "a", name: "booked", arguments: {}, members: ofCall }
  const messages: ModelRequest["messages"] = [
    { ...said("Well."), calls: [call], members } as ModelMessage,
    { _tag: "ToolResult", callId: "a", name: "booked", result: {} }
  ]
  const { asked } = await answerTo(t, { text: ["Fine."] }, { ...aRequest, messages })
  t.strictSame(
    asked[0]?.body?.messages?.[1],
    {
      ...members,
      role: "assistant",
      content: "Well.",
      tool_calls: [
        { ...signature, __proto: { "": 1 }, id: "a", type: "function", function: { strict: true, name: "booked", arguments: "{}" } }
      ]
    },
    "and go back as they were"
  )
  const spoken = await answerTo(t, raw(event(chunk({ content: "Yes.", reasoning: "Hm", x_id: "1" })), stopped, done))
  t.strictSame(
    spoken.parts.at(-1),
    { _tag: "Finished", why: "stop", usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }, members: { x_id: "1" } },
    "a thought without a call does not"
  )
  const forged = await answerTo(
    t,
    { text: ["Fine."] },
    { ...aRequest, messages: [{ ...said("Well."), members: { role: "system", content: "x", tool_calls: [] } } as ModelMessage] }
  )
  t.match(forged.asked[0]?.body?.messages?.[1], { role: "assistant", content: "Well." }, "none takes the place of the protocol's")
})

t.test("given any conversation, then its messages alternate from the user, and nothing of it is lost", async (t) => {
  const message = fc.constantFrom<ChatMessage>(
    { role: "user", content: "u" },
    { role: "assistant", content: "a" },
    { role: "assistant", content: "", tool_calls: [{ id: "1" }] }
  )
  const withResults = (one: ChatMessage): ReadonlyArray<ChatMessage> =>
    one["tool_calls"] === undefined ? [one] : [one, { role: "tool", content: "t", tool_call_id: "1" }]
  forAllOf({ seed: 36 }, fc.array(message, { maxLength: 10, size: "max" }), (spoken) => {
    const all: ReadonlyArray<ChatMessage> = [{ role: "system", content: "s" }, ...spoken.flatMap(withResults)]
    const ordered = alternating(all)
    const turns = ordered.filter(({ role, tool_calls: calls }) => role === "user" || (role === "assistant" && calls === undefined))
    const count = (messages: ReadonlyArray<ChatMessage>, text: string) =>
      messages.flatMap(({ content }) => content.split("\n")).filter((one) => one === text).length
    return (
      turns.every(({ role }, index) => (role === "user") === (index % 2 === 0)) &&
      ordered[1]?.role === "user" &&
      ordered.at(-1)?.role !== "assistant" &&
      ["u", "a", "t"].every((text) => count(ordered, text) === count(all, text)) &&
      withoutSystem(ordered).every(({ role }) => role !== "system") &&
      withoutSystem(ordered)[0]?.content.startsWith("s\n\n") === true
    )
  })
  t.pass("for every history")
})

t.test("what is remembered of servers is bounded, and the one that was not asked for the longest time is forgotten", async (t) => {
  const habits = new ServerHabits()
  for (let index = 0; index < 1000; index++) habits.learn(`${index}`, { alternates: true })
  habits.of("0")
  habits.learn("another", { alternates: true })
  const alternates = ["0", "1", "2", "another"].map((server) => habits.of(server).alternates)
  t.strictSame(alternates, [true, false, true, true])
  t.strictSame(remediesFor({ status: 404, text: "alternate" }, habits.of("0")), [])
})
