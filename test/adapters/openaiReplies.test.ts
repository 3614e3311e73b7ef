/** The ways in which servers that claim to be compatible differ from the vendor's. */
import t from "tap"
import { chunk, type Completion, done, event, whole } from "#test/emulators/openai/completions.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { aRequest, callsOf, idsOf, textOf } from "./modelScene.ts"
import { answerTo, delta, fragment, raw, stopped } from "./openaiScene.ts"

/** The first piece of a call that streams, or a later one, which has no name. */
const piece = (index: number | undefined, id: string | undefined, name: string | undefined, given?: unknown) =>
  fragment({ index, id, function: { name, arguments: given } })
/** A whole call of one tool, and of the other. */
const callOf = (given: unknown, id = "a") => piece(0, id, "booked", given)
const refusal = { name: "refused", arguments: [] }
const friday = '{"day":"Friday"}'
const twice = JSON.stringify(friday)
const asBooked = [["booked", { day: "Friday" }]]
const asRefused = [["refused", {}]]
const bothCalls = [...asBooked, ...asRefused]
const ends = (...pieces: RawReply["pieces"]) => raw(...pieces, stopped, done)
const crlf = (text: string) => text.replaceAll("\n", "\r\n")
const euro = Buffer.from(delta("5 € 👍"))
const usage = (tokens: number) => ({ prompt_tokens: tokens, completion_tokens: tokens })
const asListed = [
  { type: "thinking", thinking: "Hm" },
  { type: "text", text: "Yes." }
]

type Differing = readonly [
  what: string,
  reply: Completion | RawReply,
  expected: {
    readonly text?: string
    readonly calls?: ReadonlyArray<unknown>
    readonly finished?: object
    readonly config?: Readonly<Record<string, unknown>>
  }
]

/** Replies of servers that differ from the vendor's, each with the expected result. What counts as speech is in `speakable.test.ts`. */
const differing: ReadonlyArray<Differing> = [
  // Arguments
  ["a special token behind the arguments", ends(callOf(`${friday}<|call|>`)), { calls: asBooked }],
  ["arguments twice", ends(callOf(friday + friday)), { calls: asBooked }],
  ["arguments twice, on lines of their own", ends(callOf(`${friday}\n{"day":"Monday"}`)), { calls: asBooked }],
  ["one bracket too many", ends(callOf(`${friday}}`)), { calls: asBooked }],
  ["arguments as a string", ends(callOf(twice)), { calls: asBooked }],
  ["arguments as a string, twice", ends(callOf(twice + twice)), { calls: asBooked }],
  ["arguments as a string of a string", ends(callOf(JSON.stringify(twice))), { calls: asBooked }],
  ["fenced arguments", ends(callOf(`\`\`\`json\n${friday}\n\`\`\``)), { calls: asBooked }],
  ["arguments with an explanation", ends(callOf(`The day: ${friday} as agreed`)), { calls: asBooked }],
  ["arguments in Python", ends(callOf("{'day': 'Friday',}")), { calls: asBooked }],
  ["brackets in arguments", ends(callOf('{"day":"}{\\"]"}<|end|>')), { calls: [["booked", { day: '}{"]' }]] }],
  ["a special token instead of arguments", ends(callOf("<|call|>")), { calls: [["booked", {}]] }],
  ["an empty string as arguments", ends(callOf('""')), { calls: [["booked", {}]] }],
  ["arguments as an object", ends(callOf({ day: "Friday" })), { calls: asBooked }],
  ["arguments null", ends(piece(0, "a", "refused", "null")), { calls: asRefused }],
  // Calls
  ["a special token behind the name", ends(piece(0, "a", "functions.booked<|channel|>json", friday)), { calls: asBooked }],
  [
    "a call that is sent once more at the end",
    ends(callOf(friday.slice(0, 4)), piece(0, undefined, undefined, friday.slice(4)), callOf(friday)),
    { calls: asBooked }
  ],
  [
    "a call, and its text in the message",
    ends(delta("<tool_call>"), delta('{"name":"booked","arguments":{"day":"Friday"}}'), callOf(friday)),
    { calls: asBooked }
  ],
  [
    "a call as text",
    { text: ["Fine. <tool", '_call>{"name":"booked","argu', 'ments":{"day":"Friday"}}</tool_call>'] },
    { text: "Fine. ", calls: asBooked, finished: { why: "tool_calls" } }
  ],
  [
    "a call as text, of a tool that is not there",
    { text: ['<tool_call>{"name":"other"}</tool_call>'] },
    { finished: { why: "stop", withheld: { calls: 1, tokens: 0 } } }
  ],
  ["a whole call in one chunk", raw(callOf(friday), event(chunk({}, "tool_calls")), done), { calls: asBooked }],
  [
    "no index",
    ends(
      piece(undefined, "a", "booked", ""),
      piece(undefined, undefined, undefined, '{"day":"Fri'),
      piece(undefined, undefined, undefined, 'day"}'),
      piece(undefined, "b", "refused", "{}")
    ),
    { calls: bothCalls }
  ],
  ["index 0 for every call", ends(callOf(friday), piece(0, "b", "refused", "{}")), { calls: bothCalls }],
  ["index 0, and no ids", ends(piece(0, undefined, "booked", friday), piece(0, undefined, "refused", "")), { calls: bothCalls }],
  [
    "two calls of one tool, without index and ids",
    ends(piece(undefined, undefined, "booked", friday), piece(undefined, undefined, "booked", friday)),
    { calls: [...asBooked, ...asBooked] }
  ],
  ["the same id for every call", ends(callOf(friday), piece(1, "a", "refused")), { calls: bothCalls }],
  ["id and name in every fragment", ends(callOf('{"day":'), callOf('"Friday"}')), { calls: asBooked }],
  ["a name in pieces", ends(piece(0, "a", "boo"), piece(0, undefined, "ked", friday)), { calls: asBooked }],
  [
    "calls of different fragments interleaved",
    ends(
      callOf('{"day":'),
      piece(1, "b", "refused", "{"),
      piece(0, undefined, undefined, '"Friday"}'),
      piece(1, undefined, undefined, "}")
    ),
    { calls: bothCalls }
  ],
  ["an empty id", ends(callOf(friday, "")), { calls: asBooked }],
  ["finish_reason stop with calls", { calls: [refusal], finish: "stop" }, { calls: asRefused, finished: { why: "tool_calls" } }],
  ["whitespace next to a call", { text: ["\n", "\n  "], calls: [refusal] }, { text: "", calls: asRefused }],
  ["a server that loses calls when it streams", { calls: [refusal] }, { calls: asRefused, config: { whole_with_tools: true } }],
  // No end
  ["a call, and no end", raw(callOf(friday)), { calls: asBooked, finished: { why: "tool_calls" } }],
  ["a call in pieces, and no end", raw(callOf('{"day":'), piece(0, undefined, undefined, '"Friday"}')), { calls: asBooked }],
  ["a call without arguments, and no end", raw(piece(0, "a", "refused", "")), { calls: asRefused }],
  ["a call as text, and no end", raw(delta('{"name":"booked",'), delta('"arguments":{"day":"Friday"}}')), { calls: asBooked }],
  ["a call and a part of another, and no end", raw(callOf(friday), piece(1, "b", "booked", '{"da')), { calls: asBooked }],
  ["words and a call, and no end", raw(delta("Fine."), callOf(friday)), { text: "Fine.", calls: asBooked }],
  ["a reset after a call", { pieces: [callOf(friday)], ending: "reset" }, { calls: asBooked }],
  ["an error after a call", raw(callOf(friday), event({ error: { message: "overloaded" } })), { calls: asBooked }],
  ["no [DONE]", raw(delta("Yes."), stopped), { text: "Yes.", finished: { why: "stop" } }],
  ["no [DONE], and no empty line at the end", raw(delta("Yes."), stopped.trimEnd()), { text: "Yes." }],
  ["no reason to stop", raw(delta("Yes."), done), { text: "Yes.", finished: { why: "stop" } }],
  ["a reset after the reason to stop", { pieces: [delta("Yes."), stopped], ending: "reset" }, { text: "Yes." }],
  ["neither [DONE] nor an end", { pieces: [delta("Yes."), stopped], ending: "hang" }, { text: "Yes." }],
  // Labels and wholes
  ["a stream that is labelled as JSON", { ...ends(delta("Yes.")), contentType: "application/json" }, { text: "Yes." }],
  ["the same with a comment first", { ...ends(": ping\n\n", delta("Yes.")), contentType: "application/json" }, { text: "Yes." }],
  ["a stream without a label", { ...ends(delta("Yes.")), contentType: "text/plain" }, { text: "Yes." }],
  ["JSON that is labelled as a stream", { pieces: [" \n", 1, JSON.stringify(whole({ text: ["Yes."] }))] }, { text: "Yes." }],
  [
    "JSON without a reason to stop",
    json({ choices: [{ message: { content: "Yes.", tool_calls: [{ function: { name: "refused", arguments: "{}" } }] } }] }),
    { text: "Yes.", calls: asRefused }
  ],
  ["a whole reply that thinks without a beginning", json(whole({ text: ["They are angry.</think>Sorry."] })), { text: "Sorry." }],
  [
    "a whole reply although a stream was asked for",
    json(whole({ text: ["Yes."], calls: [refusal], promptTokens: 2 })),
    { text: "Yes.", calls: asRefused, finished: { usage: { promptTokens: 2 } } }
  ],
  // Usage
  [
    "no usage",
    ends(delta("Yes.")),
    { text: "Yes.", finished: { why: "stop", usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 } } }
  ],
  [
    "usage on every chunk",
    raw(event({ ...chunk({ content: "Yes" }), usage: usage(1) }), event({ ...chunk({ content: "." }, "stop"), usage: usage(2) }), done),
    { text: "Yes.", finished: { usage: { promptTokens: 2, completionTokens: 2 } } }
  ],
  [
    "usage in a member of its own",
    raw(delta("Yes."), event({ ...chunk({}, "stop"), x_groq: { usage: usage(4) } }), done),
    { text: "Yes.", finished: { usage: { promptTokens: 4 } } }
  ],
  // Words
  ["special tokens", { text: ["Yes.<|im", "_end|>"] }, { text: "Yes.", finished: { withheld: { calls: 0, tokens: 1 } } }],
  ["words in pieces, with the space in a piece of its own", { text: ["\n\nFine,", " ", "see", " you.", "\n"] }, { text: "Fine, see you." }],
  [
    "reasoning in a member of its own",
    ends(
      event(chunk({ reasoning_content: "They are angry." })),
      event(chunk({ reasoning: "So be kind.", content: null })),
      delta("Sorry.")
    ),
    { text: "Sorry." }
  ],
  [
    "reasoning in tags, in pieces",
    { text: ["<", "think>They are angry.</", "think>", "\n\nSorry, 1 <", " 2."] },
    { text: "Sorry, 1 < 2." }
  ],
  [
    "reasoning whose beginning is in the prompt",
    { text: ["Hm.</th", "ink>Sorry."] },
    { text: "Sorry.", config: { starts_thinking: true } }
  ],
  ["content as a list", ends(event(chunk({ content: asListed }))), { text: "Yes." }],
  [
    "a refusal",
    raw(event(chunk({ refusal: "I cannot." })), event(chunk({}, "content_filter")), done),
    { text: "I cannot.", finished: { why: "filtered" } }
  ],
  ["an answer that is too long for its limit", { text: ["Yes"], finish: "length" }, { text: "Yes", finished: { why: "length" } }],
  ["an empty answer", { text: [] }, { text: "", calls: [], finished: { why: "stop" } }],
  // Bytes
  ["comment lines", ends(": ping\n\n", delta("Yes"), ": OPENROUTER PROCESSING\n\n", delta(".")), { text: "Yes." }],
  [
    "lines that end in CRLF",
    raw(crlf(delta("Yes")), "data: ", crlf(delta(".").slice(6)).slice(0, -3), 1, "\n\r\n", crlf(stopped), crlf(done)),
    { text: "Yes." }
  ],
  ["a byte order mark", ends("\uFEFF", delta("Yes.")), { text: "Yes." }],
  ...[...euro.keys()]
    .filter((at) => (euro[at] ?? 0) >= 0x80)
    .map((at): Differing => [`a character split at byte ${at}`, ends(euro.subarray(0, at), 1, euro.subarray(at)), { text: "5 € 👍" }])
]

t.test("compatible servers differ", async (t) => {
  for (const [what, reply, { calls, config = {}, finished: last, text = "" }] of differing) {
    const { error, parts } = await answerTo(t, reply, aRequest, { config })
    t.equal(error, undefined, what)
    t.equal(textOf(parts), text, `${what}: what is spoken`)
    const haveText = parts.every((part) => part._tag !== "Text" || part.text.trim() !== "")
    t.ok(haveText, `${what}: no part is whitespace alone`)
    t.strictSame(callsOf(parts), calls ?? [], `${what}: the calls`)
    t.equal(new Set(idsOf(parts)).size, idsOf(parts).length, `${what}: each call has an id of its own`)
    t.notOk(idsOf(parts).includes(""), what)
    t.match(parts.at(-1), { _tag: "Finished", ...last }, `${what}: the end`)
  }
})
