/** The events of the Messages protocol, as Anthropic documents them. */

interface ScriptedUse {
  readonly id?: string
  readonly name: string
  /** The JSON of the input, in the pieces that are sent. */
  readonly input: ReadonlyArray<string>
}

/** The model's answer, which is sent as the protocol requires. */
export interface ScriptedMessage {
  /** A thought with its signature, before anything else. */
  readonly thought?: { readonly text: ReadonlyArray<string>; readonly signature: string }
  /** The text in the pieces that are sent. */
  readonly text?: ReadonlyArray<string>
  readonly uses?: ReadonlyArray<ScriptedUse>
  /** A text block after the calls. */
  readonly textAfter?: string
  readonly stop?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReads?: number
  readonly cacheWrites?: number
  readonly firstTokenMillis?: number
  readonly gapMillis?: number
}

export const event = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
export const ping = event({ type: "ping" })
export const errorBody = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_011CSHoEeqs5C35K2UUqR7Fy"
})

let uses = 0
const useId = ({ id }: ScriptedUse): string => id ?? `toolu_01A09q90qw90lq91789${++uses}`

interface Block {
  readonly start: object
  readonly deltas: ReadonlyArray<object>
}
const textBlock = (pieces: ReadonlyArray<string>): Block => ({
  start: { type: "text", text: "", citations: null },
  deltas: pieces.map((text) => ({ type: "text_delta", text }))
})
const blocksOf = ({ text = [], textAfter, thought, uses: calls = [] }: ScriptedMessage): ReadonlyArray<Block> => [
  ...(thought === undefined
    ? []
    : [
        {
          start: { type: "thinking", thinking: "", signature: "" },
          deltas: [
            ...thought.text.map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: thought.signature }
          ]
        }
      ]),
  ...(text.length === 0 ? [] : [textBlock(text)]),
  ...calls.map((use) => ({
    start: { type: "tool_use", id: useId(use), name: use.name, input: {}, caller: { type: "direct" } },
    // The first piece is always empty.
    deltas: ["", ...use.input].map((partial_json) => ({ type: "input_json_delta", partial_json }))
  })),
  ...(textAfter === undefined ? [] : [textBlock([textAfter])])
]

/** Must come before the blocks of a scripted stream. */
export const begin = ({ cacheReads = 0, cacheWrites = 0, inputTokens = 0 }: ScriptedMessage = {}): string =>
  event({
    type: "message_start",
    message: {
      id: "msg_01XFDUDYJgAACzvnptvVoYEL",
      type: "message",
      role: "assistant",
      model: "emulated",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: inputTokens,
        cache_creation_input_tokens: cacheWrites,
        cache_read_input_tokens: cacheReads,
        output_tokens: 1
      }
    }
  })

const eventsOf = ({ deltas, start }: Block, index: number): ReadonlyArray<string> => [
  event({ type: "content_block_start", index, content_block: start }),
  ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
  event({ type: "content_block_stop", index })
]

/** A text block that is not closed. */
export const openText = (text: string): ReadonlyArray<string> => eventsOf(textBlock([text]), 0).slice(0, -1)
const end = event({ type: "message_stop" })
const stopped = (message: ScriptedMessage): string =>
  event({
    type: "message_delta",
    delta: { stop_reason: message.stop ?? ((message.uses ?? []).length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
    usage: { output_tokens: message.outputTokens ?? 1 }
  })

export const streamed = (message: ScriptedMessage): ReadonlyArray<string> => {
  const [first = [], ...rest] = blocksOf(message).map(eventsOf)
  // The service sends a ping after the first event of the first block.
  const [opening, ...others] = first
  return [begin(message), ...(opening === undefined ? [] : [opening, ping, ...others]), ...rest.flat(), stopped(message), end]
}

/** The answer to a request that wants no stream. */
export const whole = (message: ScriptedMessage) => ({
  id: "msg_01XFDUDYJgAACzvnptvVoYEL",
  type: "message",
  role: "assistant",
  model: "emulated",
  content: [
    ...(message.text === undefined ? [] : [{ type: "text", text: message.text.join("") }]),
    ...(message.uses ?? []).map((use) => ({
      type: "tool_use",
      id: useId(use),
      name: use.name,
      input: JSON.parse(use.input.join("") || "{}")
    }))
  ],
  stop_reason: message.stop ?? "end_turn",
  stop_sequence: null,
  usage: { input_tokens: message.inputTokens ?? 0, output_tokens: message.outputTokens ?? 1 }
})
