/**
 * What a number in a workbook's cell says, as text: all its digits, with the zeros and characters that its format adds to them. A date becomes
 * ISO 8601, because the same format shows it differently on every machine. Other formats, such as those with decimals, show the plain number.
 */

/** How a number is to be read. */
export type NumberFormat =
  | { readonly _tag: "Plain" }
  | { readonly _tag: "Digits"; readonly pattern: ReadonlyArray<string> }
  | { readonly _tag: "Time"; readonly hasDate: boolean; readonly hasTime: boolean }

const plain: NumberFormat = { _tag: "Plain" }
const time = (hasDate: boolean, hasTime: boolean): NumberFormat => ({ _tag: "Time", hasDate, hasTime })

/** Excel's own formats have numbers instead of codes; where their order differs by language, only dates do. */
const builtIn = (id: number): NumberFormat => {
  if (id === 22) return time(true, true)
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return time(true, false)
  return (id >= 18 && id <= 21) || (id >= 45 && id <= 47) ? time(false, true) : plain
}

/** A literal in quotes or behind a backslash, something to skip, or one character. */
const tokens = /"([^"]*)"|\\(.)|[_*].|\[[^\]]*\]|(.)/gsu

/** `code` as in the workbook; undefined for a format that Excel knows by its number. */
export const formatOf = (id: number, code: string | undefined): NumberFormat => {
  if (code === undefined) return builtIn(id)
  if (/^(general|@)$/i.test(code.trim())) return plain
  const parts: Array<readonly [text: string, isLiteral: boolean]> = []
  for (const [, quoted, escaped, char] of code.matchAll(tokens)) {
    const literal = quoted ?? escaped
    if (literal !== undefined) parts.push([literal, true])
    else if (char === ";") break
    else if (char !== undefined) parts.push([char, false])
  }
  const written = parts.map(([text, isLiteral]) => (isLiteral ? "" : text)).join("")
  if (/[ydhsm]/i.test(written)) {
    const hasTime = /[hs]/i.test(written)
    return time(/[yd]/i.test(written) || !hasTime, hasTime)
  }
  if (!/[0#]/.test(written) || /[^0#?+() /:-]/.test(written)) return plain
  return { _tag: "Digits", pattern: parts.flatMap(([text, isLiteral]) => (isLiteral ? [`"${text}`] : [text])) }
}

/** Undefined if the text is no number. */
export const numberText = (raw: string, format: NumberFormat, is1904: boolean): string | undefined => {
  const value = Number(raw)
  if (raw.trim() === "" || !Number.isFinite(value)) return undefined
  if (format._tag === "Time" && value >= 0 && value < lastDay) return timeText(value, format, is1904)
  // Excel keeps fifteen digits; what a number has beyond them comes from arithmetic.
  if (!Number.isInteger(value)) return String(Number(value.toPrecision(15)))
  const digits = BigInt(value).toString()
  return format._tag === "Digits" && value >= 0 ? digitsText(digits, format.pattern) : digits
}

/** From the right, a digit for each place; the first place takes all that are left. */
const digitsText = (digits: string, pattern: ReadonlyArray<string>): string => {
  const first = pattern.findIndex(isPlace)
  let left = digits
  const shown: Array<string> = []
  for (let index = pattern.length - 1; index >= 0; index--) {
    const part = pattern[index] ?? ""
    if (!isPlace(part)) {
      shown.unshift(part.replace(/^"/, ""))
      continue
    }
    const from = index === first ? 0 : Math.max(0, left.length - 1)
    shown.unshift(left.slice(from) || (part === "0" ? "0" : ""))
    left = left.slice(0, from)
  }
  return shown.join("")
}
const isPlace = (part: string): boolean => part === "0" || part === "#" || part === "?"

/** The tenth millennium. */
const lastDay = 2_958_466
const dayMillis = 86_400_000
const begins1900 = Date.UTC(1899, 11, 30)
const begins1904 = Date.UTC(1904, 0, 1)

const timeText = (
  days: number,
  { hasDate, hasTime }: { readonly hasDate: boolean; readonly hasTime: boolean },
  is1904: boolean
): string => {
  // Excel counts the 29th of February 1900, which there was not.
  const counted = !is1904 && days < 60 ? days + 1 : days
  const seconds = Math.round((counted * dayMillis) / 1000)
  const iso = new Date((is1904 ? begins1904 : begins1900) + seconds * 1000).toISOString()
  const clock = iso.slice(11, 19).replace(/:00$/, "")
  return hasDate ? (hasTime ? `${iso.slice(0, 10)} ${clock}` : iso.slice(0, 10)) : clock
}
