/** The chunks of Gemini's answers, as Google documents them. */

interface ScriptedCall {
  readonly id?: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Of the part that holds the call. */
  readonly signature?: string
}

/** The model's answer, which is sent as the protocol requires. */
export interface ScriptedContent {
  /** A summary of the model's thought, before anything else. */
  readonly thought?: string
  /** The text in the pieces that are sent. */
  readonly text?: ReadonlyArray<string>
  readonly calls?: ReadonlyArray<ScriptedCall>
  readonly finish?: string
  readonly promptTokens?: number
  readonly candidateTokens?: number
  readonly thoughtTokens?: number
  readonly cachedTokens?: number
  readonly firstTokenMillis?: number
  readonly gapMillis?: number
}

export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`

const head = { modelVersion: "emulated", responseId: "bWZ3aMLrDpGUxN8P" }
export const chunk = (parts: ReadonlyArray<object>, finishReason?: string, usageMetadata: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 }],
  usageMetadata,
  ...head
})
/** The answer to a prompt that a filter has stopped. */
export const blocked = (blockReason: string) => ({ promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 5 }, ...head })

let calls = 0
const partOf = ({ args, id, name, signature }: ScriptedCall): object => ({
  functionCall: { id: id ?? `call_${++calls}`, name, args },
  ...(signature === undefined ? {} : { thoughtSignature: signature })
})

const usageOf = ({ cachedTokens, candidateTokens = 0, promptTokens = 0, thoughtTokens }: ScriptedContent) => ({
  promptTokenCount: promptTokens,
  candidatesTokenCount: candidateTokens,
  totalTokenCount: promptTokens + candidateTokens + (thoughtTokens ?? 0),
  ...(cachedTokens === undefined ? {} : { cachedContentTokenCount: cachedTokens }),
  ...(thoughtTokens === undefined ? {} : { thoughtsTokenCount: thoughtTokens })
})

const chunksOf = (content: ScriptedContent) => {
  const { calls: called = [], finish = "STOP", text = [], thought } = content
  const parts = [
    ...(thought === undefined ? [] : [[{ text: thought, thought: true }]]),
    ...text.map((piece) => [{ text: piece }]),
    // All calls come in one chunk.
    ...(called.length === 0 ? [] : [called.map(partOf)])
  ]
  const [last = [{ text: "" }], ...before] = parts.toReversed()
  return [...before.toReversed().map((one) => chunk(one)), chunk(last, finish, usageOf(content))]
}

export const streamed = (content: ScriptedContent): ReadonlyArray<string> => chunksOf(content).map(event)

/** The answer to a request that wants no stream. */
export const whole = (content: ScriptedContent) => {
  const parts = chunksOf(content).flatMap(({ candidates }) => candidates.flatMap((one) => one.content.parts))
  return chunk(parts, content.finish ?? "STOP", usageOf(content))
}

export const errorBody = (code: number, status: string, message: string, details: ReadonlyArray<object> = []) => ({
  error: { code, message, status, ...(details.length === 0 ? {} : { details }) }
})
export const invalidKey = errorBody(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }
])
/** `retryDelay`: such as `12s`. */
export const quotaExceeded = (message: string, retryDelay: string) =>
  errorBody(429, "RESOURCE_EXHAUSTED", message, [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }
  ])
