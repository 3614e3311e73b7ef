/**
 * Which stages of a campaign's conversations are slow, and when its log says so. One late answer in a hundred is nothing to look at; a service that
 * keeps a quarter of the callees waiting is. Pure except for its own memory, which is bounded.
 */
import type { Note } from "#core/campaign/stops.ts"
import type { CampaignId } from "#core/Id.ts"
import type { CallFact, LatencyStage } from "./ConversationEntry.ts"
import { summaryOf } from "./conversationReport.ts"

type Waited = Extract<CallFact, { readonly _tag: "Waited" }>

/**
 * Longer waits are slow. People notice a second of silence, and begin to speak again after two, so the whole may take 1.5 s. After an unfinished
 * sentence the engine itself waits for 1.5 s, so only a later end of the turn is slow. The others are what a service should take at most for the
 * whole to be in time.
 */
const slowFromMillis: Readonly<Record<LatencyStage, number>> = {
  recognition: 800,
  end_of_turn: 2000,
  first_token: 1000,
  synthesis: 700,
  first_audio: 1500
}

/** A stage of a service is looked at for this long, and named at most once in this time. */
const slowStagePauseMillis = 300_000
const leastSlow = 3
const slowShare = 0.25
/** The percentiles are those of the first so many waits. */
const mostKept = 500
/** Stages of services of campaigns. The one that was named or begun longest ago is forgotten first. */
const mostWatched = 2000

interface Watch {
  readonly since: number
  /** It has been named when this began. */
  readonly isNamed: boolean
  readonly millis: Array<number>
  waits: number
  slow: number
}
const begun = (since: number, isNamed: boolean): Watch => ({ since, isNamed, millis: [], waits: 0, slow: 0 })

/** What the log says. Seconds are rounded to hundredths. */
interface SlowStage {
  readonly stage: LatencyStage
  readonly provider: string
  readonly model: string
  readonly slow: number
  readonly of: number
  readonly slow_from_seconds: number
  readonly p50_seconds: number
  readonly p95_seconds: number
  readonly worst_seconds: number
}

const secondsOf = (millis: number): number => Math.round(millis / 10) / 100

export class SlowStages {
  readonly #watches = new Map<string, Watch>()

  /** To be called for each wait of a campaign's callees. Returns what its log should say now, if anything. */
  waited(campaignId: CampaignId, { at, millis, model, processor, stage }: Waited): SlowStage | undefined {
    const key = JSON.stringify([campaignId, stage, processor, model])
    const watch = this.#watches.get(key) ?? this.#begin(key, at, false)
    watch.waits++
    if (millis > slowFromMillis[stage]) watch.slow++
    if (watch.millis.length < mostKept) watch.millis.push(millis)
    const isLong = at - watch.since >= slowStagePauseMillis
    if (watch.isNamed && !isLong) return undefined
    const isSlow = watch.slow >= leastSlow && watch.slow >= watch.waits * slowShare
    if (isSlow || isLong) this.#begin(key, at, isSlow)
    if (!isSlow) return undefined
    const { max, p50, p95 } = summaryOf(watch.millis.toSorted((a, b) => a - b))
    return {
      stage,
      provider: processor,
      model,
      slow: watch.slow,
      of: watch.waits,
      slow_from_seconds: secondsOf(slowFromMillis[stage]),
      p50_seconds: secondsOf(p50),
      p95_seconds: secondsOf(p95),
      worst_seconds: secondsOf(max)
    }
  }

  #begin(key: string, at: number, isNamed: boolean): Watch {
    const watch = begun(at, isNamed)
    this.#watches.delete(key)
    this.#watches.set(key, watch)
    const [oldest] = this.#watches.keys()
    if (this.#watches.size > mostWatched && oldest !== undefined) this.#watches.delete(oldest)
    return watch
  }
}

const slowWords: Readonly<Record<LatencyStage, string>> = {
  recognition: "The recognizer is slow to say what callees have said.",
  end_of_turn: "It takes long until it is certain that callees have finished.",
  first_token: "The language model is slow to begin its answers.",
  synthesis: "The voice is slow to begin its speech.",
  first_audio: "Callees wait long for the agent's answers."
}
/** The entry of the campaign's log. */
export const conversationSlow = (stage: SlowStage): Note => {
  const { model, p50_seconds, provider, slow, worst_seconds } = stage
  const detail = `${stage.stage} of ${provider} ${model}: ${slow} of ${stage.of} waits over ${stage.slow_from_seconds} s, half of all up to ${p50_seconds} s, the longest ${worst_seconds} s`
  return {
    details: { ...stage, detail },
    event: "conversation_slow",
    level: "warning",
    message: slowWords[stage.stage],
    once: { about: { stage: stage.stage, provider, model }, millis: slowStagePauseMillis }
  }
}
