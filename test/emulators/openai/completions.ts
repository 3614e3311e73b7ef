/** The messages of the chat-completions protocol, as OpenAI documents them. */

export interface ScriptedCall {
  readonly id?: string
  readonly name: string
  /** The JSON of the arguments, in the pieces that are sent. */
  readonly arguments: ReadonlyArray<string>
  /** What the server sends with the call for itself. */
  readonly members?: object
}

/** The model's answer, which is sent as the protocol requires. */
export interface Completion {
  /** The text in the pieces that are sent. */
  readonly text?: ReadonlyArray<string>
  readonly calls?: ReadonlyArray<ScriptedCall>
  readonly finish?: string
  /** What the server sends with the message for itself. */
  readonly members?: object
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cachedTokens?: number
  readonly firstTokenMillis?: number
  readonly gapMillis?: number
}

const head = { id: "chatcmpl-1", created: 1_700_000_000, model: "emulated" }

export const chunk = (delta: object, finish: string | null = null) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }]
})

export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
export const done = "data: [DONE]\n\n"

const usageOf = ({ cachedTokens = 0, completionTokens = 0, promptTokens = 0 }: Completion) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: 0 }
})

const finishOf = ({ calls = [], finish }: Completion): string => finish ?? (calls.length > 0 ? "tool_calls" : "stop")

const callId = ({ id }: ScriptedCall, index: number): string => id ?? `call_${index}abcdefghijklmnop`

/** The events of a stream, `[DONE]` excluded. */
export const streamed = (completion: Completion, hasUsage: boolean): ReadonlyArray<string> => {
  const { calls = [], members = {}, text = [] } = completion
  const fragments = calls.flatMap((call, index) => [
    { index, id: callId(call, index), type: "function", function: { name: call.name, arguments: "" }, ...call.members },
    ...call.arguments.map((piece) => ({ index, function: { arguments: piece } }))
  ])
  const chunks = [
    chunk({ role: "assistant", content: calls.length > 0 && text.length === 0 ? null : "", ...members }),
    ...text.map((content) => chunk({ content })),
    ...fragments.map((fragment) => chunk({ tool_calls: [fragment] })),
    chunk({}, finishOf(completion))
  ]
  if (!hasUsage) return chunks.map(event)
  return [...chunks.map((one) => ({ ...one, usage: null })), { ...chunk({}), choices: [], usage: usageOf(completion) }].map(event)
}

export const whole = (completion: Completion) => {
  const { calls = [], members = {}, text = [] } = completion
  const toolCalls = calls.map((call, index) => ({
    id: callId(call, index),
    type: "function",
    function: { name: call.name, arguments: call.arguments.join("") },
    ...call.members
  }))
  const message = {
    role: "assistant",
    content: text.length === 0 ? null : text.join(""),
    refusal: null,
    ...members,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls })
  }
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(completion) }],
    usage: usageOf(completion)
  }
}

export const errorBody = (message: string, type: string, code: string | null = null, param: string | null = null) => ({
  error: { message, type, param, code }
})
