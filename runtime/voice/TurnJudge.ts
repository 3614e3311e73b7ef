/**
 * Judges, each time the callee pauses, how likely it is that they have finished: by the agent's end-of-turn model, and by the rules until that is open
 * and once it has failed. Keeps the last seconds heard for models that listen: the rules look at the text alone.
 */
import { Effect, type Fiber, type Scope } from "effect"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import type { EndOfTurn, Expectation, Pause } from "#core/model/EndOfTurn.ts"
import type { OpenEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import type { FrameListener } from "./FrameListener.ts"

const keptFrames = 400
/** A turn is detected this long after its first sound. */
const beforeVoiceMillis = 200

interface JudgePorts {
  /** The pacer's clock. */
  readonly now: () => number
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  /** BCP 47. */
  readonly language: string
}

export class TurnJudge implements FrameListener {
  readonly #ports: JudgePorts
  /** What judges now. */
  model: EndOfTurn = endOfTurnRules
  /** A ring of the last frames. Empty while the rules judge. */
  #audio = new Int16Array(0)
  #heard = 0
  /** What the callee was asked for. */
  expects: Expectation

  constructor(ports: JudgePorts, expects: Expectation) {
    this.#ports = ports
    this.expects = expects
  }

  hear({ samples }: PcmFrame): void {
    if (this.#audio.length > 0) this.#audio.set(samples, (this.#heard++ % keptFrames) * frameSize)
  }

  readonly open = (model: OpenEndOfTurn): Effect.Effect<void, never, Scope.Scope> =>
    Effect.matchEffect(model, {
      onFailure: ({ message }) => Effect.logWarning("an end-of-turn model could not be opened: rules take its place", { message }),
      onSuccess: (opened) => Effect.sync(() => this.#use(opened))
    })

  /** `from`: when the turn has begun. */
  readonly judge = (said: Pick<Pause, "isAnswer" | "text">, from: number, judged: (probability: number) => void): void => {
    const { fork, language, now } = this.#ports
    const pause = { ...said, audio: this.#last(now() - from + beforeVoiceMillis), expects: this.expects, language }
    const model = this.model
    const asked = Effect.suspend(() => model.probability(pause)).pipe(
      Effect.catchDefect((defect) => Effect.fail(faulty(defect))),
      Effect.catch((error) => Effect.andThen(this.#without(model, error), endOfTurnRules.probability(pause)))
    )
    fork(Effect.ignore(Effect.map(asked, judged)))
  }

  #use(model: EndOfTurn): void {
    this.model = model
    this.#audio = new Int16Array(model === endOfTurnRules ? 0 : keptFrames * frameSize)
    this.#heard = 0
  }

  /** A model that fails is not asked again in this call. */
  #without(model: EndOfTurn, { message }: ModelError): Effect.Effect<void> {
    if (this.model !== model) return Effect.void
    this.#use(endOfTurnRules)
    return Effect.logWarning("an end-of-turn model has failed: rules take its place", { message })
  }

  /** A copy of the last `millis` of what is kept. */
  #last(millis: number): Int16Array {
    const wanted = Math.max(0, Math.ceil((millis * sampleRate) / 1000 / frameSize))
    const count = Math.min(wanted, keptFrames, this.#heard)
    const copy = new Int16Array(count * frameSize)
    for (let at = 0; at < count; at++) {
      const from = ((this.#heard - count + at) % keptFrames) * frameSize
      copy.set(this.#audio.subarray(from, from + frameSize), at * frameSize)
    }
    return copy
  }
}

/** The exception may contain what the callee said: only its kind is reported. */
const faulty = (defect: unknown) =>
  new ModelError({ reason: "broken", isRetryable: false, message: `it threw a ${defect instanceof Error ? defect.name : typeof defect}` })
