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

const differing: ReadonlyArray<{
  readonly what: string
  readonly reply: Completion | RawReply
  readonly text?: string
  readonly calls?: ReadonlyArray<unknown>
  readonly finished?: object
  readonly config?: Readonly<Record<string, unknown>>
}> = [
  {
    what: "a whole call in one chunk",
    reply: raw(fragment({ index: 0, id: "a", type: "function", function: booked }), event(chunk({}, "tool_calls")), done),
    calls: asBooked
  },
  {
    what: "no index",
    reply: raw(
      fragment({ id: "a", function: { name: "booked", arguments: "" } }),
      fragment({ function: { arguments: '{"day":"Fri' } }),
      fragment({ function: { arguments: 'day"}' } }),
      fragment({ id: "b", function: { name: "refused", arguments: "{}" } }),
      stopped,
      done
    ),
    calls: bothCalls
  },
  {
    what: "index 0 for every call",
    reply: raw(
      fragment({ index: 0, id: "a", function: booked }),
      fragment({ index: 0, id: "b", function: { name: "refused", arguments: "{}" } }),
      stopped,
      done
    ),
    calls: bothCalls
  },
  {
    what: "index 0 for every call, and no ids",
    reply: raw(
      fragment({ index: 0, function: booked }),
      fragment({ index: 0, function: { name: "refused", arguments: "" } }),
      stopped,
      done
    ),
    calls: bothCalls
  },
  {
    what: "two calls of one tool, without index and ids",
    reply: raw(fragment({ function: booked }), fragment({ function: booked }), stopped, done),
    calls: [...asBooked, ...asBooked]
  },
  {
    what: "the same id for every call",
    reply: raw(
      fragment({ index: 0, id: "a", function: booked }),
      fragment({ index: 1, id: "a", function: { name: "refused" } }),
      stopped,
      done
    ),
    calls: bothCalls
  },
  {
    what: "id and name in every fragment",
    reply: raw(
      fragment({ index: 0, id: "a", function: { name: "booked", arguments: '{"day":' } }),
      fragment({ index: 0, id: "a", function: { name: "booked", arguments: '"Friday"}' } }),
      stopped,
      done
    ),
    calls: asBooked
  },
  {
    what: "a name in pieces",
    reply: raw(
      fragment({ index: 0, id: "a", function: { name: "boo" } }),
      fragment({ index: 0, function: { name: "ked", arguments: '{"day":"Friday"}' } }),
      stopped,
      done
    ),
    calls: asBooked
  },
  {
    what: "calls of different fragments interleaved",
    reply: raw(
      fragment({ index: 0, id: "a", function: { name: "booked", arguments: '{"day":' } }),
      fragment({ index: 1, id: "b", function: { name: "refused", arguments: "{" } }),
      fragment({ index: 0, function: { arguments: '"Friday"}' } }),
      fragment({ index: 1, function: { arguments: "}" } }),
      stopped,
      done
    ),
    calls: bothCalls
  },
  {
    what: "arguments as an object",
    reply: raw(fragment({ index: 0, id: "a", function: { name: "booked", arguments: { day: "Friday" } } }), stopped, done),
    calls: asBooked
  },
  {
    what: "arguments null",
    reply: raw(fragment({ index: 0, id: "a", function: { name: "refused", arguments: "null" } }), stopped, done),
    calls: [["refused", {}]]
  },
  {
    what: "finish_reason stop with calls",
    reply: { calls: [{ name: "refused", arguments: ["{}"] }], finish: "stop" },
    calls: [["refused", {}]],
    finished: { why: "tool_calls" }
  },
  { what: "an empty id", reply: raw(fragment({ index: 0, id: "", function: booked }), stopped, done), calls: asBooked },
  {
    what: "no usage",
    reply: raw(delta("Yes."), stopped, done),
    text: "Yes.",
    finished: { why: "stop", usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 } }
  },
  {
    what: "usage on every chunk",
    reply: raw(
      event({ ...chunk({ content: "Yes" }), usage: usage(1) }),
      event({ ...chunk({ content: "." }, "stop"), usage: usage(2) }),
      done
    ),
    text: "Yes.",
    finished: { usage: { promptTokens: 2, completionTokens: 2 } }
  },
  {
    what: "usage in a member of its own",
    reply: raw(delta("Yes."), event({ ...chunk({}, "stop"), x_groq: { usage: usage(4) } }), done),
    text: "Yes.",
    finished: { usage: { promptTokens: 4 } }
  },
  {
    what: "whitespace next to a call",
    reply: { text: ["\n", "\n  "], calls: [{ name: "refused", arguments: [] }] },
    text: "",
    calls: [["refused", {}]]
  },
  {
    what: "words in pieces, with the space in a piece of its own",
    reply: { text: ["\n\nFine,", " ", "see", " you.", "\n"] },
    text: "Fine, see you."
  },
  {
    what: "reasoning in a member of its own",
    reply: raw(
      event(chunk({ reasoning_content: "They are angry." })),
      event(chunk({ reasoning: "So be kind.", content: null })),
      delta("Sorry."),
      stopped,
      done
    ),
    text: "Sorry."
  },
  { what: "reasoning in tags", reply: { text: ["<think>They are angry.</think>", "\n\nSorry."] }, text: "Sorry." },
  {
    what: "reasoning in tags that are cut into pieces",
    reply: { text: ["<", "thi", "nk", ">They <b are", " angry.<", "/thi", "nk>Sor", "ry, 1 <", " 2."] },
    text: "Sorry, 1 < 2."
  },
  { what: "reasoning twice", reply: { text: ["A. <Think>x</Think> B. <reasoning>y</reasoning>C."] }, text: "A.  B. C." },
  { what: "reasoning that never ends", reply: { text: ["Yes. <think>They", " are"] }, text: "Yes. " },
  {
    what: "reasoning whose beginning is in the prompt",
    reply: { text: ["They are angry.</th", "ink>Sorry."] },
    text: "Sorry.",
    config: { starts_thinking: true }
  },
  { what: "a text that ends like the beginning of a tag", reply: { text: ["a <th"] }, text: "a <th" },
  {
    what: "content as a list",
    reply: raw(
      event(
        chunk({
          content: [
            { type: "thinking", thinking: "Hm" },
            { type: "text", text: "Yes." }
          ]
        })
      ),
      stopped,
      done
    ),
    text: "Yes."
  },
  {
    what: "a refusal",
    reply: raw(event(chunk({ refusal: "I cannot." })), event(chunk({}, "content_filter")), done),
    text: "I cannot.",
    finished: { why: "filtered" }
  },
  {
    what: "an answer that is too long for its limit",
    reply: { text: ["Yes"], finish: "length" },
    text: "Yes",
    finished: { why: "length" }
  },
  { what: "comment lines", reply: raw(": ping\n\n", delta("Yes"), ": OPENROUTER PROCESSING\n\n", delta("."), stopped, done), text: "Yes." },
  {
    what: "lines that end in CRLF",
    reply: raw(crlf(delta("Yes")), "data: ", crlf(delta(".").slice(6)).slice(0, -3), 1, "\n\r\n", crlf(stopped), crlf(done)),
    text: "Yes."
  },
  ...[...euro.keys()]
    .filter((position) => (euro[position] ?? 0) >= 0x80)
    .map((position) => ({ what: `a character split at byte ${position}`, reply: raw(...at(position), stopped, done), text: "5 € 👍" })),
  { what: "a byte order mark", reply: raw("\uFEFF", delta("Yes."), stopped, done), text: "Yes." },
  { what: "no [DONE]", reply: raw(delta("Yes."), stopped), text: "Yes.", finished: { why: "stop" } },
  { what: "no [DONE], and no empty line at the end", reply: raw(delta("Yes."), stopped.trimEnd()), text: "Yes." },
  { what: "no reason to stop", reply: raw(delta("Yes."), done), text: "Yes.", finished: { why: "stop" } },
  { what: "a reset after the reason to stop", reply: { pieces: [delta("Yes."), stopped], ending: "reset" }, text: "Yes." },
  { what: "neither [DONE] nor an end", reply: { pieces: [delta("Yes."), stopped], ending: "hang" }, text: "Yes." },
  {
    what: "a whole reply although a stream was asked for",
    reply: json(whole({ text: ["Yes."], calls: [{ name: "refused", arguments: [] }], promptTokens: 2 })),
    text: "Yes.",
    calls: [["refused", {}]],
    finished: { usage: { promptTokens: 2 } }
  },
  {
    what: "a server that loses calls when it streams",
    reply: { calls: [{ name: "refused", arguments: [] }] },
    calls: [["refused", {}]],
    config: { whole_with_tools: true }
  },
  { what: "an empty answer", reply: { text: [] }, text: "", calls: [], finished: { why: "stop" } }
]

t.test("compatible servers differ", async (t) => {
  for (const { calls, config = {}, finished: last, reply, text = "", what } of differing) {
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
