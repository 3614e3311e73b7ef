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

export const rules: ReadonlyArray<string> = [
  "<corrected> = no | i meant | no i meant | sorry | actually | make it | no make it;",
  `<one> = ${ones};`,
  `<below_hundred> = ${ones} | ${teens} | (${tens}) [ /0.5/ <one> ];`,
  "<below_thousand> = /4/ <below_hundred> | /1/ (a | one | two | three | four | five | six | seven | eight | nine) hundred [ [ and ] <below_hundred> ];",
  "<number> = /20/ zero | /100/ <below_thousand> | /1/ <below_thousand> thousand [ [ and ] <below_thousand> ];",
  `<digit> = /1/ zero | /0.4/ oh | /1/ one | /1/ two | /1/ three | /1/ four | /1/ five | /1/ six | /1/ seven | /1/ eight | /1/ nine;`,
  "<group> = /60/ <digit> | /2/ double <digit> | /1/ triple <digit>;",
  "<digits> = <group>+;",
  `<weekday> = ${weekdays};`,
  `<ordinal> = ${firsts} | ${laterOrdinals} | twenty (${firsts}) | thirty first;`,
  `<month> = ${months};`,
  "<date> = /4/ [ /0.3/ (next | this) ] <weekday> | /2/ today | /2/ tomorrow | the day after tomorrow | next week | " +
    "<month> [ the ] (<ordinal> | <below_hundred>) | [ the ] <ordinal> [ of ] <month>;",
  `<hour> = ${ones} | ten | eleven | twelve;`,
  "<minute> = oh <one> | ten | fifteen | (twenty | thirty | forty | fifty) [ /0.3/ <one> ];",
  "<half> = a m | p m | in the (morning | afternoon | evening) | at night;",
  "<time> = <hour> [ o'clock | <minute> ] [ <half> ] | (half | quarter | ten | twenty | five) (past | to) <hour> [ /0.3/ <half> ] | noon | midnight;"
]

const said = "[ /0.3/ (<corrected> | it is | it's | yes) ]"

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
    "[ /0.3/ (<corrected> | it is | it's | yes | i would say | i'd say | maybe | about | a | for | we are | we will be | there will be) ]"
  return range.length === 0
    ? `${lead} <number> [ /0.3/ (${countedOf(variable)}) ]`
    : `${lead} (${range.join(" | ")}) [ /0.1/ out of ${range.at(-1)} ]`
}

/** Undefined where anything may be said. */
export const valueFor = (kind: Kind, variable: ExtractedVariable): string | undefined => {
  const date = `${said} [ on ] <date> [ /0.1/ (would be good | would be fine | is good | is fine) ]`
  const time = `${said} [ at ] <time>`
  switch (kind) {
    case "number":
      return numberFor(variable)
    case "digits":
      return `${said} <digits>`
    case "date":
      return date
    case "time":
      return time
    case "moment":
      return `( /3/ ${said} [ on ] <date> [ at ] <time> | /1/ ${date} | /1/ ${time} )`
    default:
      return undefined
  }
}
