/**
 * Sorts a model's text as it arrives: what may be spoken, tool calls that were written as text, and what is neither and dropped. Thoughts and
 * special tokens are never spoken. Only what may still become one of these is held back; everything else is passed on at once. The result does
 * not depend on where the text is cut into pieces.
 */
import { isDeepStrictEqual } from "node:util"
import { type BracketScan, bracketsFrom, readBrackets } from "#core/firstObject.ts"
import type { JsonObject } from "#core/Json.ts"
import type { Withheld } from "#core/model/LanguageModel.ts"
import {
  type Found,
  firstOf,
  isCutMark,
  type Mark,
  type Marked,
  markAt,
  messageToken,
  thoughtEnds,
  turnBegins,
  turnEnds
} from "./Markup.ts"
import { callsIn, type KnownTools, type WrittenCall } from "./TextCalls.ts"
import { type Code, type CodeReader, isCutCode, makeCodeReader, type OpenCode } from "./WrittenCode.ts"

/**
 * `never`: text before the first `</think>` is speech, as far as is known. `perhaps`: it may be a thought, so it is held back until the tag comes
 * or the answer ends. `always`: it is a thought.
 */
export type Thinking = "never" | "perhaps" | "always"

type State =
  | { readonly _tag: "Speech" }
  /** See `perhaps` of `Thinking`. */
  | { readonly _tag: "Unsure" }
  | { readonly _tag: "Thought" }
  /** Of the harmony format: ends with the message. */
  | { readonly _tag: "Analysis" }
  /** `prefix`: the name of the tool, if it came before. */
  | { readonly _tag: "Calls"; readonly closers: ReadonlyArray<string>; readonly prefix: string }
  | { readonly _tag: "Role" }
  | { readonly _tag: "Header" }
  /** Somebody else's turn, which the model made up. */
  | { readonly _tag: "Others" }

const speech: State = { _tag: "Speech" }
/** Longer than any mark that is searched for. */
const longestMark = 40
const longestHeader = 256
/** Text is sorted in pieces of this length, so that no amount of it takes long. */
const pieceLength = 512
/** No tool call is longer, and it is read again whenever more of it arrives. */
const mostHeld = 16_384
const wordLetter = /[\p{L}\p{N}_]$/u
/** What is left of the punctuation and the fence around a written call. */
const remains = /^[\s;,.`*"')\]}>]+/

export class Speakable {
  readonly #known: KnownTools
  readonly #code: CodeReader
  readonly #calls: Array<WrittenCall> = []
  readonly #objects: Array<JsonObject> = []
  readonly #withheld = { calls: 0, tokens: 0 }
  #state: State
  #held = ""
  /** The beginning of what may be a thought, which is not searched again. */
  readonly #parked: Array<string> = []
  /** How much of it was searched for the end of what it is. */
  #searched = 0
  /** The brackets of the code at the beginning of what is held. */
  #brackets: BracketScan | undefined
  /** What may be spoken, but has not been passed on. */
  #ready = ""
  #lastLetter = ""
  #isAfterCall = false
  #isSpaced = false
  #startsThinking = false
  #hasBegunThought = false
  #hasText = false
  #hasSpoken = false
  /** Whitespace that precedes the next speech, so that words of two pieces do not run together. */
  #space = ""

  constructor(thinking: Thinking, known: KnownTools) {
    this.#known = known
    this.#code = makeCodeReader(known)
    this.#state = thinking === "never" ? speech : { _tag: thinking === "always" ? "Thought" : "Unsure" }
  }

  /** The speech in the next piece of text. It is `""` or more than whitespace. */
  push(text: string): string {
    this.#take(text)
    return this.#passedOn()
  }

  /** The speech that was held back. `isCut`: the text is not complete. */
  end(isCut: boolean): string {
    // Without the tag, it was no thought: a complete answer does not end in one.
    if (this.#state._tag === "Unsure" && !isCut) {
      const text = this.#parked.join("") + this.#held
      this.#held = ""
      this.#state = speech
      this.#take(text)
    }
    if (this.#state._tag === "Calls") this.#call(callsIn(this.#state.prefix + this.#held, this.#known, false))
    else if (this.#state._tag === "Speech") this.#sayRest()
    this.#held = ""
    return this.#passedOn()
  }

  /** Complete calls of tools on offer, in order. */
  get calls(): ReadonlyArray<WrittenCall> {
    return this.#calls
  }
  /** Objects that call nothing. */
  get objects(): ReadonlyArray<JsonObject> {
    return this.#objects
  }
  get withheld(): Withheld {
    return this.#withheld
  }
  /** A thought has ended that had no beginning. */
  get startsThinking(): boolean {
    return this.#startsThinking
  }
  /** More was held back than a tool call can have: nothing is sorted any more. */
  get isOverfull(): boolean {
    return this.#state._tag !== "Unsure" && this.#held.length > mostHeld
  }

  /** Takes what is ready, unless it is whitespace. */
  #passedOn(): string {
    const ready = this.#hasSpoken ? this.#ready : this.#ready.trimStart()
    this.#ready = ""
    if (ready.trim() === "") {
      this.#space += ready
      return ""
    }
    const whole = this.#space + ready
    this.#space = ""
    this.#hasSpoken = true
    return whole
  }

  #take(text: string): void {
    for (let from = 0; from < text.length && !this.isOverfull; from += pieceLength) {
      this.#held += text.slice(from, from + pieceLength)
      let isGoingOn = true
      while (isGoingOn) isGoingOn = this.#advance()
    }
  }

  /** Like each function that it calls, returns false if more text is needed. */
  #advance(): boolean {
    switch (this.#state._tag) {
      case "Speech":
        return this.#speak()
      case "Unsure":
        return this.#decide()
      case "Thought":
        return this.#skipTo(this.#search(thoughtEnds), true)
      case "Analysis":
        return this.#skipTo(this.#search([...turnEnds, ...turnBegins]), false)
      case "Others":
        return this.#skipTo(this.#search(turnBegins), false)
      case "Calls":
        return this.#collect(this.#state)
      case "Role":
        return this.#readRole()
      case "Header":
        return this.#readHeader()
    }
  }

  #speak(): boolean {
    if (this.#isAfterCall && !this.#tidyUp()) return false
    if (this.#brackets !== undefined) {
      readBrackets(this.#brackets, this.#held)
      if (!this.#brackets.isClosed) return false
      this.#brackets = undefined
    }
    for (let at = 0; at < this.#held.length; at++) {
      const found = this.#foundAt(at)
      if (found === undefined) continue
      this.#say(this.#held.slice(0, at))
      this.#held = this.#held.slice(at)
      if (found === "wait") return false
      if ("opensAt" in found) {
        this.#brackets = bracketsFrom(found.opensAt)
        readBrackets(this.#brackets, this.#held)
        return false
      }
      this.#skip(found.length)
      if ("mark" in found) this.#mark(found.mark)
      else if (found.isFence !== true) this.#read(found)
      return true
    }
    this.#say(this.#held)
    this.#held = ""
    return false
  }

  /** What is at this place of the held text, if it is not speech. */
  #foundAt(at: number): Code | OpenCode | Marked | "wait" | undefined {
    const letter = this.#held.charAt(at)
    const isTag = letter === "<" || letter === "["
    const isWord = !wordLetter.test(at > 0 ? this.#held.charAt(at - 1) : this.#lastLetter)
    if (!isTag && letter !== "{" && letter !== "`" && !(isWord && wordLetter.test(letter))) return undefined
    const text = this.#held.slice(at)
    const mark = isTag ? markAt(text) : undefined
    return typeof mark === "object" ? mark : (this.#code.at(text, isWord) ?? mark)
  }

  /** Drops what remains around a written call. Returns false if nothing else has come yet. */
  #tidyUp(): boolean {
    const rest = this.#held.replace(remains, "")
    this.#isSpaced ||= /\s/.test(this.#held.slice(0, this.#held.length - rest.length))
    this.#held = rest
    if (rest === "") return false
    if (this.#isSpaced) this.#say(" ")
    this.#isSpaced = false
    this.#isAfterCall = false
    return true
  }

  #say(text: string): void {
    if (text === "") return
    this.#ready += text
    this.#lastLetter = text.slice(-1)
    this.#hasText ||= text.trim() !== ""
  }

  #sayRest(): void {
    if (isCutCode(this.#held)) this.#withheld.calls++
    else if (isCutMark(this.#held)) this.#withheld.tokens++
    else this.#say(this.#held)
  }

  /** The first of these marks. What has been searched is not searched again. */
  #search(marks: ReadonlyArray<string>): Found | undefined {
    const from = Math.max(0, this.#searched - longestMark)
    const found = firstOf(this.#held.slice(from), marks)
    this.#searched = this.#held.length
    return found === undefined ? undefined : { at: from + found.at, end: from + found.end }
  }

  #skip(length: number): void {
    this.#held = this.#held.slice(length)
    this.#searched = 0
    this.#lastLetter = ""
  }

  #read({ calls, object }: Code): void {
    if (calls.length === 0 && object !== undefined) this.#objects.push(object)
    this.#call(calls)
  }

  #call(found: ReadonlyArray<WrittenCall>): void {
    const offered = found.filter(({ name }) => this.#known.get(name) !== undefined)
    // Models repeat themselves. Nobody means the same call twice in one answer.
    for (const call of offered) if (!this.#calls.some((earlier) => isDeepStrictEqual(earlier, call))) this.#calls.push(call)
    this.#withheld.calls += found.length === 0 ? 1 : found.length - offered.length
    this.#isAfterCall = true
  }

  #mark(mark: Mark): void {
    switch (mark._tag) {
      case "Thought":
        this.#hasBegunThought = true
        this.#state = { _tag: "Thought" }
        return
      case "ThoughtEnd":
        this.#startsThinking ||= this.#hasText && !this.#hasBegunThought
        return
      case "Calls":
        this.#state = { _tag: "Calls", closers: [...mark.closers, ...turnEnds], prefix: "" }
        return
      case "Role":
      case "Header":
        this.#state = { _tag: mark._tag }
        break
      case "Turn":
        this.#state = mark.isOwn ? speech : { _tag: "Others" }
        break
      case "Token":
        break
    }
    this.#withheld.tokens++
  }

  #decide(): boolean {
    const first = this.#parked.length === 0 ? markAt(this.#held.slice(0, longestMark).trimStart()) : undefined
    if (typeof first === "object" && first.mark._tag === "Thought") {
      this.#state = speech
      return true
    }
    const end = firstOf(this.#held, thoughtEnds)
    if (end !== undefined) {
      this.#startsThinking ||= this.#parked.length > 0 || this.#held.slice(0, end.at).trim() !== ""
      return this.#skipTo(end, true)
    }
    if (this.#held.length > 2 * longestMark) {
      this.#parked.push(this.#held.slice(0, -longestMark))
      this.#held = this.#held.slice(-longestMark)
    }
    return false
  }

  /** Drops everything up to this place, after which there may be speech again. */
  #skipTo(found: Found | undefined, isIncluded: boolean): boolean {
    if (found === undefined) {
      this.#skip(Math.max(0, this.#held.length - longestMark))
      return false
    }
    this.#skip(isIncluded ? found.end : found.at)
    this.#state = speech
    return true
  }

  #collect({ closers, prefix }: Extract<State, { readonly _tag: "Calls" }>): boolean {
    const end = this.#search(closers)
    if (end === undefined) return false
    const isNextTurn = turnBegins.some((begin) => this.#held.slice(end.at, end.end).toLowerCase() === begin)
    this.#call(callsIn(prefix + this.#held.slice(0, end.at), this.#known, true))
    return this.#skipTo(end, !isNextTurn)
  }

  #readRole(): boolean {
    const [all, name = ""] = /^\s*([a-z]*)/i.exec(this.#held) ?? [""]
    if (all === this.#held) return false
    this.#skip(all.length)
    this.#state = name === "" || /^(?:assistant|model)$/i.test(name) ? speech : { _tag: "Others" }
    return true
  }

  #readHeader(): boolean {
    const end = this.#search([messageToken])
    if (end === undefined && this.#held.length <= longestHeader) return false
    const text = end === undefined ? "user" : this.#held.slice(0, end.at)
    const to = /\bto=(?:functions\.)?([\w.-]+)/.exec(text)?.[1]
    this.#skip(end?.end ?? 0)
    if (to === "assistant" || /^\s*(?:user|system|developer|tool)\b/.test(text)) this.#state = { _tag: "Others" }
    else if (to !== undefined) this.#state = { _tag: "Calls", closers: [...turnEnds, ...turnBegins], prefix: `${to} ` }
    else this.#state = text.includes("analysis") ? { _tag: "Analysis" } : speech
    return true
  }
}
