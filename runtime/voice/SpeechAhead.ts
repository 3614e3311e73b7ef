/**
 * Has the beginnings of lines synthesized that the agent may say next, so that they are cached when they are wanted. Nobody is waiting for them,
 * so speech that somebody is waiting for comes first; beginnings not yet synthesized when the conversation moves on are dropped.
 */
import { Effect, type Fiber } from "effect"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { sentencesOf } from "./Sentences.ts"

/** `soon`: the callee may have finished. */
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

  /** Replaces the previous lines. The rest of each line is synthesized while its first sentence is heard. */
  make(lines: ReadonlyArray<string>, urgency: Urgency): void {
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
    const beginnings = lines.flatMap((line) => sentencesOf(plainSpeech(line)).slice(0, 1))
    this.#fibers = beginnings.map((text) => this.#fork(this.#made(text, urgency)))
  }

  readonly #made = (text: string, urgency: Urgency): Effect.Effect<void> =>
    Effect.flatMap(SteadyTime.now, (now) => {
      const neededAt = urgency === "soon" ? now : Number.POSITIVE_INFINITY
      // If the line is really said, that request reports the failure.
      return Effect.asVoid(Effect.exit(this.#speak(text, { isAnswered: urgency === "soon", neededAt })))
    })
}
