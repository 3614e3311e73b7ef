/** PocketSphinx as a recognizer of English: it chooses among the expected phrases, and reports anything else as not understood. */
import { Effect, Fiber, FiberSet } from "effect"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, SpeechToText } from "#core/model/SpeechToText.ts"
import { grammarOf, type Jsgf } from "./Grammar.ts"
import type { Recognition, SphinxRequest } from "./Recognition.ts"
import { leastScorePerFrame } from "./Sphinx.ts"
import type { SphinxUtterance } from "./SphinxProcess.ts"
import { makeFollower } from "./Follower.ts"
import { makeUtterance } from "#adapters/shared/Utterance.ts"

/** A score that no utterance falls below. */
const worstScore = -120

const confidenceOf = (scorePerFrame: number): number => Math.max(0, Math.min(1, 1 - scorePerFrame / worstScore))

const english = new ModelError({ reason: "refused", isRetryable: false, message: "PocketSphinx understands English only" })

const jsgfOf = ({ grammar, phrases }: RecognizerHints): Jsgf | undefined => grammar ?? grammarOf(phrases)

/** An utterance that was not followed, or followed without success, is recognized as a whole. */
const answerOf = ({ recognize }: Recognition, followed: SphinxUtterance | undefined, request: SphinxRequest) =>
  followed === undefined
    ? recognize(request)
    : Effect.catchIf(
        followed.answer,
        ({ reason }) => reason === "Crashed",
        () => recognize(request)
      )

export const pocketsphinx = (recognition: Recognition): SpeechToText => ({
  provider: "pocketsphinx",
  model: "en-us",
  ownsTurns: false,
  open: Effect.fnUntraced(function* (first, emit) {
    if (!/^en\b/i.test(first.language)) return yield* english
    yield* recognition.warm
    // Answers are not awaited after a hangup: these fibers end with the session.
    const run = yield* FiberSet.makeRuntime<never>()
    const utterance = makeUtterance()
    const follower = makeFollower(recognition, utterance)
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
        follower.giveUp()
        asked?.giveUp()
      })
    )
    let grammar = jsgfOf(first)
    /** The previous recognition, so that answers come in order, and how many answers are still to come. */
    let before: Fiber.Fiber<void> | undefined
    let owed = 0
    let asked: SphinxUtterance | undefined

    const tell = (events: ReadonlyArray<RecognizerEvent>) =>
      Effect.sync(() => {
        for (const event of isOpen ? events : []) emit(event)
      })
    const answer = (heard: ReturnType<typeof utterance.heard>, expected: Jsgf | undefined) => {
      if (heard === undefined) return tell([finalOf("", 0, 0)])
      const { audio, fromMillis, overNoise, span, untilMillis } = heard
      const unclear: ReadonlyArray<RecognizerEvent> = [{ ...finalOf("", fromMillis, untilMillis), isUnclear: true }]
      if (expected === undefined) return tell(unclear)
      asked = follower.take(span, expected)
      return answerOf(recognition, asked, { audio, grammar: expected }).pipe(
        Effect.flatMap(({ hypothesis }) => {
          if (hypothesis === undefined || hypothesis.scorePerFrame < leastScorePerFrame(overNoise)) return tell(unclear)
          utterance.forget(heard)
          return tell([finalOf(hypothesis.text, fromMillis, untilMillis, confidenceOf(hypothesis.scorePerFrame))])
        }),
        // Only this utterance is lost, and the callee is asked to repeat it.
        Effect.catch(({ reason }) => Effect.andThen(Effect.logWarning("speech was not recognized", { reason }), tell(unclear)))
      )
    }
    return {
      write: (samples, isSpeech = true) => {
        utterance.write(samples)
        // What follows an utterance may turn out to belong to it.
        if (isOpen && owed === 0) follower.follow(grammar, isSpeech)
      },
      finalize: () => {
        if (!isOpen) return
        owed++
        const [answered, earlier] = [answer(utterance.heard(), grammar), before]
        const inTurn = Effect.andThen(earlier === undefined ? Effect.void : Fiber.await(earlier), answered)
        before = run(
          Effect.ensuring(
            inTurn,
            Effect.sync(() => void owed--)
          )
        )
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
