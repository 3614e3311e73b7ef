/** PocketSphinx as a recognizer: it chooses among the phrases that are expected, and says of anything else that it was not understood. English. */
import { Effect, Fiber } from "effect"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, SpeechToText } from "#core/model/SpeechToText.ts"
import { grammarOf, type Jsgf } from "./Grammar.ts"
import type { Recognition } from "./Recognition.ts"
import { leastScorePerFrame } from "./Sphinx.ts"
import { makeUtterance } from "./Utterance.ts"

/** A score that no utterance falls below. */
const worstScore = -120

const confidenceOf = (scorePerFrame: number): number => Math.max(0, Math.min(1, 1 - scorePerFrame / worstScore))

const english = new ModelError({ reason: "refused", isRetryable: false, message: "PocketSphinx understands English only" })

const jsgfOf = ({ grammar, phrases }: RecognizerHints): Jsgf | undefined => grammar ?? grammarOf(phrases)

export const pocketsphinx = (recognition: Recognition): SpeechToText => ({
  provider: "pocketsphinx",
  model: "en-us",
  ownsTurns: false,
  open: Effect.fnUntraced(function* (first, emit) {
    if (!/^en\b/i.test(first.language)) return yield* english
    yield* recognition.warm
    const run = Effect.runForkWith(yield* Effect.context())
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
      })
    )
    const utterance = makeUtterance()
    let grammar = jsgfOf(first)
    /** The recognition before, so that each answer comes in its turn. */
    let before: Fiber.Fiber<void> | undefined

    const tell = (events: ReadonlyArray<RecognizerEvent>) =>
      Effect.sync(() => {
        for (const event of isOpen ? events : []) emit(event)
      })
    const answer = (heard: ReturnType<typeof utterance.heard>, expected: Jsgf | undefined) => {
      if (heard === undefined) return tell([finalOf("", 0, 0)])
      const { audio, fromMillis, overNoise, untilMillis } = heard
      const unclear: ReadonlyArray<RecognizerEvent> = [{ ...finalOf("", fromMillis, untilMillis), isUnclear: true }]
      if (expected === undefined) return tell(unclear)
      return recognition.recognize({ audio, grammar: expected }).pipe(
        Effect.flatMap(({ hypothesis }) => {
          if (hypothesis === undefined || hypothesis.scorePerFrame < leastScorePerFrame(overNoise)) return tell(unclear)
          utterance.forget()
          return tell([finalOf(hypothesis.text, fromMillis, untilMillis, confidenceOf(hypothesis.scorePerFrame))])
        }),
        // It costs this utterance, which the callee is asked to repeat.
        Effect.catch(({ reason }) => Effect.andThen(Effect.logWarning("speech was not recognized", { reason }), tell(unclear)))
      )
    }
    return {
      write: utterance.write,
      finalize: () => {
        const [heard, expected, earlier] = [utterance.heard(), grammar, before]
        const inTurn = Effect.andThen(earlier === undefined ? Effect.void : Fiber.await(earlier), answer(heard, expected))
        before = run(inTurn)
      },
      hint: (next) => {
        grammar = jsgfOf(next)
      }
    }
  })
})

const finalOf = (
  text: string,
  fromMillis: number,
  untilMillis: number,
  confidence?: number
): Extract<RecognizerEvent, { readonly _tag: "Final" }> => ({
  _tag: "Final",
  text,
  fromMillis,
  untilMillis,
  isForced: true,
  isAnswer: text !== "",
  confidence
})
