/** Judges whether a callee has finished by what was said: the end-of-turn model that needs no audio, no time and no service. English only. */
import { Effect } from "effect"
import type { EndOfTurn, Pause } from "#core/model/EndOfTurn.ts"
import { notUnderstood } from "#core/model/SpeechToText.ts"

const complete = 0.95
const neutral = 0.5
const incomplete = 0.1
/** For a number that may be complete, but may also go on after a pause between two groups. */
const perhapsWhole = 0.29

/** Words that do not end a sentence: conjunctions, prepositions, articles, auxiliaries and hesitations. */
const openWords = new Set(
  `and or but so because if when while although a an the my your our their to of in on at for from with by about
  is are was am will would can could should i i'm it's uh um er erm uhm hmm like well maybe actually let's`.split(/\s+/)
)
const digitWords: Readonly<Record<string, number>> = {
  ...{ zero: 1, oh: 1, o: 1, one: 1, two: 1, three: 1, four: 1, five: 1, six: 1, seven: 1, eight: 1, nine: 1 },
  ...{ double: 1, triple: 2 }
}

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []

/** The number of digits, as figures or as words. `double` and `triple` count for the digits that they add. */
const digitsIn = (words: ReadonlyArray<string>): number =>
  words.reduce((sum, word) => sum + (/^\d+$/.test(word) ? word.length : (digitWords[word] ?? 0)), 0)

const ofDigits = (words: ReadonlyArray<string>, least: number, most: number): number | undefined => {
  const digits = digitsIn(words)
  // The callee said something other than the number.
  if (digits === 0) return undefined
  if (digits >= most) return complete
  return digits < least ? incomplete : perhapsWhole
}

const probabilityOf = ({ expects, isAnswer, text }: Pause): number => {
  // An incomplete answer is often not understood, while the complete one is.
  if (text === notUnderstood) return incomplete
  const words = wordsOf(text)
  const last = words.at(-1)
  if (last === undefined) return neutral
  const digits = expects._tag === "Digits" ? ofDigits(words, expects.least, expects.most) : undefined
  if (digits !== undefined) return digits
  if (isAnswer) return complete
  if (expects._tag === "Spelling" || /[,\-–…]\s*$/.test(text) || openWords.has(last)) return incomplete
  return /[.?!]["']?\s*$/.test(text) ? complete : neutral
}

export const endOfTurnRules: EndOfTurn = {
  provider: "embedded",
  model: "rules",
  probability: (pause) => Effect.sync(() => probabilityOf(pause))
}
