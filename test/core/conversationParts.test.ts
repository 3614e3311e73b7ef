/** What conversations are made of: arithmetic, callback times, wordings, typed variables, tool requests, compiled graphs. */
import fc from "fast-check"
import t from "tap"
import { calculate } from "#core/agent/conversation/Calculator.ts"
import { callbackOf } from "#core/agent/conversation/Callback.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { compileTools, toolsAt } from "#core/agent/conversation/ConversationTool.ts"
import { extractedFrom } from "#core/agent/conversation/Extraction.ts"
import { farEndOf, type PersonHeard, personIn } from "#core/agent/conversation/FarEnd.ts"
import { isOptOut } from "#core/agent/conversation/Heard.ts"
import { httpRequestOf, resultOf } from "#core/agent/conversation/HttpTool.ts"
import { renderUrl } from "#core/agent/conversation/UrlTemplate.ts"
import type { JsonObject } from "#core/Json.ts"
import { forAll } from "#test/support/forAll.ts"
import { storedTool, talkStart, toolUuid } from "#test/support/talk.ts"
import { edge, node } from "#test/support/talkScript.ts"

t.test("given arithmetic", async (t) => {
  const check = (expression: string, value: number) => t.strictSame(calculate(expression), { value }, expression)
  check("1 + 2 * 3", 7)
  check("(1 + 2) * 3", 9)
  check("-2 ** 2", -4)
  check("2 ** 3 ** 2", 512)
  check("2 ** -1", 0.5)
  check("-7 % 3", 2)
  check("0.1 + 0.2", 0.3)
  check("1.5e3/.5", 3000)
  check("123456789012345 + 1", 123456789012346)
  const refuses = (expression: string, error: RegExp) => t.match(calculate(expression), { error }, expression)
  refuses("1 / 0", /zero/)
  refuses("9 ** 9 ** 9", /too large/)
  refuses("process.exit(1)", /not arithmetic/)
  refuses("1 +", /not arithmetic/)
  refuses("(1", /not closed/)
  refuses("1 1", /not arithmetic/)
  refuses("", /not arithmetic/)
  refuses("(".repeat(100), /nested/)
  refuses("-".repeat(150), /nested/)
  refuses("1+".repeat(200), /more than/)
  forAll(fc.string({ unit: fc.constantFrom(..."0123456789+-*/%(). e") }), (text) => typeof calculate(text) === "object")
})

t.test("given a time to call back, in the words of the callee", async (t) => {
  // Thursday, 5 March 2026, 10:00 in New York. Summer time begins on the 8th.
  const check = (text: string, local: string | undefined) => t.equal(callbackOf(text, talkStart, "America/New_York")?.local, local, text)
  check("2026-03-09T15:30", "2026-03-09T15:30:00-04:00")
  check("2026-03-09 15:30:00+01:00", "2026-03-09T10:30:00-04:00")
  check("2026-03-06T12:00:00Z", "2026-03-06T07:00:00-05:00")
  check("tomorrow at 3", "2026-03-06T15:00:00-05:00")
  check("Tomorrow at 3 p.m.", "2026-03-06T15:00:00-05:00")
  check("tomorrow at 9", "2026-03-06T09:00:00-05:00")
  check("tomorrow morning", "2026-03-06T10:00:00-05:00")
  check("tomorrow evening at 8", "2026-03-06T20:00:00-05:00")
  check("Monday at half past ten", "2026-03-09T10:30:00-04:00")
  check("Thursday at noon", "2026-03-12T12:00:00-04:00")
  check("next Tuesday, quarter to four", "2026-03-10T15:45:00-04:00")
  check("the day after tomorrow at 17:45", "2026-03-07T17:45:00-05:00")
  check("March 20th at 2:15 pm", "2026-03-20T14:15:00-04:00")
  check("20 March at eleven", "2026-03-20T11:00:00-04:00")
  check("in two hours", "2026-03-05T12:00:00-05:00")
  check("in an hour and a half", "2026-03-05T11:30:00-05:00")
  check("in half an hour", "2026-03-05T10:30:00-05:00")
  check("in three days at two o'clock", "2026-03-08T14:00:00-04:00")
  check("at 4 pm", "2026-03-05T16:00:00-05:00")
  check("9 am", "2026-03-06T09:00:00-05:00")
  check("five thirty pm", "2026-03-05T17:30:00-05:00")
  for (const none of [
    "",
    "later",
    "call me",
    "tomorrow",
    "yesterday at 3",
    "not tomorrow at 3",
    "three in the morning",
    "today at 8 am",
    "2026-02-30T10:00",
    "2020-01-01T10:00",
    "13 pm",
    "tomorrow at 25:00"
  ]) {
    check(none, undefined)
  }
  t.equal(callbackOf("tomorrow at 3", talkStart, "Mars/Base"), undefined)
  t.test("then it is never past, and never at night unless the night was named", async () => {
    const words = fc.array(
      fc.constantFrom("at", "tomorrow", "monday", "half", "past", "three", "eleven", "5", "12", "8:15", "morning", "oclock", "in", "to")
    )
    forAll(words, (said) => {
      const time = callbackOf(said.join(" "), talkStart, "America/New_York")
      const hour = Number(time?.local.slice(11, 13) ?? 12)
      return time === undefined || (time.at > talkStart && hour >= 6 && hour < 22)
    })
  })
})

t.test("given a sentence, then an opt-out is distinguished from a wish to be called at another time", async (t) => {
  for (const text of [
    "Stop calling me!",
    "please don't call me again",
    "Do not ever call this number again.",
    "Take me off your calling list.",
    "Remove my number from your list please",
    "Put me on your do-not-call list",
    "I would like to opt out",
    "I told you to stop calling",
    "Don’t call me anymore, thanks"
  ]) {
    t.ok(isOptOut(text), text)
  }
  for (const text of [
    "Don't call me before six",
    "don't call me at work, call me at home",
    "Stop calling me Bob",
    "Please call me again tomorrow",
    "do not call me again until Monday",
    "I never said you should call",
    "I'm not interested",
    "can you take my name and number",
    ""
  ]) {
    t.notOk(isOptOut(text), text)
  }
})

t.test("given a sentence, then machines are distinguished from people", async (t) => {
  const farOf = (text: string, person?: PersonHeard, isScreened = false) => farEndOf(text, { isScreened, person })
  const check = (text: string, far: string | undefined) => t.equal(farOf(text), far, text)
  check("Hi. If you record your name and reason for calling, I'll see if this person is available.", "screening")
  check("Please state your name and why you're calling.", "screening")
  check("Would you please state your name and the reason for your call?", "screening")
  check("Please leave your message after the tone.", "machine")
  check("Can't reach me? Leave a message.", "machine")
  check("I'll call you as soon as I can, please leave a message.", "machine")
  check("Would you please leave a message after the beep?", "machine")
  check("Tell us who is calling and what is wrong after the tone.", "machine")
  check("If you'd like us to call you back, leave a message.", "machine")
  check("Do you want to leave a message after the tone?", undefined)
  check("The person you are trying to reach is not available.", "machine")
  check("You've reached the voicemail of Jo.", "machine")
  check("For sales, press 1.", "menu")
  check("Hello, who is this?", undefined)
  check("He's not available right now.", undefined)
  check("I got your voicemail yesterday", undefined)
  const people = [
    "Hang on, do you want to leave him a message?",
    "hang on do you want to leave a message",
    "Would you like to leave a message?",
    "She is out, can I take your number?",
    "The person you are trying to reach is not available, can I take a message?",
    "The person you are calling is not available. May I take your name and number?",
    "You could leave a message with me, should I write it down?",
    "Leave a message? With me?",
    "Can you tell me why you are calling?",
    "Do you want me to press one?",
    "Please stay on the line.",
    "Thank you, please hold."
  ]
  for (const text of people) check(text, undefined)
  const checkAfter = (person: PersonHeard, text: string, far: string | undefined) =>
    t.equal(farOf(text, person), far, `${text}, after a ${person}`)
  for (const text of ["You can leave a message with my wife.", "Press one of them.", "Tell me why you're calling.", ...people]) {
    checkAfter("name", text, undefined)
    checkAfter("talk", text, undefined)
  }
  checkAfter("name", "Please leave your message after the tone.", "machine")
  checkAfter("talk", "You leave your message after the tone, he never listens to it.", undefined)
  const checkScreened = (text: string, far: string | undefined) => t.equal(farOf(text, undefined, true), far, `${text}, while screened`)
  checkScreened("Thank you. Please stay on the line.", "screening")
  checkScreened("Can you tell me why you are calling?", "screening")
  checkScreened("They are not available, would you like to leave a message?", "machine")
  checkScreened("Hello?", undefined)
})

t.test("given a sentence, then it shows a person or may still be a machine's", async (t) => {
  const check = (text: string, person: PersonHeard | undefined) => t.equal(personIn(text), person, text)
  check("Hello?", undefined)
  check("Hi, good morning.", undefined)
  check("", undefined)
  check("Please leave a message after the tone.", undefined)
  check("Hi, you've reached the Smiths, we cannot come to the phone right now.", undefined)
  check("I'm not here right now but I will get back to you.", undefined)
  check("Ann Smith.", "name")
  check("Hi, this is Ann.", "name")
  check("Please stay on the line.", "name")
  check("Who is this?", "talk")
  check("Do you want to leave him a message", "talk")
  check("I was just about to go out with the dog.", "talk")
})

t.test("given what a model extracted, then each value has its type or is refused", async (t) => {
  const variables = (["string", "number", "boolean"] as const).map((type) => ({ name: type, type, prompt: "" }))
  const check = (answer: JsonObject | string, values: JsonObject, refused: ReadonlyArray<string> = []) =>
    t.strictSame(extractedFrom({ prompt: "", variables }, answer), { values, refused }, JSON.stringify(answer))
  check({ string: "a", number: 1, boolean: false }, { string: "a", number: 1, boolean: false })
  check({ number: "1,250.5", boolean: "Yes", string: 7 }, { string: "7", number: 1250.5, boolean: true })
  check({ number: "", string: null, boolean: undefined }, {})
  check({ number: "12 seats", boolean: "maybe", string: ["a"] }, {}, ["string", "number", "boolean"])
  check({ number: Number.POSITIVE_INFINITY }, {}, ["number"])
  check({ number: "0x10" }, {}, ["number"])
  check({ string: "a\u0000b" }, { string: "a b" })
  check('Here you are:\n```json\n{"number": 3}\n```\nDone.', { number: 3 })
  t.equal(extractedFrom({ prompt: "", variables }, "I found nothing."), undefined)
  t.equal(extractedFrom({ prompt: "", variables }, "{broken"), undefined)
  const guarded = ["call_tags", "nodes_visited", "__proto__"].map((name) => ({ name, type: "string" as const, prompt: "" }))
  t.strictSame(extractedFrom({ prompt: "", variables: guarded }, '{"call_tags":"x","nodes_visited":"x","__proto__":"x"}'), {
    values: {},
    refused: []
  })
})

t.test("given the URL of a tool", async (t) => {
  const root = { id: "a/b?c", host: "evil.example#", empty: "", list: [1], dots: "..", zero: 0, nested: { x: "y" } }
  const check = (template: string, expected: object) => t.match(renderUrl(template, root), expected, template)
  check("https://a.example/{{id}}?q={{nested.x}}&z={{zero}}", { url: "https://a.example/a%2Fb%3Fc?q=y&z=0" })
  check("https://a.example/{{missing | all}}", { url: "https://a.example/all" })
  check("https://{{nested.x}}.example/", { url: "https://y.example/" })
  check("https://{{nested.x}}.{{zero}}.a.example:8443?q={{zero}}", { url: "https://y.0.a.example:8443?q=0" })
  for (const bad of [
    "{{id}}",
    "ftp://a.example",
    "https:///x",
    "https://a.example/{{missing}}",
    "https://a.example/{{empty}}",
    "https://a.example/{{list}}",
    "https://a.example/{{dots}}/x",
    "https://a.example/{{nested}}",
    "https://a.example/{{id",
    "https://a.example/{{{id}}}",
    "https://{{host}}/",
    "https://{{nested.x}}/",
    "https://a.example{{nested.x}}",
    "https://a.example{{nested.x}}?q=1",
    "https://a.example:{{zero}}/",
    "https://{{nested.x}}.a.example{{zero}}/",
    "https://{{nested.x}}@a.example/",
    "https://{{nested.x}}\\\\.a.example/",
    `https://a.example/${"x".repeat(9000)}`
  ]) {
    check(bad, { error: /./ })
  }
})

t.test("given a tool that calls a service", async (t) => {
  const context = { initial: { phone: "1", who: "contact" }, gathered: { who: "callee" } }
  const built = (config: JsonObject, given: JsonObject = {}) =>
    httpRequestOf({ url: "https://a.example/x", ...config }, given, context, talkStart)
  const parameters = [
    { name: "n", type: "number", description: "" },
    { name: "o", type: "object", description: "", required: false }
  ]
  const preset_parameters = [{ name: "who", type: "string", value_template: "{{who}}" }]
  t.match(built({ method: "POST", parameters, preset_parameters }, { n: 5, extra: 1 }), {
    request: {
      method: "POST",
      url: "https://a.example/x",
      body: '{"who":"callee","n":5}',
      headers: [["Content-Type", "application/json"]],
      timeoutMillis: 5000
    }
  })
  t.match(built({ method: "GET", parameters, preset_parameters, timeout_ms: 99_999_999 }, { n: 5, o: { a: 1 } }), {
    request: { url: "https://a.example/x?who=callee&n=5&o=%7B%22a%22%3A1%7D", body: undefined, timeoutMillis: 30_000 }
  })
  t.match(
    built(
      { method: "PUT", parameters, body_template: { a: "{{n}}", b: "n is {{n}}", c: "{{initial_context.who}}", "{{who}}": [1] } },
      { n: 5 }
    ),
    {
      request: { body: '{"a":5,"b":"n is 5","c":"contact","callee":[1]}' }
    }
  )
  t.match(built({ headers: { "X-A": "b\r\nc", Host: "evil", "bad name": "x" }, credential_uuid: "u" }), {
    request: {
      headers: [
        ["X-A", "bc"],
        ["Content-Type", "application/json"]
      ],
      credentialUuid: "u"
    }
  })
  t.match(built({ parameters }), { error: /n/ })
  t.match(built({ preset_parameters: [{ name: "age", type: "number", value_template: "{{who}}" }] }), { error: /age/ })
  t.match(
    built({ url: "https://a.example/{{n}}", parameters: [] }, { n: 5 }),
    { error: /n/ },
    "an argument that is not asked for is not used"
  )
  t.match(built({ body_template: "{{big}}".repeat(20_000) }), { error: /./ })
  t.strictSame(resultOf(500, "<p>"), { status: "success", status_code: 500, data: "<p>", note: "The answer is no JSON." })
  t.match(resultOf(204, ""), { status_code: 204, data: "", note: "The answer is empty." })
  t.strictSame(resultOf(200, '{"a":[1]}'), { status: "success", status_code: 200, data: { a: [1] } })
  t.ok(JSON.stringify(resultOf(200, `["${"x".repeat(1e6)}"]`)).length < 9000)
})

t.test("given a stored definition, then it is compiled as far as it makes sense", async (t) => {
  const start = node("s", "startCall", {
    allow_interrupt: undefined,
    delayed_start: true,
    tool_uuids: [toolUuid(1).toUpperCase(), 7],
    is_start: true,
    wait_for_user_response: true
  })
  const parts = [
    start,
    node("a", "agentNode", {
      extraction_enabled: true,
      extraction_variables: [{ name: "x" }, { name: "x", type: "number" }, { type: "number" }, 5]
    }),
    node("e", "endCall", { tool_uuids: [toolUuid(1)] })
  ]
  const graph = compile({
    nodes: [
      ...parts,
      ...["tuner", "paygent", "noveum", "webhook", "qa", "trigger"].map((type) => ({ id: type, type, data: {} })),
      null,
      { id: "a", type: "agentNode" }
    ],
    edges: [
      edge("s", "a", "Ja, gern!"),
      edge("s", "e", "是"),
      edge("s", "a", "否"),
      edge("s", "tuner", "t"),
      edge("s", "gone", "g"),
      edge("e", "a", "back"),
      {},
      "x"
    ]
  })
  t.match(graph, { globalPrompt: "", start: { id: "s", delayMillis: 2000, allowsInterruption: false, toolUuids: [toolUuid(1)] } })
  t.strictSame([...(graph?.nodes.keys() ?? [])], ["s", "a", "e"])
  const ways = graph?.start.edges.map(({ leadsTo, tool }) => [tool, leadsTo])
  t.strictSame(ways, [
    ["ja__gern_", "agentNode"],
    ["_", "endCall"],
    ["__2", "agentNode"]
  ])
  t.strictSame(graph?.nodes.get("a")?.extraction?.variables, [{ name: "x", type: "number", prompt: "" }])
  t.match(graph?.nodes.get("e"), { edges: [], toolUuids: [], delayMillis: 0 })
  t.equal(compile({}), undefined)
  t.equal(compile({ nodes: [node("a", "agentNode")], edges: 5 }), undefined)
})

t.test("given an author's phrases, then they are part of the edges, and malformed ones are left out", async (t) => {
  const drawn = { nodes: [node("s", "startCall"), node("a", "agentNode")], edges: [edge("s", "a", "yes")] }
  const phrasesIn = (embedded: unknown) => compile(drawn, { embedded })?.start.edges.map(({ phrases }) => phrases)
  t.strictSame(phrasesIn({ edges: { "s-a": { phrases: ["by all means", 5] } } }), [["by all means"]])
  for (const malformed of [undefined, [], { edges: 5 }, { edges: { "s-a": ["x"] } }, { edges: { "s-a": { phrases: "x" } } }])
    t.strictSame(phrasesIn(malformed), [[]])
})

t.test("given tools of an organization, then a node offers those that can be used, under names of their own", async (t) => {
  const http = (url: string) => ({
    type: "http_api" as const,
    config: { url, parameters: [{ name: "n", type: "number", description: "N." }] }
  })
  const tools = compileTools([
    storedTool(1, "Look it up!", http("https://a.example")),
    storedTool(2, "Not ready", http(" ")),
    { ...storedTool(3, "Old", http("https://a.example")), status: "archived" },
    storedTool(4, "Remote", { type: "mcp", config: {} }),
    storedTool(5, "Yes", { type: "end_call", config: {} }),
    storedTool(6, "x".repeat(200), { type: "calculator" })
  ])
  const graph = compile({
    nodes: [node("s", "startCall", { tool_uuids: [1, 2, 3, 4, 5, 6].map(toolUuid) }), node("a", "agentNode")],
    edges: [edge("s", "a", "yes")]
  })
  const offered = graph === undefined ? [] : toolsAt(graph.start, tools, { sendsDigits: false }).map((tool) => tool.offered)
  const names = offered.map(({ name }) => name)
  t.strictSame(names, ["yes", "look_it_up", "safe_calculator", "opt_out"])
  t.match(offered[0], { description: "When yes." }, "an edge is not hidden by a tool")
  t.strictSame(offered[1]?.parameters, { type: "object", properties: { n: { type: "number", description: "N." } }, required: ["n"] })
})

t.test("given settings that were never validated, then each falls back to what it should be", async (t) => {
  t.match(settingsOf({}), { maxCallMillis: 300_000, idleMillis: 10_000, onMachine: undefined, sendsDigits: false })
  t.match(settingsOf({ max_user_idle_timeout: -1, static_lines: { filler: 5, goodbye: " Tschüss. " }, send_dtmf: "yes" }), {
    idleMillis: 10_000,
    sendsDigits: false,
    lines: { goodbye: "Tschüss.", fillers: ["One moment, please.", "I am still on it, one moment.", "Thank you for waiting."] }
  })
  t.match(settingsOf({ static_lines: { filler: "Moment." } }), { lines: { fillers: ["Moment."] } })
})
