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

/** So many digits, of which two that are alike may be `double two`. */
const run = (count: number): string => {
  const digits = (length: number) => "<expected> ".repeat(length)
  const doubled = Array.from({ length: count - 1 }, (_, at) => `${digits(at)}/0.5/ double ${digits(count - 1 - at)}`)
  return `(${[digits(count), ...doubled].map((one) => one.trim()).join(" | ")})`
}
const runs = (counts: ReadonlyArray<number>): string => counts.map(run).join(" ")

/** Weights are those of words; the digits of a run that may be of any length pay for each, or it would be heard longer than it is. */
export const rules: ReadonlyArray<string> = [
  "<corrected> = no | i meant | no i meant | sorry | actually | make it | no make it;",
  `<one> = ${ones};`,
  `<below_hundred> = ${ones} | ${teens} | (${tens}) [ <one> ];`,
  `<below_thousand> = <below_hundred> | (${weighed(0.3, `a | ${ones}`)}) hundred [ [ and ] <below_hundred> ];`,
  "<number> = zero | <below_thousand> | <below_thousand> /0.1/ thousand [ [ and ] <below_thousand> ];",
  `<digit> = ${weighed(0.03, `zero | ${ones}`)} | /0.01/ oh;`,
  "<digits> = (<digit> | /0.05/ double <digit> | /0.01/ triple <digit>)+;",
  `<expected> = zero | ${ones} | /0.5/ oh;`,
  // With and without the area code, in North America; numbers of other lengths are in `digits`.
  `<phone> = ${runs([3, 4])} | [ /0.05/ one ] ${runs([3, 3, 4])};`,
  `<weekday> = ${weekdays};`,
  `<ordinal> = ${firsts} | ${laterOrdinals} | twenty (${firsts}) | thirty first;`,
  `<leading_ordinal> = ${weighed(0.2, `${firsts} | ${laterOrdinals}`)} | /0.2/ twenty (${firsts}) | /0.2/ thirty first;`,
  `<month> = ${months};`,
  "<date> = [ next | this ] <weekday> | /0.5/ today | tomorrow | the day after tomorrow | next week | " +
    "<month> [ the ] (<ordinal> | <below_hundred>) | [ the ] <leading_ordinal> [ of ] <month>;",
  `<hour> = ${ones} | ten | eleven | twelve;`,
  "<minute> = oh <one> | ten | fifteen | (twenty | thirty | forty | fifty) [ <one> ];",
  "<half> = a m | p m | in the (morning | afternoon | evening) | at night;",
  "<time> = <hour> [ o'clock | <minute> ] [ <half> ] | (half | quarter | ten | twenty | five) (past | to) <hour> [ <half> ] | noon | midnight;"
]

const said = "[ <corrected> | it is | it's | yes ]"

/** The numbers that the author names as the least and the most, if they are few. */
const rangeOf = ({ prompt }: ExtractedVariable): ReadonlyArray<string> => {
  const [, least, most] = /\b(?:from|between) (\d+) (?:to|and) (\d+)\b/i.exec(prompt) ?? []
  const names = ["zero", ...`${ones} | ${teens}`.split(" | ")]
  return least === undefined || most === undefined || Number(most) >= names.length ? [] : names.slice(Number(least), Number(most) + 1)
}
/** What is counted: `guests`. */
const countedOf = ({ name }: ExtractedVariable): string => {
  const counted = /([a-z]+s)$/.exec(name.toLowerCase())?.[1]
  return `people | persons | of us${counted === undefined ? "" : ` | ${counted}`}`
}

const numberFor = (variable: ExtractedVariable): string => {
  const range = rangeOf(variable)
  const lead =
    "[ <corrected> | it is | it's | yes | i would say | i'd say | maybe | about | a | for | we are | we will be | there will be ]"
  return range.length === 0 ? `${lead} <number> [ ${countedOf(variable)} ]` : `${lead} (${range.join(" | ")}) [ out of ${range.at(-1)} ]`
}

const isPhone = ({ name, prompt }: ExtractedVariable): boolean =>
  /\b(?:tele)?phone\b|\bmobile\b/i.test(`${name.replaceAll("_", " ")} ${prompt}`)

/** Undefined where anything may be said. */
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
