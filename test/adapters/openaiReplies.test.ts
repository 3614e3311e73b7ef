/** The ways in which servers that claim to be compatible differ from the vendor's. */
import t from "tap"
import { chunk, type Completion, done, event, whole } from "#test/emulators/openai/completions.ts"
import { json, type RawReply } from "#test/emulators/openai/OpenAiEmulator.ts"
import { aRequest, callsOf, idsOf, textOf } from "./modelScene.ts"
import { answerTo, delta, fragment, raw, stopped } from "./openaiScene.ts"

/** Replies of servers that differ from the vendor's, each with the expected result. */
const booked = { name: "booked", arguments: '{"day":"Friday"}' }
const asBooked = [["booked", { day: "Friday" }]]
const bothCalls = [
  ["booked", { day: "Friday" }],
  ["refused", {}]
]
const crlf = (text: string) => text.replaceAll("\n", "\r\n")
const euro = Buffer.from(delta("5 € 👍"))
const at = (position: number) => [euro.subarray(0, position), 1, euro.subarray(position)]
const usage = (tokens: number) => ({ prompt_tokens: tokens, completion_tokens: tokens })

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
const ends = (...pieces: RawReply["pieces"]) => raw(...pieces, stopped, done)
const refused = { name: "refused", arguments: "{}" }
const asRefused = [["refused", {}]]
/** A call of this tool, with these arguments or the beginning of them. */
const called = (given: string) => ({ name: "booked", arguments: given })

/** A whole call with these arguments. */
const callOf = (given: string, id = "a") => fragment({ index: 0, id, type: "function", function: called(given) })
const friday = '{"day":"Friday"}'

const differing: ReadonlyArray<Differing> = [
  ["a special token behind the arguments", ends(callOf(`${friday}<|call|>`)), { calls: asBooked }],
  ["arguments twice", ends(callOf(friday + friday)), { calls: asBooked }],
  ["arguments twice, on lines of their own", ends(callOf(`${friday}\n{"day":"Monday"}`)), { calls: asBooked }],
  ["one bracket too many", ends(callOf(`${friday}}`)), { calls: asBooked }],
  ["arguments as a string", ends(callOf(JSON.stringify(friday))), { calls: asBooked }],
  ["arguments as a string, twice", ends(callOf(JSON.stringify(friday) + JSON.stringify(friday))), { calls: asBooked }],
  ["arguments as a string of a string", ends(callOf(JSON.stringify(JSON.stringify(friday)))), { calls: asBooked }],
  ["fenced arguments", ends(callOf(`\`\`\`json\n${friday}\n\`\`\``)), { calls: asBooked }],
  ["arguments with an explanation", ends(callOf(`The day: ${friday} as agreed`)), { calls: asBooked }],
  ["arguments in Python", ends(callOf("{'day': 'Friday',}")), { calls: asBooked }],
  ["brackets in arguments", ends(callOf('{"day":"}{\\"]"}<|end|>')), { calls: [["booked", { day: '}{"]' }]] }],
  ["a special token instead of arguments", ends(callOf("<|call|>")), { calls: [["booked", {}]] }],
  [
    "a special token behind the name",
    ends(fragment({ index: 0, id: "a", function: { name: "functions.booked<|channel|>json", arguments: friday } })),
    { calls: asBooked }
  ],
  ["an empty string as arguments", ends(callOf('""')), { calls: [["booked", {}]] }],
  [
    "a call that is sent once more at the end",
    ends(callOf(friday.slice(0, 4)), fragment({ index: 0, function: { arguments: friday.slice(4) } }), callOf(friday)),
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
  ["special tokens", { text: ["Yes.<|im", "_end|>"] }, { text: "Yes.", finished: { withheld: { calls: 0, tokens: 1 } } }],
  ["a call, and no end", raw(callOf(friday)), { calls: asBooked, finished: { why: "tool_calls" } }],
  [
    "a call in pieces, and no end",
    raw(callOf('{"day":'), fragment({ index: 0, function: { arguments: '"Friday"}' } })),
    { calls: asBooked }
  ],
  [
    "a call without arguments, and no end",
    raw(fragment({ index: 0, id: "a", function: { name: "refused", arguments: "" } })),
    { calls: asRefused }
  ],
  ["a call as text, and no end", raw(delta('{"name":"booked",'), delta('"arguments":{"day":"Friday"}}')), { calls: asBooked }],
  [
    "a call and a part of another, and no end",
    raw(callOf(friday), fragment({ index: 1, id: "b", function: called('{"da') })),
    { calls: asBooked }
  ],
  ["words and a call, and no end", raw(delta("Fine."), callOf(friday)), { text: "Fine.", calls: asBooked }],
  ["a reset after a call", { pieces: [callOf(friday)], ending: "reset" }, { calls: asBooked }],
  ["an error after a call", raw(callOf(friday), event({ error: { message: "overloaded" } })), { calls: asBooked }],
  ["a stream that is labelled as JSON", { ...ends(delta("Yes.")), contentType: "application/json" }, { text: "Yes." }],
  [
    "a stream with a comment first that is labelled as JSON",
    { ...ends(": ping\n\n", delta("Yes.")), contentType: "application/json" },
    { text: "Yes." }
  ],
  ["a stream without a label", { ...ends(delta("Yes.")), contentType: "text/plain" }, { text: "Yes." }],
  ["JSON that is labelled as a stream", { pieces: [" \n", 1, JSON.stringify(whole({ text: ["Yes."] }))] }, { text: "Yes." }],
  [
    "JSON without a reason to stop",
    json({ choices: [{ message: { content: "Yes.", tool_calls: [{ function: refused }] } }] }),
    { text: "Yes.", calls: asRefused }
  ],
  ["a whole reply that thinks without a beginning", json(whole({ text: ["They are angry.</think>Sorry."] })), { text: "Sorry." }],
  [
    "a whole call in one chunk",
    raw(fragment({ index: 0, id: "a", type: "function", function: booked }), event(chunk({}, "tool_calls")), done),
    { calls: asBooked }
  ],
  [
    "no index",
    ends(
      fragment({ id: "a", function: called("") }),
      fragment({ function: { arguments: '{"day":"Fri' } }),
      fragment({ function: { arguments: 'day"}' } }),
      fragment({ id: "b", function: refused })
    ),
    { calls: bothCalls }
  ],
  [
    "index 0 for every call",
    ends(fragment({ index: 0, id: "a", function: booked }), fragment({ index: 0, id: "b", function: refused })),
    { calls: bothCalls }
  ],
  [
    "index 0 for every call, and no ids",
    ends(fragment({ index: 0, function: booked }), fragment({ index: 0, function: { name: "refused", arguments: "" } })),
    { calls: bothCalls }
  ],
  [
    "two calls of one tool, without index and ids",
    ends(fragment({ function: booked }), fragment({ function: booked })),
    { calls: [...asBooked, ...asBooked] }
  ],
  [
    "the same id for every call",
    ends(fragment({ index: 0, id: "a", function: booked }), fragment({ index: 1, id: "a", function: { name: "refused" } })),
    { calls: bothCalls }
  ],
  [
    "id and name in every fragment",
    ends(fragment({ index: 0, id: "a", function: called('{"day":') }), fragment({ index: 0, id: "a", function: called('"Friday"}') })),
    { calls: asBooked }
  ],
  [
    "a name in pieces",
    ends(
      fragment({ index: 0, id: "a", function: { name: "boo" } }),
      fragment({ index: 0, function: { name: "ked", arguments: '{"day":"Friday"}' } })
    ),
    { calls: asBooked }
  ],
  [
    "calls of different fragments interleaved",
    ends(
      fragment({ index: 0, id: "a", function: called('{"day":') }),
      fragment({ index: 1, id: "b", function: { name: "refused", arguments: "{" } }),
      fragment({ index: 0, function: { arguments: '"Friday"}' } }),
      fragment({ index: 1, function: { arguments: "}" } })
    ),
    { calls: bothCalls }
  ],
  [
    "arguments as an object",
    ends(fragment({ index: 0, id: "a", function: { name: "booked", arguments: { day: "Friday" } } })),
    { calls: asBooked }
  ],
  ["arguments null", ends(fragment({ index: 0, id: "a", function: { name: "refused", arguments: "null" } })), { calls: asRefused }],
  [
    "finish_reason stop with calls",
    { calls: [{ name: "refused", arguments: ["{}"] }], finish: "stop" },
    { calls: asRefused, finished: { why: "tool_calls" } }
  ],
  ["an empty id", ends(fragment({ index: 0, id: "", function: booked })), { calls: asBooked }],
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
  ["whitespace next to a call", { text: ["\n", "\n  "], calls: [{ name: "refused", arguments: [] }] }, { text: "", calls: asRefused }],
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
  ["reasoning in tags", { text: ["<think>They are angry.</think>", "\n\nSorry."] }, { text: "Sorry." }],
  [
    "reasoning in tags that are cut into pieces",
    { text: ["<", "thi", "nk", ">They <b are", " angry.<", "/thi", "nk>Sor", "ry, 1 <", " 2."] },
    { text: "Sorry, 1 < 2." }
  ],
  ["reasoning twice", { text: ["A. <Think>x</Think> B. <reasoning>y</reasoning>C."] }, { text: "A.  B. C." }],
  ["reasoning that never ends", { text: ["Yes. <think>They", " are"] }, { text: "Yes. " }],
  [
    "reasoning whose beginning is in the prompt",
    { text: ["They are angry.</th", "ink>Sorry."] },
    { text: "Sorry.", config: { starts_thinking: true } }
  ],
  ["a text that ends like the beginning of a tag", { text: ["a <th"] }, { text: "a <th" }],
  [
    "content as a list",
    ends(
      event(
        chunk({
          content: [
            { type: "thinking", thinking: "Hm" },
            { type: "text", text: "Yes." }
          ]
        })
      )
    ),
    { text: "Yes." }
  ],
  [
    "a refusal",
    raw(event(chunk({ refusal: "I cannot." })), event(chunk({}, "content_filter")), done),
    { text: "I cannot.", finished: { why: "filtered" } }
  ],
  ["an answer that is too long for its limit", { text: ["Yes"], finish: "length" }, { text: "Yes", finished: { why: "length" } }],
  ["comment lines", ends(": ping\n\n", delta("Yes"), ": OPENROUTER PROCESSING\n\n", delta(".")), { text: "Yes." }],
  [
    "lines that end in CRLF",
    raw(crlf(delta("Yes")), "data: ", crlf(delta(".").slice(6)).slice(0, -3), 1, "\n\r\n", crlf(stopped), crlf(done)),
    { text: "Yes." }
  ],
  ...[...euro.keys()]
    .filter((position) => (euro[position] ?? 0) >= 0x80)
    .map((position): Differing => [`a character split at byte ${position}`, raw(...at(position), stopped, done), { text: "5 € 👍" }]),
  ["a byte order mark", ends("\uFEFF", delta("Yes.")), { text: "Yes." }],
  ["no [DONE]", raw(delta("Yes."), stopped), { text: "Yes.", finished: { why: "stop" } }],
  ["no [DONE], and no empty line at the end", raw(delta("Yes."), stopped.trimEnd()), { text: "Yes." }],
  ["no reason to stop", raw(delta("Yes."), done), { text: "Yes.", finished: { why: "stop" } }],
  ["a reset after the reason to stop", { pieces: [delta("Yes."), stopped], ending: "reset" }, { text: "Yes." }],
  ["neither [DONE] nor an end", { pieces: [delta("Yes."), stopped], ending: "hang" }, { text: "Yes." }],
  [
    "a whole reply although a stream was asked for",
    json(whole({ text: ["Yes."], calls: [{ name: "refused", arguments: [] }], promptTokens: 2 })),
    { text: "Yes.", calls: asRefused, finished: { usage: { promptTokens: 2 } } }
  ],
  [
    "a server that loses calls when it streams",
    { calls: [{ name: "refused", arguments: [] }] },
    { calls: asRefused, config: { whole_with_tools: true } }
  ],
  ["an empty answer", { text: [] }, { text: "", calls: [], finished: { why: "stop" } }]
]

t.test("compatible servers differ", async (t) => {
  for (const [what, reply, { calls, config = {}, finished: last, text = "" }] of differing) {
    const { error, parts } = await answerTo(t, reply, aRequest, { config })
    t.equal(error, undefined, what)
    t.equal(textOf(parts), text, `${what}: what is spoken`)
    t.ok(
      parts.every((part) => part._tag !== "Text" || part.text.trim() !== ""),
      `${what}: no part is whitespace alone`
    )
    t.strictSame(callsOf(parts), calls ?? [], `${what}: the calls`)
    t.equal(new Set(idsOf(parts)).size, idsOf(parts).length, `${what}: each call has an id of its own`)
    t.notOk(idsOf(parts).includes(""), what)
    t.match(parts.at(-1), { _tag: "Finished", ...last }, `${what}: the end`)
  }
})
