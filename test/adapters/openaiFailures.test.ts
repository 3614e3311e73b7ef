/** The ways in which servers fail or keep a call waiting, and what an error may say about it. */
import t from "tap"
import { chunk, done, errorBody, event } from "#test/emulators/openai/completions.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"
import { canary, canaryWord, type Failing, failsAsItSays, givesUp, never, toldOf } from "./modelRules.ts"
import { aRequest } from "./modelScene.ts"
import { answerTo, apiKey, delta, fragment, raw, stopped } from "./openaiScene.ts"

const told = toldOf(apiKey)
const broken = { reason: "broken", isRetryable: true } as const
const hopeless = { reason: "broken", isRetryable: false } as const
const refused = { reason: "refused", isRetryable: false } as const
const auth = { reason: "auth", isRetryable: false } as const
const credit = { reason: "credit", isRetryable: false } as const
const limited = { reason: "rate_limited", isRetryable: true } as const
const said = (status: number, type: string, code?: string) => json(errorBody(told, type, code), status)
const called = (name: string, given: string) => fragment({ index: 0, id: "a", function: { name, arguments: given } })
/** `times`: how often the piece is sent. */
const many = (times: number, piece: (index: number) => string) => raw(...Array.from({ length: times }, (_, index) => piece(index)))

const failing: ReadonlyArray<Failing> = [
  ["401", said(401, "invalid_request_error", "invalid_api_key"), { ...auth, message: "HTTP 401 invalid_request_error invalid_api_key" }],
  ["403", said(403, "forbidden"), auth],
  ["402", json({}, 402), credit],
  ["no credit", said(429, "insufficient_quota", "insufficient_quota"), credit],
  ["429", said(429, "rate_limit_error"), limited],
  ["an unknown model", said(404, "invalid_request_error", "model_not_found"), refused],
  ["what was sent in a code", said(400, canary, canaryWord), { ...refused, message: "HTTP 400" }],
  ["a page", { status: 502, contentType: "text/html", pieces: [`<html>${told}</html>`] }, { ...broken, message: "HTTP 502" }],
  ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" }, pieces: [] }, refused],
  [
    "an error that never ends",
    { status: 500, pieces: Array.from({ length: 40 }, () => told.repeat(50)), ending: "hang" },
    { reason: "broken", message: "HTTP 500" }
  ],
  ["an error in the middle", raw(delta("One"), event(errorBody(told, "server_error"))), broken],
  ["a rate limit in the middle", raw(delta("One"), event({ error: { code: 429, message: told } })), limited],
  ["an error as text", raw(event({ error: told })), broken],
  ["something that is not JSON", raw(delta("One"), `data: {"choices ${told}\n\n`), broken],
  ["an end in the middle", raw(delta("One")), broken],
  ["a reset in the middle", { pieces: [delta("One")], ending: "reset" }, { reason: "unreachable", isRetryable: true }],
  ["nothing at all", raw(), broken],
  ["an end in the middle of a call", raw(called("booked", '{"day')), broken],
  ["an end in the middle of a call as text", raw(delta('<tool_call>{"name":"booked","arguments":{"da')), broken],
  ["an end after a call of a tool that is not there", raw(called("other", "{}")), broken],
  ["JSON that is no answer", json({ detail: told }), broken],
  ["endless text that is held back", many(40, () => delta(`${'{"a":'}${"[".repeat(1000)}`)), hopeless],
  ["arguments that are cut off", raw(called("booked", '{"day'), event(chunk({}, "length")), done), broken],
  ["arguments that are a list", raw(called("booked", "[1]"), stopped, done), { reason: "broken" }],
  ["too many words", many(40, () => delta("word ".repeat(200))), hopeless],
  ["too many calls", many(20, (index) => fragment({ index, id: `${index}`, function: { name: "refused" } })), hopeless],
  ["endless arguments", many(70, () => fragment({ index: 0, function: { arguments: " ".repeat(1000) } })), hopeless],
  ["an endless line", many(60, () => "x".repeat(10_000)), hopeless],
  ["endless reasoning", many(50, () => event(chunk({ reasoning_content: "x".repeat(100_000) }))), hopeless]
]

t.test("servers fail", (t) => failsAsItSays(t, answerTo, apiKey, failing))

t.test("servers are slow", async (t) => {
  const late = givesUp(t, answerTo)
  await late("no answer", { pieces: [never] }, { firstToken: 50 }, "did not begin")
  const pings = Array.from({ length: 200 }, () => [": ping\n\n", 20]).flat()
  await late("comments alone", { pieces: pings, ending: "hang" }, { firstToken: 100 }, "did not begin")
  const role = event(chunk({ role: "assistant", content: "" }))
  await late("a role alone", { pieces: [role, never] }, { firstToken: 50 }, "did not begin")
  await late("a pause", { pieces: [delta("One"), never] }, { betweenTokens: 50 }, "did not continue")
  const { error, parts } = await answerTo(t, { pieces: [called("booked", "{}"), never] }, aRequest, { limits: { betweenTokens: 50 } })
  t.equal(error, undefined, "a call that is complete counts, even if nothing follows")
  t.match(parts, [{ _tag: "ToolCall", call: { name: "booked" } }, { _tag: "Finished" }])
  const drip = Array.from({ length: 200 }, () => [delta("word "), 20]).flat()
  await late("a trickle", { pieces: drip, ending: "hang" }, { total: 200 }, "was not complete")
})

t.test("servers are hostile", async (t) => {
  const deep = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
  const texts = [
    ...'[ { < ` \' " ( <| <a> <tool_call></tool_call> <think></think> {"a":1} opt_out( booked( functions.'
      .split(" ")
      .map((one) => one.repeat(200_000 / one.length)),
    `<booked>${"<a>".repeat(60_000)}</booked>`,
    `<tool_call>${"<parameter=a>".repeat(1000)}`,
    `{"tool_calls":${deep(7000)}}`,
    `<think>${"x".repeat(300_000)}`
  ]
  for (const text of texts) {
    const { error, parts } = await answerTo(t, raw(event(chunk({ content: text })), stopped, done))
    t.ok(error !== undefined || parts.at(-1)?._tag === "Finished", `it ends: ${text.slice(0, 20)}`)
    const whole = await answerTo(t, json({ choices: [{ message: { content: text }, finish_reason: "stop" }] }))
    t.ok(whole.error !== undefined || whole.parts.at(-1)?._tag === "Finished", `in one piece: ${text.slice(0, 20)}`)
  }
  const given = [deep(20_000), nested(8000), `"${'\\"'.repeat(20_000)}`, "'".repeat(60_000), `{${"a ".repeat(30_000)}`]
  for (const text of given) {
    const { error, parts } = await answerTo(t, raw(called("booked", text), called("booked", text), stopped, done))
    t.ok(error !== undefined || parts.at(-1)?._tag === "Finished", `as arguments: ${text.slice(0, 20)}`)
  }
  const state = `data: {"choices":[{"delta":{"content":"Yes.","x_state":${deep(20_000)},"y_state":${nested(20_000)}}}]}\n\n`
  const { error, parts } = await answerTo(t, raw(state, state, stopped, done))
  t.ok(error !== undefined || JSON.stringify(parts).length < 1000, "what is nested too deeply is not kept")
})
