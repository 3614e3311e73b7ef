/**
 * Markup within a line: what is at one place of a text, and what is left of it in speech. Pure. A rule that cannot decide without the text that
 * follows says so, and is asked again when there is more.
 */

interface Place {
  readonly text: string
  readonly at: number
  /** The character before; a space at the beginning of a line. */
  readonly before: string
  /** Nothing follows the text. */
  readonly isEnd: boolean
  readonly isHeading: boolean
}

/** `length` characters are said as `says`; `isBreak`: a new sentence begins after them. */
interface Read {
  readonly length: number
  readonly says: string
  readonly isBreak?: boolean
  /** What is said has markup of its own. */
  readonly isMarkup?: boolean
}

/** Undefined: this is no markup of that kind. */
type Rule = (place: Place) => Read | "more" | undefined

const longestLabel = 300
const longestTarget = 2000
const longestTag = 200

const isSpace = (char: string): boolean => /^\s?$/u.test(char)
const isWord = (char: string): boolean => /^[\p{L}\p{N}_]$/u.test(char)
const dropped = (length: number): Read => ({ length, says: "" })

/** The first match at this place. `"more"` if the match, or the lack of one, may change with what follows. */
const matched = ({ at, isEnd, text }: Place, whole: RegExp, begun: RegExp, longest: number): RegExpExecArray | "more" | undefined => {
  const rest = text.slice(at, at + longest)
  const found = whole.exec(rest)
  if (found !== null) return found
  return !isEnd && rest.length < longest && begun.test(rest) ? "more" : undefined
}

/** The address without what nobody says: the protocol, a query, and a long path. */
const spokenAddress = (address: string): string => {
  const [, host = "", path = ""] = /^(?:https?:\/\/)?(?:www\.)?([^/?#]*)(\/[^?#]*)?/i.exec(address) ?? []
  const said = path.replace(/\/$/, "")
  return said.length > 30 || said.includes("%") ? host : host + said
}

const address: Rule = (place) => {
  if (isWord(place.before) || !/^h/i.test(place.text[place.at] ?? "")) return undefined
  const found = matched(
    place,
    /^https?:\/\/[^\s<>()[\]"`*|]+(?=[\s<>()[\]"`*|])/i,
    /^(?:h|ht|htt|https?|https?:|https?:\/|https?:\/\/[^\s<>()[\]"`*|]*)$/i,
    longestTarget
  )
  if (found === "more") return found
  const whole = found?.[0] ?? (place.isEnd ? /^https?:\/\/\S+/i.exec(place.text.slice(place.at))?.[0] : undefined)
  if (whole === undefined) return undefined
  const end = /(?<![.,;:!?'])[.,;:!?']*$/.exec(whole)?.[0] ?? ""
  return { length: whole.length - end.length, says: spokenAddress(whole.slice(0, whole.length - end.length)) }
}

/** Links, images, footnotes and other brackets. */
const bracket: Rule = (place) => {
  const { at, text } = place
  const from = text[at] === "!" ? 1 : 0
  if (from === 1 && text[at + 1] === undefined && !place.isEnd) return "more"
  if (text[at + from] !== "[") return undefined
  const label = matched(place, /^!?\[((?:[^[\]\n\\]|\\.|\[[^[\]\n]*\])*)\]/, /^!?\[[^\n]*$/, longestLabel)
  if (label === "more") return label
  if (label === undefined) return dropped(from + 1)
  const [whole, inner = ""] = label
  const after = { ...place, at: at + whole.length }
  const next = text[after.at]
  if (next === undefined && !place.isEnd) return "more"
  const target =
    next === "("
      ? matched(after, /^\((?:[^()\n]|\([^()\n]*\))*\)/, /^\([^\n]*$/, longestTarget)
      : /^\[[^[\]\n]{0,100}\]/.exec(text.slice(after.at))
  if (target === "more") return target
  const length = whole.length + (target?.[0].length ?? 0)
  if (from === 0 && target?.[0] === undefined && /^(?:\^.*|\d{1,3}|[ xX]?)$/.test(inner)) return dropped(length)
  return { length, says: inner, isMarkup: true }
}

/** References to documents, as some models write them: `【4†source】`. */
const reference: Rule = (place) => {
  if (place.text[place.at] !== "【") return undefined
  const found = matched(place, /^【[^】\n]*】/, /^【[^】\n]*$/, longestTag)
  return found === "more" ? found : dropped(found?.[0].length ?? 1)
}

const breaking = /^<\/?(?:br|p|li|ul|ol|div|tr|table|h[1-6]|hr|blockquote)\b/i

const tag: Rule = (place) => {
  if (place.text[place.at] !== "<") return undefined
  const comment = matched(place, /^<!--[\s\S]*?-->/, /^<(?:!|!-|!--[\s\S]*)?$/, longestTarget)
  if (comment === "more") return comment
  if (comment !== undefined) return dropped(comment[0].length)
  const link = matched(place, /^<((?:https?:\/\/|mailto:)?[^\s<>]+[@/.][^\s<>]*)>/i, /^<[^\s<>]*$/, longestTag)
  if (link === "more") return link
  if (link !== undefined && !/^<\/?[a-z][\w-]*\/?>$/i.test(link[0]))
    return { length: link[0].length, says: spokenAddress((link[1] ?? "").replace(/^mailto:/i, "")) }
  // "a <b and c> d" compares.
  const found = matched(
    place,
    /^<\/?[a-z][\w:-]*(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*\/?>/i,
    /^<(?:\/?(?:[a-z][^<>\n]*)?)$/i,
    longestTag
  )
  if (found === "more") return found
  if (found === undefined) return undefined
  return { ...dropped(found[0].length), isBreak: breaking.test(found[0]) }
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  hellip: "…",
  lt: "<",
  mdash: "—",
  nbsp: " ",
  ndash: "–",
  quot: '"'
}

const entity: Rule = (place) => {
  if (place.text[place.at] !== "&") return undefined
  const found = matched(place, /^&(?:#(\d{1,6})|#x([\da-f]{1,6})|([a-z]{2,8}));/i, /^&(?:#?[\da-z]{0,8})$/i, 12)
  if (found === "more" || found === undefined) return found
  const [whole, decimal, hexadecimal, name = ""] = found
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal)
  const says = name === "" ? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "") : entities[name.toLowerCase()]
  return says === undefined ? undefined : { length: whole.length, says }
}

/** A backslash says that the next character is no markup. */
const escaped: Rule = ({ at, isEnd, text }) => {
  if (text[at] !== "\\") return undefined
  const next = text[at + 1]
  if (next === undefined && !isEnd) return "more"
  return next !== undefined && /[!-/:-@[-`{-~]/.test(next) ? { length: 2, says: next } : undefined
}

/** Runs of the characters that emphasize what is between two of them. What stands alone is a key of a phone, or an operator. */
const emphasis: Rule = ({ at, before, isEnd, isHeading, text }) => {
  const mark = text[at] ?? ""
  if (!"*_~`#".includes(mark)) return undefined
  let end = at
  while (text[end] === mark) end++
  const length = end - at
  const next = text[end]
  if (next === undefined && !isEnd) return "more"
  const after = next ?? " "
  if (mark === "`") return dropped(length)
  if (mark === "~") return length > 1 ? dropped(length) : undefined
  if (mark === "_") return length === 1 && isWord(before) && isWord(after) ? undefined : dropped(length)
  if (length > 1) return dropped(length)
  const isAlone = (isSpace(before) || /["'([]/.test(before)) && (isSpace(after) || /[.,;:!?)\]"']/.test(after))
  if (mark === "#") return (isAlone && isHeading) || (isSpace(before) && /\p{L}/u.test(after)) ? dropped(1) : undefined
  if (isAlone || (/\d/.test(before) && /\d/.test(after))) return undefined
  const code = /^\*\d+#?(.?)/.exec(text.slice(at))
  if (code?.[1] === "" && !isEnd) return "more"
  return isSpace(before) && code !== null && code[1] !== "*" ? undefined : dropped(1)
}

/** Arrows, and bullets within a line. */
const arrow: Rule = ({ at, isEnd, text }) => {
  const found = /^(?:-{1,2}>|[-=]+>|[←-⇿⟵-⟿•])/u.exec(text.slice(at, at + 4))
  if (found !== null) return { length: found[0].length, says: "," }
  return !isEnd && /^[-=]{1,2}$/.test(text.slice(at)) ? "more" : undefined
}

const pictures =
  /^(?:(?![\u00a9\u00ae\u2122\u203c\u2049\u2139\d#*])(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier})|[\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff]|\ufe0e|\ufe0f|\u20e3|\u200d(?=\p{Extended_Pictographic}|$))+/u
/** Pictures: emoji with all that belongs to them, and ornaments. Letters like © and № are none. */
const picture: Rule = ({ at, isEnd, text }) => {
  const rest = text.slice(at, at + 40)
  if (!isEnd && /^\u200d?[\ud800-\udbff]?$/.test(rest)) return "more"
  const found = pictures.exec(rest)
  return found === null ? undefined : dropped(found[0].length)
}

/** A block of code that begins within a line: the name of its language is not said. */
const fence: Rule = (place) => {
  if (place.text[place.at] !== "`") return undefined
  const found = matched(place, /^`{3,}[\w+-]{0,20}(?=\n)/, /^`{3,}[\w+-]{0,20}$/, 40)
  return found === undefined || found === "more" ? found : { ...dropped(found[0].length), isBreak: true }
}

const rules: ReadonlyArray<Rule> = [escaped, fence, bracket, reference, tag, entity, address, emphasis, arrow, picture]

/** The rest of a word in which no markup can begin. */
const word = /^[a-gi-z0-9][a-z0-9']*/i

/** What is at this place. Text without markup is read character by character; `"more"` if that depends on what follows. */
export const readAt = (place: Place): Read | "more" => {
  const plain = word.exec(place.text.slice(place.at, place.at + 40))
  if (plain !== null) return { length: plain[0].length, says: plain[0] }
  for (const rule of rules) {
    const read = rule(place)
    if (read !== undefined) return read
  }
  const char = String.fromCodePoint(place.text.codePointAt(place.at) ?? 0)
  return { length: char.length, says: char === "]" ? "" : char }
}
