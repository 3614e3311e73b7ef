/** The ways in which servers fail or keep a call waiting, and what an error may say about it. */
import t from "tap"
import type { ModelError, ModelRequest } from "#core/model/LanguageModel.ts"
import { chunk, done, errorBody, event } from "#test/emulators/openai/completions.ts"
import { json, type RawReply } from "#test/emulators/openai/OpenAiEmulator.ts"
import { aRequest } from "./modelScene.ts"
import { answerTo, apiKey, delta, fragment, raw, stopped } from "./openaiScene.ts"

/** Everything that must never be in an error. */
const canaries = { text: "Quetzalcoatl", word: "canary_word" }
const told = `The message "${canaries.text}" of ${apiKey} is bad: +15551234567`
const failing: ReadonlyArray<{ readonly what: string; readonly reply: RawReply; readonly error: Partial<ModelError> }> = [
  {
    what: "401",
    reply: json(errorBody(told, "invalid_request_error", "invalid_api_key"), 401),
    error: { reason: "auth", isRetryable: false, message: "HTTP 401 invalid_request_error invalid_api_key" }
  },
  { what: "403", reply: json(errorBody(told, "forbidden"), 403), error: { reason: "auth", isRetryable: false } },
  { what: "402", reply: json({}, 402), error: { reason: "credit", isRetryable: false } },
  {
    what: "no credit",
    reply: json(errorBody(told, "insufficient_quota", "insufficient_quota"), 429),
    error: { reason: "credit", isRetryable: false }
  },
  { what: "429", reply: json(errorBody(told, "rate_limit_error"), 429), error: { reason: "rate_limited", isRetryable: true } },
  {
    what: "an unknown model",
    reply: json(errorBody(told, "invalid_request_error", "model_not_found"), 404),
    error: { reason: "refused", isRetryable: false }
  },
  {
    what: "what was sent in a code",
    reply: json(errorBody(told, canaries.text, canaries.word), 400),
    error: { reason: "refused", isRetryable: false, message: "HTTP 400" }
  },
  {
    what: "a page of a proxy",
    reply: { status: 502, contentType: "text/html", pieces: [`<html>${told}</html>`] },
    error: { reason: "broken", isRetryable: true, message: "HTTP 502" }
  },
  {
    what: "a redirect",
    reply: { status: 307, headers: { location: "http://127.0.0.1:1/" }, pieces: [] },
    error: { reason: "refused", isRetryable: false }
  },
  {
    what: "an error that never ends",
    reply: { status: 500, pieces: Array.from({ length: 40 }, () => told.repeat(50)), ending: "hang" },
    error: { reason: "broken", message: "HTTP 500" }
  },
  {
    what: "an error in the middle",
    reply: raw(delta("One"), event(errorBody(told, "server_error"))),
    error: { reason: "broken", isRetryable: true }
  },
  {
    what: "a rate limit in the middle",
    reply: raw(delta("One"), event({ error: { code: 429, message: told } })),
    error: { reason: "rate_limited", isRetryable: true }
  },
  { what: "an error as text", reply: raw(event({ error: told })), error: { reason: "broken", isRetryable: true } },
  {
    what: "something that is not JSON",
    reply: raw(delta("One"), `data: {"choices ${told}\n\n`),
    error: { reason: "broken", isRetryable: true }
  },
  { what: "an end in the middle", reply: raw(delta("One")), error: { reason: "broken", isRetryable: true } },
  {
    what: "a reset in the middle",
    reply: { pieces: [delta("One")], ending: "reset" },
    error: { reason: "unreachable", isRetryable: true }
  },
  { what: "nothing at all", reply: raw(), error: { reason: "broken", isRetryable: true } },
  {
    what: "arguments that are cut off",
    reply: raw(fragment({ index: 0, id: "a", function: { name: "booked", arguments: '{"day' } }), event(chunk({}, "length")), done),
    error: { reason: "broken", isRetryable: true }
  },
  {
    what: "arguments that are a list",
    reply: raw(fragment({ index: 0, id: "a", function: { name: "booked", arguments: "[1]" } }), stopped, done),
    error: { reason: "broken" }
  },
  {
    what: "too many words",
    reply: raw(...Array.from({ length: 40 }, () => delta("word ".repeat(200)))),
    error: { reason: "broken", isRetryable: false }
  },
  {
    what: "too many calls",
    reply: raw(...Array.from({ length: 20 }, (_, index) => fragment({ index, id: `${index}`, function: { name: "refused" } }))),
    error: { reason: "broken", isRetryable: false }
  },
  {
    what: "endless arguments",
    reply: raw(...Array.from({ length: 70 }, () => fragment({ index: 0, function: { arguments: " ".repeat(1000) } }))),
    error: { reason: "broken", isRetryable: false }
  },
  {
    what: "an endless line",
    reply: raw(...Array.from({ length: 60 }, () => "x".repeat(10_000))),
    error: { reason: "broken", isRetryable: false }
  },
  {
    what: "endless reasoning",
    reply: raw(...Array.from({ length: 50 }, () => event(chunk({ reasoning_content: "x".repeat(100_000) })))),
    error: { reason: "broken", isRetryable: false }
  }
]

t.test("servers fail", async (t) => {
  const request: ModelRequest = { ...aRequest, messages: [{ _tag: "User", text: `${canaries.text} ${canaries.word}` }] }
  for (const { error: expected, reply, what } of failing) {
    const { error, parts } = await answerTo(t, reply, request)
    t.match(error, expected, what)
    const said = JSON.stringify(error)
    for (const secret of [apiKey, ...Object.values(canaries), "15551234567"])
      t.notOk(said.includes(secret), `${what}: nothing of what was sent`)
    t.notOk(
      parts.some(({ _tag }) => _tag === "Finished" || _tag === "ToolCall"),
      `${what}: neither a call nor an end`
    )
  }
})

t.test("servers are slow", async (t) => {
  const limits = { firstToken: 60_000, betweenTokens: 60_000, total: 60_000 }
  const late = async (what: string, reply: RawReply, patience: Partial<typeof limits>, message: string) => {
    const { error } = await answerTo(t, reply, aRequest, { limits: { ...limits, ...patience } })
    t.match(error, { reason: "timeout", isRetryable: true, message }, what)
  }
  const never = new Promise(() => {})
  await late("no answer", { pieces: [never] }, { firstToken: 50 }, "the answer did not begin in time")
  const pings = Array.from({ length: 200 }, () => [": ping\n\n", 20]).flat()
  await late("comments alone", { pieces: pings, ending: "hang" }, { firstToken: 100 }, "the answer did not begin in time")
  await late(
    "a role alone",
    { pieces: [event(chunk({ role: "assistant", content: "" })), never] },
    { firstToken: 50 },
    "the answer did not begin in time"
  )
  await late("a pause", { pieces: [delta("One"), never] }, { betweenTokens: 50 }, "the answer did not continue in time")
  const drip = Array.from({ length: 200 }, () => [delta("word "), 20]).flat()
  await late("a trickle", { pieces: drip, ending: "hang" }, { total: 200 }, "the answer was not complete in time")
})
