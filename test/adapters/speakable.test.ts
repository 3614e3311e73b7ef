/** What of a model's text is spoken, carried out and dropped, wherever the text is cut into pieces. */
import fc from "fast-check"
import t from "tap"
import { Speakable, type Thinking } from "#adapters/voice/shared/Speakable.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { forAllOf } from "#test/support/forAll.ts"

const toolOf = (name: string, ...parameters: ReadonlyArray<string>): ModelTool => ({
  name,
  description: "",
  parameters: { type: "object", properties: Object.fromEntries(parameters.map((one) => [one, { type: "string" }])) }
})
const known = new Map<string, ModelTool | undefined>([
  ["book", toolOf("book", "day", "note")],
  ["opt_out", toolOf("opt_out")],
  ["elsewhere", undefined]
])

const sorted = (pieces: ReadonlyArray<string>, thinking: Thinking = "never") => {
  const speakable = new Speakable(thinking, known)
  const said = pieces.map((piece) => speakable.push(piece))
  const text = said.join("") + speakable.end(false)
  const calls = speakable.calls.map(({ arguments: given, name }) => [name, given] as const)
  // Whitespace at the end comes with the piece before it, or never.
  return { said, text: text.trimEnd(), calls, withheld: speakable.withheld }
}
const letters = (text: string) => Array.from({ length: text.length }, (_, index) => text.charAt(index))

const optOut = [["opt_out", {}]]
const friday = [["book", { day: "Friday" }]]
const none: ReadonlyArray<unknown> = []
const inJson = '{"name": "book", "arguments": {"day": "Friday"}}'
const optOutInJson = '{"name": "opt_out", "arguments": {}}'

type Row = readonly [text: string, spoken: string, calls: ReadonlyArray<unknown>, withheld?: Partial<{ calls: number; tokens: number }>]
const rows: ReadonlyArray<Row> = [
  // Ordinary text
  ["Is 1 < 2, [or] {so}? `Yes`, <b>really</b>: book it.", "Is 1 < 2, [or] {so}? `Yes`, <b>really</b>: book it.", none],
  ["a <th", "a <th", none],
  ["I would opt_out, or rebook(ing), bookings", "I would opt_out, or rebook(ing), bookings", none],
  ["The tools we print in default", "The tools we print in default", none],
  ["```\nHello\n```", "```\nHello", none, { calls: 1 }],
  // Thoughts
  ["<think>Hm</think>Yes.", "Yes.", none],
  ["A. <Think>x</Think> B. <reasoning>y</reasoning>C.", "A.  B. C.", none],
  ["[THINK]Hm[/THINK]Yes.", "Yes.", none],
  ["<|START_THINKING|>Hm<|END_THINKING|>Yes.", "Yes.", none],
  ["<think><tool_call>{}</tool_call>opt_out()", "", none],
  // Special tokens
  ["Yes.<|im_end|>", "Yes.", none, { tokens: 1 }],
  ["Fine<|im_end|>, see you.</s>", "Fine, see you.", none, { tokens: 2 }],
  ["<s>Yes.<|eot_id|>", "Yes.", none, { tokens: 2 }],
  ["Yes.<｜end▁of▁sentence｜>", "Yes.", none, { tokens: 1 }],
  ["Yes.<|im_e", "Yes.", none, { tokens: 1 }],
  ["Yes.<|im_end|>\n<|im_start|>user\nNo<|im_end|>\n<|im_start|>assistant\nOh.", "Yes.\n\nOh.", none],
  ["<|start_header_id|>assistant<|end_header_id|>\n\nYes.", "Yes.", none],
  ["Yes.<|user|>And then?<|assistant|>Then.", "Yes.Then.", none],
  // OpenAI's harmony
  ["<|channel|>analysis<|message|>They agree.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", "Yes.", none],
  ["<|channel|>commentary to=functions.opt_out <|constrain|>json<|message|>{}<|call|>", "", optOut],
  ['<|start|>assistant to=functions.book<|channel|>commentary json<|message|>{"day":"Friday"}<|call|>', "", friday],
  ["<|channel|>commentary to=functions.nothing<|message|>{}<|call|>", "", none, { calls: 1 }],
  // Marked calls
  [`Sure. <tool_call>\n${inJson}\n</tool_call>`, "Sure.", friday, { calls: 0, tokens: 0 }],
  [`<tool_call>${optOutInJson}`, "", optOut],
  [`<tool_call>${optOutInJson}<|im_end|>`, "", optOut],
  [`<tool_call>${inJson}</tool_call>\n<tool_call>${optOutInJson}</tool_call> Bye.`, "Bye.", [...friday, ...optOut]],
  ["<tool_call>opt_out\n</tool_call>", "", optOut],
  ["<tool_call>book\n<arg_key>day</arg_key>\n<arg_value>Friday</arg_value>\n</tool_call>", "", friday],
  ["<tool_call>\n<function=book>\n<parameter=day>\nFriday\n</parameter>\n</function>\n</tool_call>", "", friday],
  ["<function=opt_out>{}</function>", "", optOut],
  ['<function=book>{"day": "Friday"}</function>', "", friday],
  ["<function=opt_out></function>", "", optOut],
  ['<function_calls><invoke name="book"><parameter name="day">Friday</parameter></invoke></function_calls>', "", friday],
  [
    '<｜DSML｜function_calls><｜DSML｜invoke name="book"><｜DSML｜parameter name="day" string="true">Friday</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
    "",
    friday
  ],
  [`[TOOL_CALLS][${inJson}]`, "", friday],
  ['[TOOL_CALLS]book[ARGS]{"day": "Friday"}</s>', "", friday],
  ["[TOOL_CALLS]opt_out[CALL_ID]aB3dE6gH9[ARGS]{}", "", optOut],
  ['<|python_tag|>{"name": "book", "parameters": {"day": "Friday"}}<|eom_id|>', "", friday],
  ['<|python_tag|>book.call(day="Friday")', "", friday],
  ['<|tool_call_start|>[book(day="Friday")]<|tool_call_end|>', "", friday],
  [
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.opt_out:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    "",
    optOut
  ],
  [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book\n```json\n{"day": "Friday"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "",
    friday
  ],
  ["<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>opt_out<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", optOut],
  ['<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "book", "parameters": {"day": "Friday"}}]<|END_ACTION|>', "", friday],
  [`Yes.<|tool_call|>[${inJson}]`, "Yes.", friday],
  // Bare calls
  [inJson, "", friday],
  [`Sure.\n${optOutInJson}\nGoodbye.`, "Sure.\n Goodbye.", optOut],
  [`[${inJson}, ${optOutInJson}]`, "", [...friday, ...optOut]],
  ['{"type": "function", "function": {"name": "book", "arguments": "{\\"day\\": \\"Friday\\"}"}}', "", friday],
  ['{"tool_calls": [{"function": {"name": "opt_out", "arguments": "{}"}}]}', "", optOut],
  ['{"tool": "book", "day": "Friday"}', "", friday],
  ['{"book": {"day": "Friday"}}', "", friday],
  ["{'name': 'book', 'arguments': {'day': 'Friday'}}", "", friday],
  [`\`\`\`json\n${inJson}\n\`\`\``, "", friday],
  [`\`\`\`xml\n<tool_call>${inJson}</tool_call>\n\`\`\``, "", friday],
  ["opt_out()", "", optOut],
  ["Goodbye. opt_out();", "Goodbye.", optOut],
  ["`opt_out()`", "", optOut],
  ["functions.opt_out()", "", optOut],
  ["```tool_code\nprint(book(day='Friday'))\n```", "", friday],
  ['book({"day": "Friday"})', "", friday],
  ['book("Friday")', "", friday],
  ['[book(day="Friday"), opt_out()]', "", [...friday, ...optOut]],
  [`functools[${inJson}]`, "", friday],
  [`<tools>${optOutInJson}</tools>`, "", optOut],
  ["<opt_out/> Goodbye.", "Goodbye.", optOut],
  ["<opt_out></opt_out>", "", optOut],
  ["<book><day>Friday</day></book>", "", friday],
  ["<think>Hm</think><answer>Yes.</answer>", "Yes.", none, { tokens: 2 }],
  [`${inJson}${inJson}`, "", friday, { calls: 0 }],
  [`<tool_call>${optOutInJson}\n${optOutInJson}</tool_call>`, "", optOut],
  // Not carried out
  ["<book><day>Fri", "", none, { calls: 1 }],
  ['{"name": "nothing", "arguments": {}} Bye.', "Bye.", none, { calls: 1 }],
  [`<tool_call>${inJson.replace("book", "nothing")}</tool_call>`, "", none, { calls: 1 }],
  ["elsewhere() Bye.", "Bye.", none, { calls: 1 }],
  ['Sure. {"name": "book", "argum', "Sure.", none, { calls: 1 }],
  ['<tool_call>{"name": "book", "arguments": {"day": "Fri', "", none, { calls: 1 }],
  ["<function=book>\n<parameter=day>\nFri", "", none, { calls: 1 }],
  ["Sure. opt_out(", "Sure.", none, { calls: 1 }],
  ["<tool_call>I will opt_out now</tool_call>", "", none, { calls: 1 }],
  ['[TOOL_CALLS][{"name": "book"', "", none, { calls: 1 }],
  ["<tool_c", "", none, { tokens: 1 }]
]

t.test("given a text", async (t) => {
  for (const [text, spoken, calls, withheld] of rows) {
    const { said: _, ...whole } = sorted([text])
    t.match({ text: whole.text, calls: whole.calls, withheld: whole.withheld }, { text: spoken, withheld: withheld ?? {} }, text)
    t.strictSame(whole.calls, calls, `the calls of ${text}`)
    const { said: __, ...spelled } = sorted(letters(text))
    t.strictSame(spelled, whole, `letter by letter: ${text}`)
    for (const at of letters(text).keys()) {
      const { said: ___, ...cut } = sorted([text.slice(0, at), text.slice(at)])
      if (JSON.stringify(cut) !== JSON.stringify(whole)) t.strictSame(cut, whole, `cut at ${at}: ${text}`)
    }
  }
})

t.test("given any text, then it does not matter where it is cut", async (t) => {
  const fragments = fc.constantFrom(
    ...rows.map(([text]) => text),
    ..."<>[]{}()`'\"|｜:,\n /".split(""),
    ..."<think> </think> <tool_call> </tool_call> <|im_start|> <|im_end|> [TOOL_CALLS] <|channel|> <|message|> name book opt_out( analysis user".split(
      " "
    )
  )
  const texts = fc.array(fragments, { minLength: 1, maxLength: 6, size: "max" }).map((parts) => parts.join(""))
  forAllOf(
    { seed: 36, numRuns: 3000 },
    texts,
    fc.array(fc.nat(400), { maxLength: 8 }),
    fc.constantFrom<Thinking>("never", "perhaps", "always"),
    (text, cuts, thinking) => {
      const places = [...new Set(cuts)].filter((at) => at < text.length).toSorted((one, other) => one - other)
      const pieces = [0, ...places].map((from, index) => text.slice(from, places[index]))
      const { said: _, ...cut } = sorted(pieces, thinking)
      const { said: __, ...whole } = sorted([text], thinking)
      return JSON.stringify(cut) === JSON.stringify(whole)
    }
  )
  t.pass("the same is spoken, carried out and dropped")
})

t.test("given ordinary text, then it flows at once", async (t) => {
  const pieces = ["Good", " morning", ", this", " is", " Ada", ".", " It", " costs", " 5", " €", " [net]", ": <", " 10", " {or so}", "."]
  t.strictSame(sorted(pieces).said, [...pieces.slice(0, 11), ": ", "< 10", " {or so}", "."], "but for what may begin something")
})

t.test("given a server whose thoughts have no beginning", async (t) => {
  const thinking = "They agree.\n</think>\n\nYes."
  const speakable = new Speakable("never", known)
  t.equal(speakable.push(thinking) + speakable.end(false), "They agree.\n\n\nYes.", "when it is not known, then the thought has been said")
  t.equal(speakable.startsThinking, true, "but it is known from then on")
  t.equal(sorted(letters(thinking), "perhaps").text, "Yes.", "then it is held back")
  t.equal(sorted(["Yes", "."], "perhaps").text, "Yes.", "an answer without a thought is spoken at its end")
  const cut = new Speakable("perhaps", known)
  t.equal(cut.push("They ag") + cut.end(true), "", "an answer that is cut off may be a thought")
  t.equal(sorted(["</think>", "Yes."]).text, "Yes.")
  const empty = new Speakable("never", known)
  empty.push("</think>Yes.")
  t.equal(empty.startsThinking, false, "an empty thought is nothing to wait for")
})
