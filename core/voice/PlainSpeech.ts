/**
 * Turns what an agent writes into what can be spoken by any voice: without markup. Headings, list items, rows of tables and paragraphs become
 * sentences, a link is its label. Figures are left to the voices. Text may arrive bit by bit, cut anywhere: what may be the beginning of markup is
 * held back until it is clear. Pure, and knows no language.
 */
import { readAt } from "./InlineMarkup.ts"

interface PlainSpeech {
  /** What can be spoken of the text so far. */
  readonly push: (text: string) => string
  /** The rest, once nothing more will come. */
  readonly end: () => string
}

/** Nobody writes more than this before it is clear what it is. */
const mostHeld = 2500
const longestLineStart = 200
const longestMark = 500

/** Lines of nothing but these: rules, underlines, and what separates a table's head from its body. */
const ornament = /^(?:(?:[-*_=]{2,}|[-*_](?: ?[-*_]){2,})[ \t]*|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*(?:(?::-*:?|-+:?)[ \t]*)?)+)(?:\n|$)/
const fence = /^(?:```|~~~)[\w+-]*[ \t]*(?:\n|$)/
const heading = /^(?:#{1,6}[ \t]+|#{2,6}(?=[^\s#]))/
const bullet = /^(?:[-*+–•·▪◦‣●][ \t]+)(?:\[[ xX]\][ \t]+)?/
const number = /^(\d{1,2})[.)][ \t]+(?=\S)/
const quote = /^>[ \t]?/
const definition = /^\[[^[\]\n]+\]:[ \t]*\S+[^\n]*(?:\n|$)/
/** Lines in which nothing is said. */
const silent = [/^\n/, fence, ornament, definition]
/** May become one of these. */
const undecided =
  /^(?:[-*_=|: \t]+|(?:```|~~~)[\w+-]*[ \t]*|`{1,2}|~{1,2}|#{1,6}[ \t]*|[-*+–•·▪◦‣●][ \t]*(?:\[[ xX]?\]?[ \t]*)?|\d{1,2}(?:[.)][ \t]*)?|\[[^[\]\n]*\]?|\[[^[\]\n]+\]:[^\n]*)$/
const ends = /[.!?:;,…。！？：；，、]["'”’)\]]*$/u

const isUndecided = (text: string, isEnd: boolean): boolean =>
  !isEnd && text.length < longestLineStart && !text.includes("\n") && undecided.test(text)

/** How what comes next is separated from what was said. */
type Gap = "none" | "space" | "comma" | "sentence"

class Plain implements PlainSpeech {
  #held = ""
  /** The last characters that were said; enough to see whether a sentence has ended. */
  #said = ""
  /** The last character that was read. */
  #before = " "
  #gap: Gap = "none"
  /** Markup was dropped since the last space. */
  #isDropped = false
  #isLineStart = true
  #isHeading = false
  /** The line is a sentence of its own, such as an item of a list. */
  #isBlock = false

  push(text: string): string {
    this.#held += text
    return this.#read(false)
  }

  end(): string {
    return this.#read(true)
  }

  #read(isEnd: boolean): string {
    let said = ""
    while (this.#held !== "") {
      const isForced = isEnd || this.#held.length > mostHeld
      if (this.#isLineStart && !this.#beginLine(isForced)) break
      if (this.#held === "") break
      if (this.#held.startsWith("\n")) {
        this.#endLine()
        continue
      }
      const place = { text: this.#held, at: 0, before: this.#before, isEnd: isForced, isHeading: this.#isHeading }
      const read = readAt(place)
      if (read === "more") break
      this.#before = this.#held[read.length - 1] ?? " "
      this.#held = this.#held.slice(read.length)
      if (read.says === "") this.#isDropped = true
      said += this.#say(read.isMarkup === true ? plainSpeech(read.says) : read.says)
      if (read.isBreak === true) this.#widen("sentence")
    }
    return said
  }

  /** Takes the marks off the beginning of a line. False while it is unclear whether there are any. */
  #beginLine(isEnd: boolean): boolean {
    while (this.#dropLine(isEnd));
    const text = this.#held
    if (text === "") return isEnd
    if (isUndecided(text, isEnd)) return false
    const numbered = number.exec(text)
    const mark = numbered?.[0] ?? (heading.exec(text) ?? bullet.exec(text))?.[0] ?? ""
    this.#isHeading = heading.test(text)
    this.#isBlock = mark !== "" || text.startsWith("|")
    if (this.#isBlock) this.#widen("sentence")
    this.#held = `${numbered === null ? "" : `${numbered[1]}, `}${text.slice(mark.length)}`
    this.#isLineStart = false
    this.#before = " "
    return true
  }

  /** Drops a line in which nothing is said, or the mark of a quotation. False if there is neither. */
  #dropLine(isEnd: boolean): boolean {
    this.#held = this.#held.replace(/^[ \t\r]+/, "")
    const text = this.#held
    if (text === "" || isUndecided(text, isEnd)) return false
    const line = silent.map((pattern) => pattern.exec(text.slice(0, longestMark))?.[0]).find((found) => found !== undefined)
    if (line !== undefined) this.#widen("sentence")
    this.#held = text.slice((line ?? quote.exec(text)?.[0] ?? "").length)
    return this.#held !== text
  }

  #endLine(): void {
    this.#held = this.#held.slice(1)
    this.#widen(this.#isBlock ? "sentence" : "space")
    this.#isLineStart = true
    this.#isBlock = false
    this.#isHeading = false
  }

  #widen(gap: Gap): void {
    const order: ReadonlyArray<Gap> = ["none", "space", "comma", "sentence"]
    if (order.indexOf(gap) > order.indexOf(this.#gap)) this.#gap = gap
  }

  #say(text: string): string {
    if (text.trim() === "") {
      if (text !== "" && this.#gap === "none") this.#isDropped = false
      if (text !== "") this.#widen("space")
      return ""
    }
    if (text === "|" || (text === "," && this.#gap !== "none")) {
      if (text === "|") this.#isBlock = true
      this.#widen("comma")
      return ""
    }
    const opening = this.#said === "" ? this.#forgetGap() : this.#close(this.#isDropped && /^[.,;:!?)]/.test(text) ? "none" : this.#gap)
    this.#isDropped = false
    this.#said = (this.#said + text).slice(-8)
    return opening + text
  }

  #forgetGap(): string {
    this.#gap = "none"
    return ""
  }

  #close(gap: Gap): string {
    this.#gap = "none"
    if (gap === "none") return ""
    if (gap === "space" || ends.test(this.#said.trimEnd())) return " "
    return gap === "comma" ? ", " : ". "
  }
}

export const makePlainSpeech = (): PlainSpeech => new Plain()

/** The whole text as it can be spoken. */
export const plainSpeech = (text: string): string => {
  const plain = makePlainSpeech()
  return (plain.push(text) + plain.end()).trim()
}
