/**
 * What a node asks the callee for, which decides how patient the agent is. Numbers are said in groups and names are spelled, with pauses that
 * would end any other turn. The only clues are the names and hints of the variables, in English.
 */
import type { Expectation } from "#core/model/EndOfTurn.ts"
import type { ExtractedVariable } from "#core/model/LanguageModel.ts"
import type { ConversationNode } from "./ConversationGraph.ts"

const anything: Expectation = { _tag: "Anything" }
const digits = (least: number, most: number): Expectation => ({ _tag: "Digits", least, most })

const long = 40
/** The first match counts. If the length is not known, the number may continue after every group. */
const expectations: ReadonlyArray<readonly [RegExp, Expectation]> = [
  [/\b(?:e ?mail|spell|spelled|spelling)\b/, { _tag: "Spelling" }],
  [/\b(?:zip|postal code|postcode)\b/, digits(5, 9)],
  [/\b(?:phone|telephone|mobile|cell)\b/, digits(7, 15)],
  [/\b(?:digits|pin|ssn|social security)\b/, digits(4, long)],
  [
    /\b(?:account|card|customer|member|membership|order|policy|reference|serial|tracking|confirmation) (?:number|id|code)\b/,
    digits(3, long)
  ]
]

const of = ({ name, prompt, type }: ExtractedVariable): Expectation => {
  if (type === "boolean") return anything
  const hint = `${name} ${prompt}`.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")
  return expectations.find(([pattern]) => pattern.test(hint))?.[1] ?? anything
}

/** With several variables, the first one that needs patience counts. */
export const expectedAt = ({ extraction }: ConversationNode): Expectation =>
  extraction?.variables.map(of).find(({ _tag }) => _tag !== "Anything") ?? anything
