/** Turns the chunks of a chat completion, or a whole one, into the parts of an answer. It does no I/O and keeps no time. */
import { randomUUID } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Result } from "effect"
import { isObject, type JsonObject } from "#core/Json.ts"
import {
  type ModelError,
  type ModelPart,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
  noTokens
} from "#core/model/LanguageModel.ts"
import { at, numberAt, parse, textAt } from "#adapters/shared/Json.ts"
import { broken, midStream, tooLarge } from "./chatErrors.ts"
import { keptMembers, withUnknown } from "./Members.ts"
import { Speakable, type Thinking } from "./Speakable.ts"
import { type KnownTools, knownTools } from "./TextCalls.ts"
import { type BuiltCall, makeToolCallParts, type ToolCallParts } from "./ToolCallParts.ts"
import { variablesIn } from "./WrittenVariables.ts"

export interface ChatStep {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error?: ModelError
  /** Nothing more is needed, although the reply has not come to its end. */
  readonly isOver?: boolean
  /** The model is making progress: the step holds text, reasoning or a piece of a tool call. */
  readonly hasProgress?: boolean
}

const MOST_TEXT = 32_768

type Why = Extract<ModelPart, { _tag: "Finished" }>["why"]
const reasons: Readonly<Record<string, Why>> = {
  length: "length",
  max_tokens: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "filtered"
}

/** The content of a message or delta: a text, or a list of which some parts are text. */
const contentOf = (message: unknown): string => {
  const content = at(message, "content")
  if (!Array.isArray(content)) return typeof content === "string" ? content : (textAt(message, "refusal") ?? "")
  return content.map((part: unknown) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? "") : "")).join("")
}

const thoughtNames = ["reasoning_content", "reasoning", "thinking"]
const isProgress = (message: unknown): boolean =>
  contentOf(message) !== "" || ["tool_calls", "content", ...thoughtNames].some((name) => hasLength(at(message, name)))
const hasLength = (value: unknown): boolean => (typeof value === "string" || Array.isArray(value)) && value.length > 0

const usageOf = (chunk: unknown): ModelUsage | undefined => {
  // Groq sends the usage of a stream in a separate member.
  const usage = [at(chunk, "usage"), at(chunk, "x_groq", "usage")].find(isObject)
  if (usage === undefined) return undefined
  return {
    promptTokens: numberAt(usage, "prompt_tokens") ?? 0,
    completionTokens: numberAt(usage, "completion_tokens") ?? 0,
    cachedTokens: numberAt(usage, "prompt_tokens_details", "cached_tokens") ?? numberAt(usage, "prompt_cache_hit_tokens") ?? 0
  }
}

// Nine letters and digits: the longest id that every service accepts.
const newId = (): string => randomUUID().replaceAll("-", "").slice(0, 9)

/** Calls with ids that do not occur in the conversation. */
const withOwnIds = (
  calls: ReadonlyArray<Omit<ModelToolCall, "id"> & { readonly id?: string }>,
  { messages }: ModelRequest
): ReadonlyArray<ModelToolCall> => {
  const taken = new Set(messages.flatMap((message) => (message._tag === "Assistant" ? message.calls.map(({ id }) => id) : [])))
  return calls.map(({ id = "", ...call }) => {
    const ownId = id === "" || taken.has(id) ? newId() : id
    taken.add(ownId)
    return { id: ownId, ...call }
  })
}

const callOf = ({ arguments: given = {}, id, members, name }: BuiltCall) => ({
  id,
  name,
  arguments: given,
  ...(members === undefined ? {} : { members })
})

const knownOfMessage = ["role", "content", "tool_calls", "refusal"]

interface Asked {
  readonly request: ModelRequest
  readonly thinking: Thinking
  /** The body of the request and the key. */
  readonly sent: string
}

export class ChatAnswer {
  readonly #asked: Asked
  readonly #known: KnownTools
  readonly #toolCalls: ToolCallParts
  readonly #isExtraction: boolean
  #speakable: Speakable | undefined
  #members: JsonObject = {}
  #usage = noTokens
  #why: Why | undefined
  #text = ""
  #wasThought = false

  constructor(asked: Asked) {
    this.#asked = asked
    this.#known = knownTools(asked.request)
    this.#toolCalls = makeToolCallParts(asked.request.tools)
    this.#isExtraction = asked.request.purpose === "extract"
  }

  /** Takes the data of the next event, or the body of a reply that is not a stream. */
  push(data: string): ChatStep {
    return readable(() => this.#push(data))
  }

  /** To be called after `[DONE]`, or when the reply has ended. The last part is `Finished`, unless there is an error. */
  end(): ChatStep {
    return readable(() => this.#end())
  }

  /**
   * To be called instead if the reply breaks off. Calls that had arrived by then count, as text does: the model is not asked again, so nothing is
   * done twice. Without any, the step has the error.
   */
  brokenOff(error: ModelError): ChatStep {
    return readable(() => this.#breakOff(error))
  }

  /** The model has said why it stopped. Only the usage may still follow. */
  get hasFinished(): boolean {
    return this.#why !== undefined
  }
  /** The answer began with a thought that only had an end. */
  get startsThinking(): boolean {
    return this.#wasThought || this.#speakable?.startsThinking === true
  }

  #push(data: string): ChatStep {
    const chunk = parse(data)
    if (!isObject(chunk)) return this.#breakOff(broken("a piece of the answer is not JSON"))
    if (isObject(chunk["error"]) || typeof chunk["error"] === "string") return this.#breakOff(midStream(chunk, this.#asked.sent))
    this.#usage = usageOf(chunk) ?? this.#usage
    const choices = chunk["choices"]
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
    const delta = at(choice, "delta")
    const message = delta ?? at(choice, "message")
    const parts = this.#hear(contentOf(message), delta === undefined)
    this.#members = withUnknown(this.#members, message, knownOfMessage)
    if (!this.#toolCalls.push(at(message, "tool_calls"))) return { parts, error: tooLarge("tool calls") }
    if (this.#text.length > MOST_TEXT || this.#speakable?.isOverfull === true) return { parts, error: tooLarge("words") }
    const finish = textAt(choice, "finish_reason")
    if (finish !== undefined && finish !== "") this.#why = reasons[finish] ?? "stop"
    return { parts, hasProgress: isProgress(message) }
  }

  #end(): ChatStep {
    const built = this.#toolCalls.calls()
    if (built.some(({ name }) => name === "")) return { parts: [], error: broken("a tool call has no name") }
    if (built.some((call) => call.arguments === undefined))
      return { parts: [], error: broken("the arguments of a tool call are not a JSON object") }
    const isCut = this.#why === "length"
    if (!this.#isExtraction || built.length > 0) return this.#finish(built, isCut)
    return this.#extract(isCut) ?? { parts: [], error: broken("the answer holds no JSON object") }
  }

  #breakOff(error: ModelError): ChatStep {
    const complete = this.#toolCalls.calls().filter(({ isComplete, name }) => isComplete && this.#known.get(name) !== undefined)
    const step = (this.#isExtraction && complete.length === 0 ? this.#extract(true) : undefined) ?? this.#finish(complete, true)
    const hasCalls = step.parts.some(({ _tag }) => _tag === "ToolCall")
    return hasCalls ? { ...step, isOver: true } : { parts: step.parts.filter(({ _tag }) => _tag !== "Finished"), error }
  }

  /** A whole message can be read to its end before any of it is spoken. */
  #hear(content: string, isWhole: boolean): ReadonlyArray<ModelPart> {
    if (this.#isExtraction) this.#text += content
    if (this.#isExtraction || content === "") return []
    const { thinking } = this.#asked
    this.#speakable ??= new Speakable(isWhole && thinking === "never" ? "perhaps" : thinking, this.#known)
    return this.#say(this.#speakable.push(content))
  }

  #say(said: string): ReadonlyArray<ModelPart> {
    this.#text += said
    return said === "" ? [] : [{ _tag: "Text", text: said }]
  }

  #finish(built: ReadonlyArray<BuiltCall>, isCut: boolean): ChatStep {
    const mayBeThought = isCut || (built.length > 0 && this.#asked.thinking === "perhaps")
    const rest = this.#say(this.#speakable?.end(mayBeThought) ?? "")
    const structured = built.map(callOf)
    // A server that sends the calls, but leaves their text in the message, would have them carried out twice.
    const written = this.#speakable?.calls.filter((call) => !structured.some((one) => isSame(one, call))) ?? []
    const calls = withOwnIds([...structured, ...written], this.#asked.request)
    return { parts: [...rest, ...calls.map(partOf), this.#finished(calls.length > 0)] }
  }

  /** The variables, if the model has only written them down. */
  #extract(isCut: boolean): ChatStep | undefined {
    const { request, thinking } = this.#asked
    const [tool] = request.tools
    if (tool === undefined) return undefined
    const { startsThinking, variables } = variablesIn(this.#text, tool, { thinking, isCut })
    this.#wasThought ||= startsThinking
    if (variables === undefined) return undefined
    return { parts: [...withOwnIds([{ name: tool.name, arguments: variables }], request).map(partOf), this.#finished(true)] }
  }

  #finished(hasCalls: boolean): ModelPart {
    const withheld = this.#speakable?.withheld ?? noneWithheld
    const members = keptMembers(hasCalls ? this.#members : withoutThoughts(this.#members))
    return {
      _tag: "Finished",
      // With calls, some servers say "stop", or give no reason at all.
      why: hasCalls && this.#why !== "filtered" ? "tool_calls" : (this.#why ?? "stop"),
      usage: this.#usage,
      ...(members === undefined ? {} : { members }),
      ...(withheld.calls + withheld.tokens === 0 ? {} : { withheld })
    }
  }
}

/** What a server sends may be nested so deeply that nothing can read it. */
const readable = (step: () => ChatStep): ChatStep =>
  Result.getOrElse(Result.try(step), () => ({ parts: [], error: broken("the answer cannot be read") }))

const partOf = (call: ModelToolCall): ModelPart => ({ _tag: "ToolCall", call })

const noneWithheld = { calls: 0, tokens: 0 }

const isSame = (one: Pick<ModelToolCall, "arguments" | "name">, other: Pick<ModelToolCall, "arguments" | "name">): boolean =>
  one.name === other.name && isDeepStrictEqual(one.arguments, other.arguments)

/** Services want their reasoning back with calls alone, and it is long. */
const withoutThoughts = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !thoughtNames.includes(name)))
