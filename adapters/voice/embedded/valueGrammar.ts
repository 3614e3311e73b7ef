/** How callees say numbers, digits, dates and times, as rules of a JSGF grammar. `SpokenValues.ts` understands all of it. */
import type { ExtractedVariable } from "#core/model/LanguageModel.ts"
import type { Kind } from "./Slots.ts"

const ones = "one | two | three | four | five | six | seven | eight | nine"
const teens = "ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen"
const tens = "twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety"
const weekdays = "monday | tuesday | wednesday | thursday | friday | saturday | sunday"
const months = "january | february | march | april | may | june | july | august | september | october | november | december"
const firsts = "first | second | third | fourth | fifth | sixth | seventh | eighth | ninth"
const laterOrdinals =
  "tenth | eleventh | twelfth | thirteenth | fourteenth | fifteenth | sixteenth | seventeenth | eighteenth | nineteenth | twentieth | thirtieth"

const weighed = (weight: number, words: string): string =>
  words
    .split(" | ")
    .map((word) => `/${weight}/ ${word}`)
    .join(" | ")

/** A run of this many digits, in which two equal ones may be `double two`. */
const run = (count: number): string => {
  const digits = (length: number) => "<expected> ".repeat(length)
  const doubled = Array.from({ length: count - 1 }, (_, at) => `${digits(at)}/0.5/ double ${digits(count - 1 - at)}`)
  return `(${[digits(count), ...doubled].map((one) => one.trim()).join(" | ")})`
}
const runs = (counts: ReadonlyArray<number>): string => counts.map(run).join(" ")

/** What follows in a run of any length. Nobody says `zero oh`, which is what a drawn-out `zero` sounds like. */
const digitsFrom = (noughts: ReadonlyArray<keyof typeof noughtWeights>): string => {
  const zeros = noughts.flatMap((nought) => {
    const weight = noughtWeights[nought]
    const times = [`/${weight}/`, `/${weight / 20}/ double`, `/${weight / 100}/ triple`]
    return times.flatMap((time) => [`${time} ${nought}`, `${time} ${nought} <after_${nought}>`])
  })
  return ["<figure>", "<figure> <digits>", ...zeros].join(" | ")
}
/** Each is weighed as if it were one of nine figures. */
const noughtWeights = { zero: 0.25, oh: 0.07 }

const ordinals = (weight: number): string =>
  `${weighed(weight, `${firsts} | ${laterOrdinals}`)} | /${weight}/ twenty (${firsts}) | /${weight}/ thirty first`

/**
 * Weights apply to words. In a run of any length each digit has one, or the run would be recognized as longer than it is. PocketSphinx divides the
 * weights of the first words in a list by their sum, so that only a later word of a sentence makes it less likely than others.
 */
export const rules: ReadonlyArray<string> = [
  "<corrected> = no | i meant | no i meant | sorry | actually | make it | no make it;",
  `<one> = ${ones};`,
  `<below_hundred> = ${ones} | ${teens} | (${tens}) [ <one> ];`,
  `<below_thousand> = <below_hundred> | (${weighed(0.3, `a | ${ones}`)}) hundred [ [ and ] <below_hundred> ];`,
  "<number> = <below_thousand> | <below_thousand> /0.1/ thousand [ [ and ] <below_thousand> ];",
  "<figure> = <one> | /0.05/ double <one> | /0.01/ triple <one>;",
  `<digits> = ${digitsFrom(["zero", "oh"])};`,
  `<after_zero> = ${digitsFrom(["zero"])};`,
  `<after_oh> = ${digitsFrom(["oh"])};`,
  `<expected> = zero | ${ones} | /0.5/ oh;`,
  // North American numbers with and without the area code; numbers of other lengths are in `digits`.
  `<phone> = ${runs([3, 4])} | [ /0.05/ one ] ${runs([3, 3, 4])};`,
  `<weekday> = ${weekdays};`,
  `<ordinal> = ${firsts} | ${laterOrdinals} | twenty (${firsts}) | thirty first;`,
  `<leading_ordinal> = ${ordinals(0.2)};`,
  `<day> = the <ordinal> | ${ordinals(0.02)};`,
  `<month> = ${months};`,
  "<date> = [ next | this ] <weekday> | /0.05/ today | tomorrow | the day after tomorrow | next week | " +
    "<month> [ the ] (<ordinal> | <below_hundred>) | [ the ] <leading_ordinal> of <month> | <day> <month>;",
  `<hour> = ${ones} | ten | eleven | twelve;`,
  "<minute> = oh <one> | ten | fifteen | (twenty | thirty | forty | fifty) [ <one> ];",
  "<half> = a /0.1/ m | p /0.1/ m | in /0.1/ the (morning | afternoon | evening) | at /0.1/ night;",
  "<time> = <hour> [ o'clock | <minute> ] [ <half> ] | (half past | (quarter | ten | twenty | five) (past | to)) <hour> [ <half> ] | noon | midnight;"
]

const said = "[ <corrected> | it is | it's | yes ]"

/** The numbers of the range that the author names, if they are few. */
const rangeOf = ({ prompt }: ExtractedVariable): ReadonlyArray<string> => {
  const [, least, most] = /\b(?:from|between) (\d+) (?:to|and) (\d+)\b/i.exec(prompt) ?? []
  const names = ["zero", ...`${ones} | ${teens}`.split(" | ")]
  return least === undefined || most === undefined || Number(most) >= names.length ? [] : names.slice(Number(least), Number(most) + 1)
}
/** The things that are counted, such as `guests`. */
const countedOf = ({ name }: ExtractedVariable): string => {
  const counted = /(?<![a-z])[a-z]+s$/.exec(name.toLowerCase())?.[0]
  return `people | persons${counted === undefined ? "" : ` | ${counted}`}`
}

const numberFor = (variable: ExtractedVariable): string => {
  const range = rangeOf(variable)
  const counted = countedOf(variable)
  const lead = "[ <corrected> | it is | it's | yes | i would say | i'd say | maybe | about | for | we are | we will be | there will be ]"
  if (range.length > 0) return `${lead} [ a ] (${range.join(" | ")}) [ out of ${range.at(-1)} ]`
  return `${lead} <number> [ ${counted} | of us ] | ${lead} /0.1/ zero [ ${counted} ]`
}

const isPhone = ({ name, prompt }: ExtractedVariable): boolean =>
  /\b(?:tele)?phone\b|\bmobile\b/i.test(`${name.replaceAll("_", " ")} ${prompt}`)

/** Undefined if anything may be said. */
export const valueFor = (kind: Kind, variable: ExtractedVariable): string | undefined => {
  const date = `${said} [ on ] <date> [ would be good | would be fine | is good | is fine ]`
  const time = `${said} [ at ] <time>`
  switch (kind) {
    case "number":
      return numberFor(variable)
    case "digits":
      return isPhone(variable) ? `${said} (<phone> | <digits>)` : `${said} <digits>`
    case "date":
      return date
    case "time":
      return time
    case "moment":
      return `${said} [ on ] <date> [ at ] <time> | ${date} | ${time}`
    default:
      return undefined
  }
}
