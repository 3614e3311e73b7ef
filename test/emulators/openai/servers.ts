/** Servers that speak the protocol in their own way, each with what it refuses and how its answers differ. */
import type { Completion, ScriptedCall } from "./completions.ts"
import type { RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import type { ChatBody, Message } from "./refusals.ts"

export interface ModelServer {
  /** Why it refuses a request that the vendor would accept. */
  readonly refuses?: (body: ChatBody) => string | undefined
  /** The status of that; 400 by default. */
  readonly status?: number
  /** The body of that, from its words. */
  readonly errorOf?: (words: string) => object
  /** What it makes of the model's answer. */
  readonly writes?: (completion: Completion) => Completion
  /** How it sends that. */
  readonly sends?: (reply: RawReply) => RawReply
}

const spokenIn = ({ messages = [] }: ChatBody) => messages.filter(({ role }) => role !== "system")
const isTurn = ({ role, tool_calls: calls }: Message) => role === "user" || (role === "assistant" && calls === undefined)
const wantsUserFirst = (body: ChatBody) => (spokenIn(body)[0]?.role === "user" ? undefined : "No user query found in messages.")
const alternatesFromUser = (body: ChatBody) =>
  spokenIn(body)
    .filter(isTurn)
    .every(({ role }, index) => (role === "user") === (index % 2 === 0)) && spokenIn(body)[0]?.role === "user"
const wantsAlternation = (body: ChatBody) =>
  alternatesFromUser(body)
    ? undefined
    : "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
const endsWithAssistant = (body: ChatBody) => body.messages?.at(-1)?.role === "assistant"
const hasSystem = ({ messages = [] }: ChatBody) => messages.some(({ role }) => role === "system")
const namesTool = (body: ChatBody) => typeof body.tool_choice === "object"
const inVllm = (message: string) => ({ object: "error", message, type: "BadRequestError", param: null, code: 400 })

/** Tokens are shorter than marks. */
const inTokens = (text: string) => text.match(/[\s\S]{1,3}/g) ?? []
const textOf = ({ text = [] }: Completion) => text.join("")
const objectOf = (call: ScriptedCall): object => JSON.parse(call.arguments.join("") || "{}") as object // As the tests have scripted it.
const inJson = (call: ScriptedCall, key = "arguments") => JSON.stringify({ name: call.name, [key]: objectOf(call) })

const textual = (write: (text: string, calls: ReadonlyArray<ScriptedCall>) => string): ModelServer => ({
  writes: ({ calls = [], ...rest }) => ({ ...rest, text: inTokens(write(textOf(rest), calls)) })
})
/** Writes each call as text. */
const writing = (write: (call: ScriptedCall) => string) => textual((text, calls) => text + calls.map(write).join(""))
const withArguments = (change: (json: string) => string): ModelServer => ({
  writes: ({ calls = [], ...rest }) => ({
    ...rest,
    calls: calls.map((call) => ({ ...call, arguments: [change(call.arguments.join("") || "{}")] }))
  })
})

const withoutEnd: ModelServer = {
  sends: (reply) => ({
    ...reply,
    pieces: reply.pieces.map((piece) =>
      typeof piece === "string" ? piece.replace("data: [DONE]\n\n", "").replace(/"finish_reason":"\w+"/, '"finish_reason":null') : piece
    )
  })
}

const signature = "CiQB4/H/XjRZ3q0xGd2signed=="
const signed = (call: ScriptedCall) => ({ ...call, members: { extra_content: { google: { thought_signature: signature } } } })
const isUnsigned = (call: Readonly<Record<string, unknown>>) => !JSON.stringify(call).includes(signature)
const callsIn = ({ messages = [] }: ChatBody) => messages.flatMap(({ tool_calls: calls = [] }) => calls)
const answersIn = ({ messages = [] }: ChatBody) => messages.filter(({ role }) => role === "assistant")
const known = ["role", "content", "tool_calls"]

/** By what it is about them. */
export const modelServers: Readonly<Record<string, ModelServer>> = {
  "the vendor": {},
  "wants a user message first": { refuses: wantsUserFirst, errorOf: inVllm },
  "wants alternation": { refuses: wantsAlternation, errorOf: inVllm },
  "wants alternation, and says so with a 500": {
    refuses: (body) =>
      alternatesFromUser(body) ? undefined : "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...",
    status: 500
  },
  "wants alternation, and does not say so": {
    refuses: (body) => (wantsAlternation(body) === undefined ? undefined : "Bad request"),
    errorOf: (detail) => ({ detail })
  },
  "wants a user or a tool at the end": {
    refuses: (body) =>
      wantsAlternation(body) ?? (endsWithAssistant(body) ? "Expected last role User or Tool for serving but got assistant" : undefined)
  },
  "wants alternation of all messages, and knows no tool message": {
    refuses: (body) =>
      spokenIn(body).every(({ role }, index) => role === (index % 2 === 0 ? "user" : "assistant"))
        ? undefined
        : "Conversation roles must alternate user/assistant/user/assistant/..."
  },
  "knows no system message": { refuses: (body) => (hasSystem(body) ? "System role not supported" : wantsAlternation(body)) },
  "takes only a text as tool_choice": {
    refuses: (body) => (namesTool(body) ? "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" : undefined),
    errorOf: (error) => ({ error })
  },
  "takes only a text as tool_choice, and says so with a 500": {
    refuses: (body) => (namesTool(body) ? "[json.exception.type_error.302] type must be string, but is object" : undefined),
    status: 500
  },
  "takes only a text as tool_choice, and wants alternation": {
    refuses: (body) => wantsAlternation(body) ?? (namesTool(body) ? "Input should be 'none', 'auto' or 'required'" : undefined),
    status: 422,
    errorOf: (msg) => ({ detail: [{ type: "literal_error", loc: ["body"], msg }] })
  },
  "takes only the name of a tool as tool_choice": {
    refuses: (body) => (typeof body.tool_choice === "string" ? '`tool_choice` must either be a named tool, "auto", or "none"' : undefined)
  },
  "takes no tool_choice": { refuses: (body) => (body.tool_choice === undefined ? undefined : "this model does not support tool_choice") },
  "knows no tools": {
    ...writing((call) => `<tool_call>${inJson(call)}</tool_call>`),
    refuses: ({ messages = [], tools }) =>
      tools === undefined && messages.every(({ role, tool_calls: calls }) => role !== "tool" && calls === undefined)
        ? undefined
        : "registry.ollama.ai/library/gemma3:latest does not support tools"
  },
  "has no parser for calls": {
    ...writing((call) => `<tool_call>${inJson(call)}</tool_call>`),
    refuses: ({ tool_choice: choice, tools }) =>
      tools === undefined || choice !== undefined
        ? undefined
        : '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    errorOf: inVllm
  },
  "wants its signatures back": {
    refuses: (body) => (callsIn(body).some(isUnsigned) ? "Function call is missing a thought_signature in functionCall parts." : undefined),
    errorOf: (message) => [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }],
    writes: ({ calls = [], ...rest }) => ({ ...rest, calls: calls.map(signed) })
  },
  "wants its reasoning back with calls": {
    refuses: (body) =>
      answersIn(body).some((one) => one.tool_calls !== undefined && one["reasoning_content"] !== "Hm.")
        ? "The `reasoning_content` in the thinking mode must be passed back to the API."
        : undefined,
    writes: (completion) => ({ ...completion, members: { reasoning_content: "Hm." } })
  },
  "wants members back of which nobody has heard": {
    refuses: (body) =>
      answersIn(body).some((one) => one.tool_calls !== undefined && JSON.stringify(one["x_state"]) !== '{"step":[1,2]}')
        ? "x_state is missing"
        : undefined,
    writes: (completion) => ({ ...completion, members: { x_state: { step: [1, 2] } } })
  },
  "refuses the members that it sends": {
    refuses: (body) =>
      answersIn(body).some((one) => Object.keys(one).some((name) => !known.includes(name)))
        ? "property 'reasoning' is unsupported"
        : undefined,
    writes: (completion) => ({ ...completion, members: { reasoning: "Hm." } })
  },
  "writes calls as Qwen": writing((call) => `<tool_call>\n${inJson(call)}\n</tool_call>`),
  "writes calls as Mistral": writing((call) => `[TOOL_CALLS][${inJson(call)}]`),
  "writes calls as Mistral's newer models": writing((call) => `[TOOL_CALLS]${call.name}[ARGS]${JSON.stringify(objectOf(call))}`),
  "writes calls as Llama": writing((call) => `<|python_tag|>${inJson(call, "parameters")}<|eom_id|>`),
  "writes calls as Llama's custom tools": writing((call) => `<function=${call.name}>${JSON.stringify(objectOf(call))}</function>`),
  "writes calls as DeepSeek": writing(
    (call) =>
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${JSON.stringify(objectOf(call))}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`
  ),
  "writes calls as GPT-OSS": writing(
    (call) => `<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${JSON.stringify(objectOf(call))}<|call|>`
  ),
  "writes calls as bare JSON": writing((call) => inJson(call)),
  "writes calls as fenced JSON": writing((call) => `\`\`\`json\n${inJson(call)}\n\`\`\``),
  "writes calls as code": writing(
    (call) => `${call.name}(${Object.keys(objectOf(call)).length === 0 ? "" : JSON.stringify(objectOf(call))})`
  ),
  "writes calls as elements": writing((call) => `<${call.name}>${JSON.stringify(objectOf(call))}</${call.name}>`),
  "lets special tokens through": textual(
    (text, calls) => `${text}${calls.map((call) => `<tool_call>${inJson(call)}</tool_call>`).join("")}<|im_end|>`
  ),
  "writes more behind arguments": withArguments((json) => `${json}<|call|>`),
  "writes arguments twice": withArguments((json) => json + json),
  "writes arguments as a string": withArguments((json) => JSON.stringify(json)),
  "fences arguments": withArguments((json) => `\`\`\`json\n${json}\n\`\`\``),
  "ends without a reason and [DONE]": withoutEnd,
  "calls a stream JSON": { sends: (reply) => ({ ...reply, contentType: "application/json" }) },
  "calls JSON a stream": { sends: (reply) => ({ ...reply, contentType: "text/event-stream" }) },
  "thinks without a beginning": textual(
    (text, calls) => `They agree.\n</think>\n\n${text}${calls.map((call) => `<tool_call>${inJson(call)}</tool_call>`).join("")}`
  )
}
