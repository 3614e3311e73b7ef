/**
 * The marks in a model's text that are not speech: special tokens, thoughts, tool calls, and the headers of other speakers' turns. Tokenizers
 * and chat templates of the model families that vLLM, llama.cpp and the like serve define them.
 */

export type Mark =
  | { readonly _tag: "Thought" }
  | { readonly _tag: "ThoughtEnd" }
  /** A tool call follows, up to one of these, or to the end of the turn. */
  | { readonly _tag: "Calls"; readonly closers: ReadonlyArray<string> }
  /** The role of the next speaker follows, up to the end of the line or another token. */
  | { readonly _tag: "Role" }
  /** The next turn is the model's own, or somebody else's. */
  | { readonly _tag: "Turn"; readonly isOwn: boolean }
  /** A header of OpenAI's harmony format follows: https://github.com/openai/harmony */
  | { readonly _tag: "Header" }
  | { readonly _tag: "Token" }

export interface Marked {
  readonly mark: Mark
  readonly length: number
}

const token: Mark = { _tag: "Token" }
/** Tags may have attributes. */
const longestTag = 256

/** In lower case. */
export const turnEnds = [
  "<|im_end|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|call|>",
  "<|end|>",
  "<|return|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<|end_of_turn|>",
  "<｜end▁of▁sentence｜>",
  "<end_of_turn>",
  "</s>"
] as const
export const messageToken = "<|message|>"

const thoughtNames = ["think", "thinking", "thought", "reasoning", "seed:think"]
const callNames = [
  "tool_call",
  "tool_calls",
  "toolcall",
  "tool_use",
  "tool",
  "tools",
  "tool_code",
  "function_call",
  "function_calls",
  "minimax:tool_call",
  "seed:tool_call",
  "function",
  "invoke"
]
const otherNames = [
  "answer",
  "response",
  "s",
  "pad",
  "unk",
  "eos",
  "bos",
  "eot",
  "end_of_turn",
  "start_of_turn",
  "parameter",
  "arg_key",
  "arg_value",
  "tool_response"
]
const tagNames = [...thoughtNames, ...callNames, ...otherNames]

/** In lower case. */
export const thoughtEnds = [...thoughtNames.map((name) => `</${name}>`), "<|end_thinking|>", "<|end_of_thought|>", "[/think]"]

export interface Found {
  readonly at: number
  readonly end: number
}

/** The first of the marks in the text. They are in lower case. */
export const firstOf = (text: string, marks: ReadonlyArray<string>): Found | undefined => {
  const lower = text.toLowerCase()
  return marks
    .flatMap((mark): ReadonlyArray<Found> => {
      const at = lower.indexOf(mark)
      return at < 0 ? [] : [{ at, end: at + mark.length }]
    })
    .toSorted((one, other) => one.at - other.at)[0]
}

/** What may begin a turn of the model itself. */
export const turnBegins = [
  "<|im_start|>",
  "<|start_header_id|>",
  "<|start_of_role|>",
  "<start_of_turn>",
  "<|start|>",
  "<|channel|>",
  "<|assistant|>",
  "<｜assistant｜>",
  "[/inst]"
] as const

const roles: Readonly<Record<string, Mark>> = {
  im_start: { _tag: "Role" },
  start_header_id: { _tag: "Role" },
  start_of_role: { _tag: "Role" },
  start: { _tag: "Header" },
  channel: { _tag: "Header" },
  assistant: { _tag: "Turn", isOwn: true },
  user: { _tag: "Turn", isOwn: false },
  system: { _tag: "Turn", isOwn: false },
  tool: { _tag: "Turn", isOwn: false },
  observation: { _tag: "Turn", isOwn: false }
}

/** `whole`: with its angle brackets. */
const tokenMark = (whole: string): Mark => {
  const name = whole
    .toLowerCase()
    .replaceAll(/[<>|｜]/g, "")
    .replaceAll("▁", "_")
  const known = roles[name]
  if (known !== undefined) return known
  if (/^(?:start_thinking|begin_of_thought)$/.test(name)) return { _tag: "Thought" }
  if (/^(?:end_thinking|end_of_thought)$/.test(name)) return { _tag: "ThoughtEnd" }
  if (whole.startsWith("</") || name.startsWith("/") || name.includes("end")) return token
  if (!/tool_?call|python_tag|start_action|action_start|function_calls|invoke/.test(name)) return token
  const lower = whole.toLowerCase()
  const closer = lower.includes("dsml") ? lower.replace("<", "</") : lower.replace(/begin|start/, "end")
  return {
    _tag: "Calls",
    closers: closer === lower ? [lower.replace(/([|｜])/, "$1/"), lower.replace("<|", "<").replace(/>$/, "|>")] : [closer]
  }
}

const tagMark = (name: string, isClosing: boolean): Mark => {
  if (thoughtNames.includes(name)) return { _tag: isClosing ? "ThoughtEnd" : "Thought" }
  if (!isClosing && callNames.includes(name)) return { _tag: "Calls", closers: [`</${name}>`] }
  return name === "start_of_turn" ? { _tag: "Role" } : token
}

const brackets: Readonly<Record<string, Mark>> = {
  "[tool_calls]": { _tag: "Calls", closers: ["[/tool_calls]"] },
  "[tool_call]": { _tag: "Calls", closers: ["[/tool_call]"] },
  "[think]": { _tag: "Thought" },
  "[/think]": { _tag: "ThoughtEnd" },
  "[inst]": { _tag: "Turn", isOwn: false },
  "[/inst]": { _tag: "Turn", isOwn: true },
  "[/tool_calls]": token,
  "[/tool_call]": token,
  "[args]": token,
  "[tool_results]": { _tag: "Turn", isOwn: false },
  "[/tool_results]": { _tag: "Turn", isOwn: true }
}

/** The mark at the beginning of the text; "wait" if more text may make it one. The answer does not depend on where the text is cut. */
export const markAt = (text: string): Marked | "wait" | undefined => {
  if (text.startsWith("[")) return bracketAt(text.toLowerCase())
  const special = /^<\/?[|｜][^<>\n]{1,60}>/.exec(text)
  if (special !== null) return { mark: tokenMark(special[0]), length: special[0].length }
  return /^<\/?(?:[|｜][^<>\n]{0,60})?$/.test(text) ? "wait" : tagAt(text)
}

const bracketAt = (lower: string): Marked | "wait" | undefined => {
  const name = Object.keys(brackets).find((one) => lower.startsWith(one))
  const mark = name === undefined ? undefined : brackets[name]
  if (name !== undefined && mark !== undefined) return { mark, length: name.length }
  return Object.keys(brackets).some((one) => one.startsWith(lower)) ? "wait" : undefined
}

const tagAt = (text: string): Marked | "wait" | undefined => {
  const [begin, slash, name] = /^<(\/?)([a-z_:]*)/i.exec(text) ?? ["", "", ""]
  const lower = (name ?? "").toLowerCase()
  if (begin === text) return tagNames.some((one) => one.startsWith(lower)) ? "wait" : undefined
  if (!tagNames.includes(lower)) return undefined
  const mark = tagMark(lower, slash === "/")
  if (text[begin.length] === ">") return { mark, length: begin.length + 1 }
  // `<function=name>`, `<invoke name="name">`: the name is part of the call.
  if (mark._tag !== "Calls" || !/[\s=(]/.test(text.charAt(begin.length))) return undefined
  const attributes = text.slice(begin.length, longestTag)
  if (/^[^<>]*>/.test(attributes)) return { mark, length: begin.length }
  return /^[^<>]*$/.test(attributes) && text.length < longestTag ? "wait" : undefined
}

/** Whether the rest of a text is a mark that was cut off: too much of one to be anything else. */
export const isCutMark = (text: string): boolean => /^<\/?[|｜]/.test(text) || (markAt(text) === "wait" && text.length >= 5)
