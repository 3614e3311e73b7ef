/** What callees can be expected to say in a node, as a JSGF grammar for a recognizer that knows only what it is told. */
import type { ModelNode } from "#core/model/LanguageModel.ts"
import { meaningOf, phrasesOf } from "./edges.ts"
import { type Meaning, phrases } from "./phrases.ts"
import { kindOf } from "./Slots.ts"
import { wordsOf } from "./words.ts"

const anywhere: ReadonlyArray<Meaning> = ["affirm", "deny", "unsure", "repeat", "human", "opt_out", "goodbye", "callback"]

const digits = "zero | oh | one | two | three | four | five | six | seven | eight | nine"
const teens = "ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen"
const tens = "twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety"
const days = "today | tomorrow | monday | tuesday | wednesday | thursday | friday | saturday | sunday | next week"
const months = "january | february | march | april | may | june | july | august | september | october | november | december"
const ordinals =
  "first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | eleventh | twelfth | thirteenth | fourteenth | fifteenth | " +
  "sixteenth | seventeenth | eighteenth | nineteenth | twentieth | thirtieth"

const rules = [
  `<digit> = ${digits};`,
  `<below_hundred> = ${digits} | ${teens} | (${tens}) [ <digit> ];`,
  "<number> = <below_hundred> | (a | <digit>) hundred [ [ and ] <below_hundred> ];",
  "<digits> = ( <digit> | (double | triple) <digit> )+;",
  `<date> = [ next ] (${days}) | (${months}) [ the ] <day> | [ the ] <day> [ of ] (${months});`,
  `<day> = ${ordinals} | (twenty | thirty) (first | second | third | fourth | fifth | sixth | seventh | eighth | ninth) | <below_hundred>;`,
  "<time> = <below_hundred> [ o'clock | <below_hundred> ] [ a m | p m | in the (morning | afternoon | evening) ] | (half | quarter) (past | to) <digit> | noon;"
]

type Spoken = "digits" | "number" | "date" | "time"
const spokenFor: Partial<Readonly<Record<ReturnType<typeof kindOf>, ReadonlyArray<Spoken>>>> = {
  digits: ["digits"],
  number: ["number"],
  date: ["date"],
  time: ["time"],
  moment: ["date", "time"]
}

/** Deterministic. Names and free text are not in it: they need a recognizer that takes dictation. */
export const grammarOf = (node: ModelNode): string => {
  const edges = node.edges.flatMap((edge) => {
    const meaning = meaningOf(edge)
    return [...phrasesOf(node, edge), ...(meaning === undefined ? [] : phrases[meaning])]
  })
  const said = [...edges, ...anywhere.flatMap((meaning) => phrases[meaning])].map((phrase) =>
    wordsOf(phrase)
      .filter((word) => !/\d/.test(word))
      .join(" ")
  )
  const alternatives = [...new Set(said)].filter((phrase) => phrase !== "").toSorted()
  const values = [...new Set(node.variables.flatMap((variable) => spokenFor[kindOf(variable)] ?? []))]
  const moment = values.includes("date") && values.includes("time") ? ["<date> [ at ] <time>"] : []
  const value =
    values.length === 0
      ? []
      : [`[ yes | no | i meant | it is | at | on ] ( ${[...values.map((name) => `<${name}>`), ...moment].join(" | ")} )`]
  return [
    "#JSGF V1.0;",
    "grammar node;",
    `public <answer> = [ <filler> ] ( ${[...alternatives, ...value].join(" | ")} ) [ <filler> ];`,
    "<filler> = well | um | uh | please | thanks | thank you;",
    ...(values.length === 0 ? [] : rules),
    ""
  ].join("\n")
}
