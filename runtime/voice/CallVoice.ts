/**
 * What speaks in one call: the voice that its agent chose, and the engine's own where that one fails, or keeps somebody waiting who hears nothing
 * else. The engine's own voice speaks English, so it takes over for agents that do.
 */
import { Effect } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { MadeSpeech } from "./LineSpeaker.ts"
import type { Openings, Saying } from "./Openings.ts"
import { type TakePart, TtsError } from "./Tts.ts"

export interface SpokenCharacters extends Saying {
  characters: number
}

/** Failures in a row after which the chosen voice is not asked again during the call. */
const MOST_FAILURES = 2
/** What another voice would fail at, too. */
const unspeakable: ReadonlySet<TtsError["reason"]> = new Set(["TooLong", "Unspeakable"])
const late = new TtsError({ reason: "TimedOut", words: "its first sound did not come in time" })
const crashed = new TtsError({ reason: "Crashed" })

interface CallVoicePorts {
  readonly openings: Pick<Openings, "firstSoundMillis" | "sayingOf" | "sentence">
  readonly chosen: ChosenVoice | undefined
  readonly campaignId: CampaignId | undefined
  /** BCP 47. */
  readonly language: string
  /** A sentence is spoken by the engine's own voice, because the chosen one failed. */
  readonly replaced: (chosen: Saying, error: TtsError) => Effect.Effect<void>
}

export class CallVoice {
  readonly #ports: CallVoicePorts
  readonly #hasSpare: boolean
  readonly #spoken: Array<SpokenCharacters> = []
  #failures = 0
  #isGivenUp = false

  constructor(ports: CallVoicePorts) {
    this.#ports = ports
    const { chosen, language, openings } = ports
    this.#hasSpare = openings.sayingOf(chosen).provider !== openings.sayingOf(undefined).provider && /^en\b/i.test(language)
  }

  /** The voice of the next sentence. Undefined: the engine's own. */
  get next(): ChosenVoice | undefined {
    return this.#isGivenUp ? undefined : this.#ports.chosen
  }

  /** Its name in the usage of the run. */
  get saying(): Saying {
    return this.#ports.openings.sayingOf(this.next)
  }

  /** What each voice has said so far. */
  get spoken(): ReadonlyArray<SpokenCharacters> {
    return this.#spoken
  }

  /**
   * Undefined if nothing in the text can be said. `begun`: its first sound is there. `part` gets each part of speech that arrives in parts.
   * `aheadMillis`: how much is to be heard first.
   */
  readonly speak = Effect.fnUntraced(
    { self: this },
    function* (
      text: string,
      aheadMillis: number,
      begun: (by: Saying) => void,
      part: TakePart
    ): Effect.fn.Return<MadeSpeech | undefined, TtsError> {
      const chosen = this.next
      const isReplaceable = this.#hasSpare && chosen !== undefined
      let isBegun = false
      const by = (voice: ChosenVoice | undefined) => {
        const saying = this.#ports.openings.sayingOf(voice)
        const begin = () => {
          if (isBegun) return
          isBegun = true
          this.#count(saying, text.length)
          begun(saying)
        }
        return Effect.tap(this.#sentence(text, aheadMillis, voice, begin, part), (made) =>
          Effect.sync(() => {
            if (made !== undefined) begin()
          })
        )
      }
      if (!isReplaceable) return yield* by(chosen)
      const patience = aheadMillis + this.#ports.openings.firstSoundMillis
      const overdue = Effect.suspend(() => (isBegun ? Effect.never : Effect.fail(late)))
      const made = Effect.catchDefect(by(chosen), () => Effect.fail(crashed))
      return yield* Effect.raceFirst(made, Effect.andThen(Effect.sleep(patience), overdue)).pipe(
        Effect.tap(() => Effect.sync(() => (this.#failures = 0))),
        Effect.catch((error) => {
          if (unspeakable.has(error.reason)) return Effect.fail(error)
          this.#hasFailed(error)
          // Half a sentence is not said twice: the agent finds other words.
          return isBegun
            ? Effect.fail(error)
            : Effect.andThen(this.#ports.replaced(this.#ports.openings.sayingOf(chosen), error), by(undefined))
        })
      )
    }
  )

  #sentence(
    text: string,
    aheadMillis: number,
    voice: ChosenVoice | undefined,
    begin: () => void,
    part: TakePart
  ): Effect.Effect<MadeSpeech | undefined, TtsError> {
    const { campaignId, openings } = this.#ports
    return Effect.flatMap(SteadyTime.now, (now) =>
      openings.sentence(text, { isAnswered: true, neededAt: now + aheadMillis, campaignId }, voice, (speech, words) => {
        begin()
        part(speech, words)
      })
    )
  }

  /** A voice that refuses its settings will not take the next sentence either. */
  #hasFailed({ reason }: TtsError): void {
    this.#failures++
    this.#isGivenUp ||= reason === "Refused" || this.#failures >= MOST_FAILURES
  }

  #count({ model, provider }: Saying, characters: number): void {
    const known = this.#spoken.find((spoken) => spoken.provider === provider && spoken.model === model)
    if (known === undefined) this.#spoken.push({ provider, model, characters })
    else known.characters += characters
  }
}
