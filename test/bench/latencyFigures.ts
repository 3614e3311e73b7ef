/** Turns what callees have noted into the figures of `voice-latency`. */
import { type Figure, type Goal, quantile } from "./Figure.ts"
import type { HeardTurn } from "./latencyCallees.ts"
import type { TurnKind } from "./latencyScript.ts"

/** A line that continues after an interruption is heard again within this time. */
const resumeMillis = 1500
/** Callees note in steps of 20 ms, and lines of equal length differ by a word. */
const slackMillis = 700

const of = (heard: ReadonlyArray<HeardTurn>, ...kinds: ReadonlyArray<TurnKind>) => heard.filter(({ turn }) => kinds.includes(turn.kind))

const answerMillis = (heard: ReadonlyArray<HeardTurn>): ReadonlyArray<number> =>
  heard.flatMap(({ agentFrom, until }) => (agentFrom === undefined ? [] : [agentFrom - until]))

const pausesIn = (heard: ReadonlyArray<HeardTurn>): number => heard.reduce((sum, { turn }) => sum + turn.text.split("|").length - 1, 0)
const startsIn = (heard: ReadonlyArray<HeardTurn>): number => heard.reduce((sum, { agentInPauses }) => sum + agentInPauses, 0)
const percent = (part: number, all: number): number => (all === 0 ? Number.NaN : (100 * part) / all)

/** How long an uninterrupted line takes. */
const lineMillis = (heard: ReadonlyArray<HeardTurn>): number => {
  const lines = of(heard, "complete").flatMap(({ agentEnd, agentFrom }, at) => {
    const next = heard[heard.indexOf(of(heard, "complete")[at] as HeardTurn) + 1]
    const isWhole = next === undefined || !["barge_in", "backchannel", "cough"].includes(next.turn.kind)
    return agentFrom === undefined || agentEnd === undefined || !isWhole ? [] : [agentEnd - agentFrom]
  })
  return quantile(lines, 0.5)
}

/** Whether the agent neither stopped for good, nor replaced the interrupted line by another. */
const wentOn = ({ agentEnd, from, turn }: HeardTurn, wholeMillis: number): boolean => {
  if (agentEnd === undefined) return false
  const left = wholeMillis - turn.cueMillis
  const took = agentEnd - from
  return took >= left - slackMillis && took <= left + resumeMillis + slackMillis
}

const figure = (name: string, value: number, unit: string, goal?: Goal): Figure => ({
  name: `voice-latency, ${name}`,
  value,
  unit,
  ...(goal === undefined ? {} : { goal })
})

const quantiles = (name: string, millis: ReadonlyArray<number>, goals: { readonly p50?: number; readonly p95?: number } = {}) =>
  ([["p50", 0.5] as const, ["p95", 0.95] as const] as const).map(([label, share]) => {
    const atMost = goals[label]
    return figure(`${name} ${label}`, quantile(millis, share), "ms", atMost === undefined ? undefined : { atMost })
  })

/** Figures of callees in ordinary conversations, and of those who are asked for numbers. */
export const turnFigures = (talks: ReadonlyArray<ReadonlyArray<HeardTurn>>): ReadonlyArray<Figure> => {
  const heard = talks.flat()
  const wholeMillis = quantile(talks.map(lineMillis).filter(Number.isFinite), 0.5)
  const interruptions = of(heard, "barge_in").flatMap(({ agentUntil, from }) => (agentUntil === undefined ? [] : [agentUntil - from]))
  const assents = of(heard, "backchannel", "cough")
  const open = of(heard, "paused", "digits")
  const answered = [...of(heard, "complete", "neutral", "incomplete")]
  return [
    figure("turns", heard.length, ""),
    figure("turns without an answer", answered.filter(({ agentFrom }) => agentFrom === undefined).length, "", { atMost: 0 }),
    ...quantiles("complete answer to audio", answerMillis(of(heard, "complete")), { p50: 260, p95: 400 }),
    ...quantiles("neutral answer to audio", answerMillis(of(heard, "neutral")), { p50: 750, p95: 900 }),
    figure("incomplete answer to audio, longest", quantile(answerMillis(of(heard, "incomplete")), 1), "ms", { atMost: 1700 }),
    ...quantiles("whole number to audio", answerMillis(of(heard, "digits"))),
    figure("pauses inside turns and digit groups", pausesIn(open), ""),
    figure("pauses into which the agent starts", percent(startsIn(open), pausesIn(open)), "%", { atMost: 3 }),
    figure("the same, after what could be all", percent(startsIn(of(heard, "hesitant")), pausesIn(of(heard, "hesitant"))), "%"),
    ...quantiles("barge-in to silence", interruptions, { p50: 100, p95: 160 }),
    figure("backchannels and coughs", assents.length, ""),
    figure("of these, those that ended a line", percent(assents.filter((one) => !wentOn(one, wholeMillis)).length, assents.length), "%", {
      atMost: 5
    })
  ]
}

interface Modelled {
  readonly talks: ReadonlyArray<ReadonlyArray<HeardTurn>>
  /** When the model had said the first clause of its answer to this text, on the clock of `performance.now`; the last time counts. */
  readonly clauseAt: (text: string) => number | undefined
}

/** The intended wait: the engine would answer no sooner even if it took no time at all. */
const meantMillis = 200

/** Figures of callees whose agent waits for a model with scripted times. */
export const modelFigures = ({ clauseAt, talks }: Modelled): ReadonlyArray<Figure> => {
  const ownOf = (some: ReadonlyArray<HeardTurn | undefined>) =>
    some.flatMap((one) => {
      const { agentFrom, until } = one?.clock ?? {}
      const clause = one === undefined ? undefined : clauseAt(one.turn.text)
      if (agentFrom === undefined || until === undefined || clause === undefined) return []
      return [agentFrom - Math.max(clause, until + meantMillis)]
    })
  const heard = talks.flat()
  const own = ownOf(heard)
  const [first, third] = [0, 2].map((at) => quantile(ownOf(talks.map((talk) => talk[at])), 0.5))
  return [
    figure("answers of a hosted model", own.length, ""),
    ...quantiles("answer of a hosted model to audio", answerMillis(heard), { p50: 560, p95: 1200 }),
    ...quantiles("the engine's own share of it", own, { p50: 40, p95: 100 }),
    // Whatever is opened too late falls into the first turn.
    figure("the same in first turns, beyond that in third turns, p50", (first ?? Number.NaN) - (third ?? Number.NaN), "ms", { atMost: 40 })
  ]
}
