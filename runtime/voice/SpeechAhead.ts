/**
 * Has the beginnings of lines made that the agent may say next, so that they are cached once they are wanted. Nobody waits for them, so whatever somebody
 * waits for goes first; and of those that have not been made when the conversation has gone on, none is.
 */
import { Effect, type Fiber } from "effect"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { sentencesOf } from "./Sentences.ts"

/** `soon`: the callee has perhaps finished. */
type Urgency = "soon" | "whenever"

export class SpeechAhead {
  readonly #fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #speak: (text: string, wanted: SpeechWanted) => Effect.Effect<unknown, unknown>
  #fibers: ReadonlyArray<Fiber.Fiber<void>> = []

  constructor(
    fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>,
    speak: (text: string, wanted: SpeechWanted) => Effect.Effect<unknown, unknown>
  ) {
    this.#fork = fork
    this.#speak = speak
  }

  /** In place of those before. The rest of each is made while its first sentence is heard. */
  make(lines: ReadonlyArray<string>, urgency: Urgency): void {
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
    const beginnings = lines.flatMap((line) => sentencesOf(line).slice(0, 1))
    this.#fibers = beginnings.map((text) => this.#fork(this.#made(text, urgency)))
  }

  readonly #made = (text: string, urgency: Urgency): Effect.Effect<void> =>
    Effect.flatMap(SteadyTime.now, (now) => {
      const neededAt = urgency === "soon" ? now : Number.POSITIVE_INFINITY
      // Whoever says it in earnest hears of what goes wrong.
      return Effect.asVoid(Effect.exit(this.#speak(text, { isAnswered: urgency === "soon", neededAt })))
    })
}
