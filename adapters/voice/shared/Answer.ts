/**
 * Puts an answer together from the pieces that a language model's service sends, whatever its protocol. It does no I/O and keeps no time. The
 * service's adapter only says what is in a piece.
 */
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
import { parse } from "#adapters/shared/Json.ts"
import { broken, tooLarge } from "./modelErrors.ts"
import { keptMembers, withUnknown } from "./Members.ts"
import { Speakable, type Thinking } from "./Speakable.ts"
import { type KnownTools, knownTools } from "./TextCalls.ts"
import { type BuiltCall, makeToolCallParts, type ToolCallParts } from "./ToolCallParts.ts"
import { variablesIn } from "./WrittenVariables.ts"

export type Why = Extract<ModelPart, { _tag: "Finished" }>["why"]

/** What a service has sent with one event, or as a whole reply. */
export interface AnswerPiece {
  readonly text?: string
  /** The text is all of it, and not the next piece. */
  readonly isWhole?: boolean
  /** See `ToolCallParts`. */
  readonly calls?: unknown
  /** Members of the message that are not part of the protocol, or the next piece of them. */
  readonly members?: JsonObject
  /** The totals so far. */
  readonly usage?: ModelUsage | undefined
  /** Why the model has stopped. Only the usage may still follow. */
  readonly why?: Why | undefined
  /** The model is making progress: there is text, reasoning or a piece of a tool call. */
  readonly hasProgress?: boolean
  /** Nothing follows. */
  readonly isEnd?: boolean
  /** The service has sent an error instead. */
  readonly error?: ModelError
}

export interface AnswerStep {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error?: ModelError
  /** Nothing more is needed, although the reply has not come to its end. */
  readonly isOver?: boolean
  /** As in `AnswerPiece`. */
  readonly hasProgress?: boolean
  /** As in `AnswerPiece`. */
  readonly isEnd?: boolean
}

const MOST_TEXT = 32_768

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

const thoughtNames = ["reasoning_content", "reasoning", "thinking"]

interface Asked {
  readonly request: ModelRequest
  readonly thinking: Thinking
  /** What is in the next event, or in a reply that is not a stream. */
  readonly read: (sent: JsonObject) => AnswerPiece
}

export class Answer {
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
  push(data: string): AnswerStep {
    return readable(() => this.#push(data))
  }

  /** To be called when the reply has ended. The last part is `Finished`, unless there is an error. */
  end(): AnswerStep {
    return readable(() => this.#end())
  }

  /**
   * To be called instead if the reply breaks off. Calls that had arrived by then count, as text does: the model is not asked again, so nothing is
   * done twice. Without any, the step has the error.
   */
  brokenOff(error: ModelError): AnswerStep {
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

  #push(data: string): AnswerStep {
    if (data.trim() === "[DONE]") return { parts: [], isEnd: true }
    const sent = parse(data)
    if (!isObject(sent)) return this.#breakOff(broken("a piece of the answer is not JSON"))
    const { calls, error, hasProgress = false, isEnd = false, isWhole = false, members, text = "", usage, why } = this.#asked.read(sent)
    if (error !== undefined) return this.#breakOff(error)
    this.#usage = usage ?? this.#usage
    const parts = this.#hear(text, isWhole)
    this.#members = withUnknown(this.#members, members, [])
    if (!this.#toolCalls.push(calls)) return { parts, error: tooLarge("tool calls") }
    if (this.#text.length > MOST_TEXT || this.#speakable?.isOverfull === true) return { parts, error: tooLarge("words") }
    this.#why = why ?? this.#why
    return { parts, hasProgress, isEnd }
  }

  #end(): AnswerStep {
    const built = this.#toolCalls.calls()
    if (built.some(({ name }) => name === "")) return { parts: [], error: broken("a tool call has no name") }
    if (built.some((call) => call.arguments === undefined))
      return { parts: [], error: broken("the arguments of a tool call are not a JSON object") }
    const isCut = this.#why === "length"
    if (!this.#isExtraction || built.length > 0) return this.#finish(built, isCut)
    return this.#extract(isCut) ?? { parts: [], error: broken("the answer holds no JSON object") }
  }

  #breakOff(error: ModelError): AnswerStep {
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

  #finish(built: ReadonlyArray<BuiltCall>, isCut: boolean): AnswerStep {
    const mayBeThought = isCut || (built.length > 0 && this.#asked.thinking === "perhaps")
    const rest = this.#say(this.#speakable?.end(mayBeThought) ?? "")
    const structured = built.map(callOf)
    // A server that sends the calls, but leaves their text in the message, would have them carried out twice.
    const written = this.#speakable?.calls.filter((call) => !structured.some((one) => isSame(one, call))) ?? []
    const calls = withOwnIds([...structured, ...written], this.#asked.request)
    return { parts: [...rest, ...calls.map(partOf), this.#finished(calls.length > 0)] }
  }

  /** The variables, if the model has only written them down. */
  #extract(isCut: boolean): AnswerStep | undefined {
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
const readable = (step: () => AnswerStep): AnswerStep =>
  Result.getOrElse(Result.try(step), () => ({ parts: [], error: broken("the answer cannot be read") }))

const partOf = (call: ModelToolCall): ModelPart => ({ _tag: "ToolCall", call })

const noneWithheld = { calls: 0, tokens: 0 }

const isSame = (one: Pick<ModelToolCall, "arguments" | "name">, other: Pick<ModelToolCall, "arguments" | "name">): boolean =>
  one.name === other.name && isDeepStrictEqual(one.arguments, other.arguments)

/** Services want their reasoning back with calls alone, and it is long. */
const withoutThoughts = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !thoughtNames.includes(name)))
