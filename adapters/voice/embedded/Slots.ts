/** Finds the values of variables in what the callee said. A missing value is better than a wrong one. */
import type { JsonObject } from "#core/Json.ts"
import type { ExtractedVariable, ModelMessage, ModelRequest } from "#core/model/LanguageModel.ts"
import { notUnderstood } from "#core/model/SpeechToText.ts"
import { beforePronouns, besideValues, fillers, negators, questions } from "./lexicon.ts"
import { isConfirmation } from "./lines.ts"
import { hasAsked, isPresence } from "./Question.ts"
import { dateIn, digitsIn, nameIn, numbersIn, type Spoken, timeIn } from "./SpokenValues.ts"
import { meaningsOf } from "./Understanding.ts"
import { stemOf, stemsOf, wordsOf } from "./words.ts"

export type Kind = "boolean" | "number" | "digits" | "date" | "time" | "moment" | "name" | "text"

const hints: ReadonlyArray<readonly [Kind, RegExp]> = [
  ["moment", /\b(?:callback|call back|appointment|slot|dates? and times?|days? and times?|when)\b/],
  ["date", /\b(?:date|day|birthday|weekday)\b/],
  ["time", /\b(?:time|hour|oclock)\b/],
  ["name", /\b(?:name|named)\b/],
  ["digits", /\b(?:phone|number|account|code|pin|zip|postal|postcode|digits|policy|order|id)\b/]
]
const hintOf = ({ name, prompt }: ExtractedVariable): string => wordsOf(`${name.replaceAll("_", " ")} ${prompt}`).join(" ")

export const kindOf = (variable: ExtractedVariable): Kind => {
  if (variable.type !== "string") return variable.type
  const hint = hintOf(variable)
  return hints.find(([, pattern]) => pattern.test(hint))?.[0] ?? "text"
}

/** Words that retract what was said before them. */
const corrections = [
  ["i", "meant"],
  ["i", "mean"],
  ["make", "that"],
  ["make", "it"],
  ["scratch", "that"],
  ["actually"],
  ["sorry"],
  ["rather"],
  ["correction"],
  ["wait"],
  ["no"]
]

/** The words after each correction, the last one first, and then all of them. */
const readings = (words: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const ends = words.flatMap((_, at) => {
    const marker = corrections.find((phrase) => phrase.every((word, offset) => words[at + offset] === word))
    return marker === undefined ? [] : [at + marker.length]
  })
  return [...ends.toReversed().map((end) => words.slice(end)), withoutDenied(words)]
}

/** Leaves out what follows a `not`: `not four but five`. */
const withoutDenied = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const denied = new Set(
    words.flatMap((word, at) => {
      const [number] = word === "not" ? numbersIn(words.slice(at + 1)) : []
      return number?.at === 0 ? Array.from({ length: number.end + 1 }, (_, offset) => at + offset) : []
    })
  )
  return words.filter((_, at) => !denied.has(at))
}

/** The only number, or the one beside a word of the hint. */
const numberIn = (words: ReadonlyArray<string>, hint: ReadonlySet<string>): Spoken<number> | undefined => {
  const numbers = numbersIn(words).filter(({ at, end }) => words[at] !== "one" || end > at + 1 || !beforePronouns.has(words[at - 1] ?? ""))
  if (new Set(numbers.map(({ value }) => value)).size <= 1) return numbers[0]
  const named = numbers.filter(({ end }) => hint.has(stemOf(words[end] ?? "")))
  return named.length === 1 ? named[0] : undefined
}

const momentIn = (words: ReadonlyArray<string>): Spoken<string> | undefined => {
  const date = dateIn(words)
  const time = timeIn(
    date === undefined ? words : [...words.slice(0, date.at), ...words.slice(date.at, date.end).map(() => ""), ...words.slice(date.end)],
    date !== undefined
  )
  if (date === undefined || time === undefined) return date ?? time
  return { value: `${date.value} at ${time.value}`, at: Math.min(date.at, time.at), end: Math.max(date.end, time.end) }
}

const finders: {
  readonly [Name in Exclude<Kind, "boolean" | "text">]: (
    words: ReadonlyArray<string>,
    hint: ReadonlySet<string>
  ) => Spoken<string | number> | undefined
} = {
  number: numberIn,
  digits: (words) => digitsIn(words),
  date: (words) => dateIn(words),
  time: (words) => timeIn(words, true),
  moment: (words) => momentIn(words),
  name: (words) => nameIn(words, true)
}

/** Whether the other words merely accompany the value, rather than making a sentence about something else. */
const isAnswer = ({ at, end }: Spoken<unknown>, words: ReadonlyArray<string>, hint: ReadonlySet<string>): boolean => {
  const isValue = valuePlaces(words)
  const beside = words.filter((_, place) => (place < at || place >= end) && !isValue(place))
  const others = beside.filter((word) => !fillers.has(word) && !besideValues.has(word) && !hint.has(stemOf(word)))
  const isDenied = beside.some((word) => word !== "no" && negators.has(word))
  return !isDenied && others.length <= (end - at > 2 ? 2 : 1)
}

const wholeOf = (text: string, words: ReadonlyArray<string>): string | undefined => {
  if (text === notUnderstood) return undefined
  const hasContent = words.some((word) => !fillers.has(word))
  const meanings = meaningsOf(words)
  const isOther = ["repeat", "goodbye", "unsure", "opt_out", "human"].some((meaning) => [...meanings].some((one) => one === meaning))
  return hasContent && !isOther && !questions.test(words.join(" ")) ? text.trim() : undefined
}

/** The value of the variable in one answer of the callee. */
export const valueIn = (variable: ExtractedVariable, text: string): string | number | boolean | undefined => {
  const words = wordsOf(text).slice(0, 60)
  const kind = kindOf(variable)
  if (kind === "text") return wholeOf(text, words)
  if (kind === "boolean") {
    const meanings = meaningsOf(words)
    return meanings.has("deny") || meanings.has("not_interested") ? false : meanings.has("affirm") ? true : undefined
  }
  if (questions.test(words.join(" "))) return undefined
  const hint = new Set(stemsOf(hintOf(variable)))
  for (const reading of readings(words)) {
    const spoken = finders[kind](reading, hint)
    if (spoken !== undefined && isAnswer(spoken, reading, hint)) return spoken.value
  }
  return undefined
}

/** The words of an answer that are part of a value, by place. */
export const valuePlaces = (words: ReadonlyArray<string>): ((place: number) => boolean) => {
  const spoken = [...numbersIn(words), dateIn(words), timeIn(words, false), digitsIn(words)].filter((one) => one !== undefined)
  return (place) => spoken.some(({ at, end }) => place >= at && place < end)
}

interface Turn {
  /** What the agent had said before. */
  readonly question: ReadonlySet<string>
  readonly text: string
  /** How many turns ago. */
  readonly age: number
}

/** The callee's turns, the newest first, without those that only confirmed what had been understood. */
const turnsOf = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<Turn> => {
  const turns: Array<Omit<Turn, "age">> = []
  let [asked, question] = ["", ""]
  for (const message of messages) {
    if (message._tag === "Assistant" && message.text !== "") asked = message.text
    // A line that was cut off before it asked anything, or only asks whether somebody is there, leaves the previous question open.
    if (message._tag === "Assistant" && !isConfirmation(asked) && !isPresence(asked) && hasAsked(message)) question = asked
    if (message._tag !== "User") continue
    const words = wordsOf(message.text)
    const isNumber = digitsIn(words) !== undefined || numbersIn(words).length > 0
    // A number that replaces a misheard one still answers the previous question.
    if (!isConfirmation(asked) || isNumber) turns.push({ question: new Set(stemsOf(question)), text: message.text })
  }
  return turns.toReversed().map((turn, age) => ({ ...turn, age }))
}

/** A question that has no word in common with the variable is still taken to ask for it if it is this recent. */
const RECENT_TURNS = 2

const kinship = (variable: ExtractedVariable, { question }: Turn): number => {
  const words = stemsOf(hintOf(variable)).filter((word) => !fillers.has(word))
  return new Set(words.filter((word) => question.has(word))).size
}

/** Extracts the variables of a node from the whole conversation: each from the turn whose question had most to do with it. */
export const extracted = ({ messages, node: { variables } }: ModelRequest): JsonObject => {
  const turns = turnsOf(messages)
  const found = (variable: ExtractedVariable) => {
    const rivals = variables.filter((one) => one !== variable && kindOf(one) === kindOf(variable))
    const candidates = turns
      .map((turn) => ({ turn, near: kinship(variable, turn) }))
      .filter(({ near, turn }) => (near > 0 || turn.age < RECENT_TURNS) && !rivals.some((rival) => kinship(rival, turn) > near))
      .toSorted((a, b) => b.near - a.near || a.turn.age - b.turn.age)
    for (const { turn } of candidates) {
      const value = valueIn(variable, turn.text)
      if (value !== undefined) return value
    }
    return undefined
  }
  const values = variables.map((variable) => [variable.name, found(variable)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}
