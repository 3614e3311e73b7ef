/**
 * Reads a phone number as people and spreadsheets write it. Separators, invisible characters and wrappers are removed, and digits of other scripts are
 * mapped; nothing else is changed, because any other number is somebody else's phone. What can be read in two ways is refused.
 */
import { Result } from "effect"
import { isDialable } from "./E164.ts"

/** Whether a country has numbers of that length. */
export type Fit = "possible" | "too long" | "impossible"

/** What is known of the numbering plans of all countries. */
export interface NumberingPlan {
  readonly fit: (e164: string) => Fit
  /** How a valid number is dialed from abroad: without a trunk prefix, such as the zero in +41 044. Undefined: not a valid number. */
  readonly dialed: (e164: string) => string | undefined
}

/** For those who know no plan. */
export const noPlan: NumberingPlan = { fit: () => "possible", dialed: () => undefined }

interface WrittenNumber {
  readonly e164: string
  /** Whether decimals, as spreadsheets add to numbers, were cut off. */
  readonly hadDecimals: boolean
}

export type NumberFault = "not international" | keyof typeof numberFaults
/** The faults in words for the user, except that there is no number with a country code. */
export const numberFaults = {
  scientific: "scientific notation, as spreadsheets write long numbers; format the column as text and export the file again",
  "trunk prefix": "it starts with '00' in place of '+'",
  fraction: "digits behind a decimal point",
  "two numbers": "two numbers in one field, or more digits than its country has; list each number in a row of its own",
  "bracketed zero": "the numbering plan does not say whether the zero in brackets is dialed"
} as const

const read = (e164: string, hadDecimals = false) => Result.succeed<WrittenNumber>({ e164, hadDecimals })

export const readNumber = (written: string, plan: NumberingPlan = noPlan): Result.Result<WrittenNumber, NumberFault> => {
  if (isDialable(written)) return read(written)
  if (written.length > longestWritten) return Result.fail("not international")
  const text = plainOf(written)
  const digits = text.replace(separators, "")
  if (isDialable(text)) return read(text)
  if (/^\+?\d+([.,]\d+)?e\+?\d+$/i.test(text)) return Result.fail("scientific")
  if (/^00 ?[1-9]/.test(text)) return Result.fail("trunk prefix")
  if (!text.startsWith("+")) return Result.fail("not international")

  const [, whole = "", decimals] = /^(\+\d+)[.,](\d+)$/.exec(text) ?? []
  if (decimals !== undefined && isDialable(whole)) {
    if (/^0+$/.test(decimals)) return read(whole, true)
    if (plan.fit(whole) === "possible") return Result.fail("fraction")
  }
  const [first = "", ...others] = text.split(joints)
  if (others.length > 0 && (isSecond.test(text) || isNumberIn(first, plan))) return Result.fail("two numbers")
  if (!isDialable(digits)) return Result.fail(digits.length > longest && /^\+\d+$/.test(digits) ? "two numbers" : "not international")
  if (bracketedZero.test(text)) {
    const dialed = plan.dialed(digits)
    return dialed === undefined ? Result.fail("bracketed zero") : read(dialed)
  }
  return plan.fit(digits) === "too long" ? Result.fail("two numbers") : read(digits)
}

/** `+` and fifteen digits. */
const longest = 16
/** Characters, with whatever stands around and between the digits. A cell of a list may have thousands, and a list a hundred thousand cells. */
const longestWritten = 100
const separators = /[ ()./-]/g
/** What may stand between two numbers; a slash also separates an area code. */
const joints = /[/,;|&]/
const isSecond = /[,;|&]/
/** The trunk prefix that is left out when dialing from abroad, as in +41 (0)44. */
export const bracketedZero = /^\+\d{1,3}[ .-]*\( *0/

const isNumberIn = (text: string, plan: NumberingPlan): boolean => {
  const digits = text.replace(separators, "")
  return isDialable(digits) && plan.fit(digits) === "possible"
}

/** Fullwidth and small forms, which East Asian input methods write. */
const wideForms = /[\uff01-\uff5e\ufe50-\ufe6b]/g
const dashes = /[\u2010-\u2015\u2212]/g

/** Without what is invisible and what spreadsheets and links add; digits and signs in ASCII. */
const plainOf = (written: string): string => {
  const text = written
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(wideForms, (form) => form.normalize("NFKC"))
    .replace(/\p{Nd}/gu, digitOf)
    .replace(dashes, "-")
    .replace(/\s+/g, " ")
    .trim()
  const unwrapped = /^="(.*)"$/.exec(text)?.[1] ?? text
  return unwrapped
    .trim()
    .replace(/^'/, "")
    .replace(/^tel: ?/i, "")
    .trim()
}

const isDigit = (code: number): boolean => /\p{Nd}/u.test(String.fromCodePoint(code))
/** Unicode has the decimal digits of each script from zero to nine, and some scripts side by side. */
const digitOf = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (isDigit(zero - 1)) zero--
  return String((code - zero) % 10)
}

/** How much of a field is shown. */
const shownCharacters = 40
/** The field as it is, in quotes, for the user whose file it is in: what is invisible is spelled out, as `<U+200B>`. */
export const shown = (written: string): string => {
  const spelled = [...written.slice(0, shownCharacters)].map((character) =>
    /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(character)
      ? `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`
      : character
  )
  return `'${spelled.join("")}${written.length > shownCharacters ? "…" : ""}'`
}
