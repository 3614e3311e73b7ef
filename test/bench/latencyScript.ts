/**
 * What the callees of `voice-latency` say, turn by turn, as a seed decides. Complete answers end like sentences; neutral ones could continue; incomplete ones
 * stop where nobody stops. `paused`: the callee hesitates in the middle of a sentence, and continues. `hesitant`: the same, but what was said before the
 * pause could be everything, so only the length of the pause shows the difference. `digits`: a number in groups. The others are said into a line of the agent.
 */
export const turnKinds = ["complete", "neutral", "incomplete", "paused", "hesitant", "digits", "barge_in", "backchannel", "cough"] as const
export type TurnKind = (typeof turnKinds)[number]

export interface ScriptedTurn {
  readonly kind: TurnKind
  /** `|` is a pause. For a cough, its name. */
  readonly text: string
  readonly pauseMillis: number
  /** How long the agent has been silent, or has been speaking. */
  readonly cueMillis: number
}

const complete = ["Yes please.", "Yes, that suits me.", "Yes, that is fine."]
const neutral = ["on friday afternoon", "some time next week", "my daughter in the morning"]
const incomplete = ["I think that I would", "the day after that and", "we were talking about the"]
const paused = [
  "I would like to | come on friday.",
  "we could do it on | monday morning or | tuesday evening.",
  "it depends because | my car is at the garage.",
  "my doctor said that I should | rest until the | end of the month."
]
const hesitant = ["not on monday | but on tuesday.", "maybe next month | around the tenth."]
const bargeIn = ["wait a moment please.", "hold on a second.", "that is not what I said."]
const backchannel = ["uh huh", "okay", "right", "yeah"]
const digitWords = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

const leastPause = 300
const mostPause = 900
/** The silence after which a callee answers, and how far into a line a callee interrupts. */
const answerAfter = 1000
const bargeInAfter = 1500
/** Late enough in a line to tell by time whether it continued or was replaced by another. */
const assentAfter = 2500

type Random = () => number

const oneOf = <A>(random: Random, some: readonly [A, ...ReadonlyArray<A>] | ReadonlyArray<A>): A =>
  some[Math.floor(random() * some.length)] as A // the list is never empty

const numberIn = (random: Random): string =>
  [3, 3, 4].map((size) => Array.from({ length: size }, () => oneOf(random, digitWords)).join(" ")).join(" | ")

const textOf: { readonly [Kind in TurnKind]: (random: Random) => string } = {
  complete: (random) => oneOf(random, complete),
  neutral: (random) => oneOf(random, neutral),
  incomplete: (random) => oneOf(random, incomplete),
  paused: (random) => oneOf(random, paused),
  hesitant: (random) => oneOf(random, hesitant),
  digits: numberIn,
  barge_in: (random) => oneOf(random, bargeIn),
  backchannel: (random) => oneOf(random, backchannel),
  cough: () => "(cough)"
}
const cueOf = (kind: TurnKind): number => {
  if (kind === "barge_in") return bargeInAfter
  return kind === "backchannel" || kind === "cough" ? assentAfter : answerAfter
}

export const isOverAgent = ({ kind }: Pick<ScriptedTurn, "kind">): boolean => cueOf(kind) !== answerAfter

const turnOf = (random: Random, kind: TurnKind): ScriptedTurn => ({
  kind,
  text: textOf[kind](random),
  // Rounded to whole frames.
  pauseMillis: Math.round((leastPause + random() * (mostPause - leastPause)) / 20) * 20,
  cueMillis: cueOf(kind)
})

/** After a complete answer the agent says a long line, during which the next turn can be spoken. */
const rounds: ReadonlyArray<ReadonlyArray<TurnKind>> = [
  ["complete", "barge_in"],
  ["complete", "backchannel"],
  ["complete", "cough"],
  ["complete", "neutral"],
  ["complete", "paused"],
  ["paused", "incomplete"],
  ["neutral", "hesitant"]
]

/** One callee's turns, each kind at least once. */
export const talkScript = (random: Random): ReadonlyArray<ScriptedTurn> =>
  rounds
    .map((kinds) => ({ kinds, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .flatMap(({ kinds }) => kinds.map((kind) => turnOf(random, kind)))

/** A callee who is asked for one number after another. */
export const digitsScript = (random: Random, count: number): ReadonlyArray<ScriptedTurn> =>
  Array.from({ length: count }, () => turnOf(random, "digits"))

/** Complete answers, none of which is repeated in a run. */
export const numberedScript = (first: number, count: number): ReadonlyArray<ScriptedTurn> =>
  Array.from({ length: count }, (_, index) => ({
    kind: "complete",
    text: `I would like to book number ${first + index}.`,
    pauseMillis: leastPause,
    cueMillis: answerAfter
  }))
