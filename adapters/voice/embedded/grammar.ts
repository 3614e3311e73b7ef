/** What callees can be expected to say in a node, as a JSGF grammar for a recognizer that only recognizes what is listed. */
import type { ExtractedVariable, ModelNode } from "#core/model/LanguageModel.ts"
import { meaningOf, phrasesOf } from "./edges.ts"
import { type Meaning, phrases } from "./phrases.ts"
import { kindOf } from "./Slots.ts"
import { rules, valueFor } from "./valueGrammar.ts"

/** Meanings that are possible in any node. */
const anywhere: ReadonlyArray<Meaning> = ["unsure", "repeat", "human", "opt_out", "goodbye", "callback"]

/** Words as dictionaries spell them: with apostrophes, in lower case. Phrases with figures cannot be recognized. */
const spoken = (phrase: string): ReadonlyArray<string> => {
  const words =
    phrase
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\d']+/gu) ?? []
  return words.length === 0 || words.some((word) => /[^a-z']/.test(word)) ? [] : [words.join(" ")]
}
const listed = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts.flatMap(spoken))].toSorted()
/** PocketSphinx uses the weights of words as they are, and ignores those of rules. */
const weighed = (weight: number, texts: ReadonlyArray<string>): ReadonlyArray<string> => texts.map((text) => `/${weight}/ ${text}`)
const ruleOf = (name: string, texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.length === 0 ? [] : [`<${name}> = ${texts.join(" | ")};`]

/** Deterministic. Names and free text are not included: they need a dictation recognizer. */
export const grammarOf = (node: ModelNode): string => {
  const meant = node.edges.flatMap((edge) => meaningOf(edge) ?? [])
  const wanted = listed(node.edges.flatMap(phrasesOf))
  const special = listed(meant.flatMap((meaning) => (meaning === "affirm" || meaning === "deny" ? [] : phrases[meaning])))
  const other = listed(anywhere.flatMap((meaning) => phrases[meaning])).filter((phrase) => !special.includes(phrase))
  const values = node.variables.flatMap((variable: ExtractedVariable) => valueFor(kindOf(variable), variable) ?? [])
  const alternatives = [
    // Allowing any phrase after any other would match everything: `I can I can`.
    "[ yes | yeah | yep | sure | okay | ok | right | fine | of course ] <yes>",
    "[ no | nope | sorry ] <no>",
    ...(special.length === 0 ? [] : ["[ <wish> ] <special>", "<no> <special>", "<yes> <special>"]),
    ...(wanted.length === 0 ? [] : ["[ <wish> ] <wanted>", "(yes | no) <wanted>"]),
    "[ no ] <other>",
    // Without this, hesitation would be recognized as `no`.
    "<hesitation>",
    ...values
  ]
  return [
    "#JSGF V1.0;",
    "grammar node;",
    "public <answer> = [ <opening> ] <said> [ <closing> ];",
    `<said> = ${alternatives.join(" | ")};`,
    ...ruleOf("opening", weighed(0.05, ["well", "um", "uh", "oh", "hello", "sorry"])),
    ...ruleOf("hesitation", ["um", "uh", "hmm"]),
    ...ruleOf("closing", weighed(0.2, ["please", "thanks", "thank you"])),
    "<wish> = i want to | i need to | i have to | i would like to | i'd like to | can we | could we | can i | could i | please | i'm | i am | i want | yes | no;",
    ...ruleOf("yes", listed(phrases.affirm)),
    ...ruleOf("no", listed(phrases.deny)),
    ...ruleOf("special", special),
    ...ruleOf("wanted", wanted),
    ...ruleOf("other", weighed(0.3, other)),
    ...(values.length === 0 ? [] : rules),
    ""
  ].join("\n")
}
