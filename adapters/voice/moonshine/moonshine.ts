/** A recognizer that transcribes whatever callees say, on this machine. Where answers are expected, it finds them in what sounds like them. */
import { Effect, Fiber, FiberSet } from "effect"
import { makeSentenceMemory } from "#adapters/shared/SentenceMemory.ts"
import { type Heard, makeUtterance, type Utterance } from "#adapters/shared/Utterance.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, SpeechToText } from "#core/model/SpeechToText.ts"
import { type Reading, readingOf } from "./Reading.ts"
import type { Transcriber } from "./Transcriber.ts"
import type { TranscriptionRequest } from "./transcriptionWorker.ts"

interface MoonshineOptions {
  readonly transcriber: Transcriber
  /** Shown as the model's name. */
  readonly model: string
  /** ISO 639 codes. Undefined: any. */
  readonly languages: ReadonlyArray<string> | undefined
  /** Why nothing can be transcribed at present; undefined if it can. */
  readonly unready: () => string | undefined
}

const keptMillis = 30_000
/** Nobody speaks for so long without the shortest pause. It is transcribed, and what follows is another utterance. */
const longestMillis = 20_000
/** An utterance with less voice may be a word or two. */
const shortMillis = 1200
/** Once a callee has spoken for so long, what they have said so far is looked at: it may interrupt the agent. */
const glimpsedMillis = [600, 1400]

const understands = (languages: ReadonlyArray<string> | undefined, language: string): boolean =>
  languages === undefined || languages.includes(language.toLowerCase().split("-")[0] ?? "")

const refused = (message: string) => new ModelError({ reason: "refused", isRetryable: false, message })
/** It may be on its way to this machine. */
const absent = (message: string) => new ModelError({ reason: "unreachable", isRetryable: true, message })

const requestOf = (audio: Uint8Array, voicedMillis: number, { grammar, phrases }: RecognizerHints): TranscriptionRequest => ({
  audio,
  isShort: voicedMillis < shortMillis,
  phrases,
  grammar
})

const unclear: Reading = { text: "", isAnswer: false, isUnclear: true }

const finalOf = (
  { isAnswer, isUnclear, text }: Reading,
  { fromMillis, untilMillis }: Pick<Heard, "fromMillis" | "untilMillis">,
  { isForced, replaces = false }: { readonly isForced: boolean; readonly replaces?: boolean }
): RecognizerEvent => ({
  _tag: "Final",
  text,
  fromMillis,
  untilMillis,
  isForced,
  isAnswer,
  ...(isUnclear ? { isUnclear: true } : {}),
  ...(replaces ? { replaces } : {}),
  confidence: undefined
})
const nothingSaid = finalOf({ text: "", isAnswer: false, isUnclear: false }, { fromMillis: 0, untilMillis: 0 }, { isForced: true })

/** Decides when to look at an utterance that is still being spoken. `isStale` tells later whether another one has begun since. */
const makeGlimpses = (utterance: Utterance, look: (audio: Uint8Array, spokenMillis: number, isStale: () => boolean) => void) => {
  let count = 0
  let utterances = 0
  return {
    /** To be called after each frame in which the callee seems to be speaking. */
    follow: (spokenMillis: number): void => {
      if (spokenMillis < (glimpsedMillis[count] ?? Number.POSITIVE_INFINITY)) return
      const span = utterance.saying()
      if (span === undefined) return
      count++
      const present = utterances
      look(utterance.audio(span), spokenMillis, () => present !== utterances)
    },
    /** The utterance is over. */
    reset: (): void => {
      count = 0
      utterances++
    }
  }
}

export const moonshine = ({ languages, model, transcriber, unready }: MoonshineOptions): SpeechToText => ({
  provider: "moonshine",
  model,
  ownsTurns: false,
  open: Effect.fnUntraced(function* (first, emit) {
    if (!understands(languages, first.language)) return yield* refused(`The model understands ${languages?.join(", ")} only`)
    const why = unready()
    if (why !== undefined) return yield* absent(why)
    // Transcriptions are not awaited after a hangup: these fibers end with the session.
    const run = yield* FiberSet.makeRuntime<never>()
    run(Effect.ignore(transcriber.warm))
    const utterance = makeUtterance(keptMillis)
    let isOpen = true
    yield* Effect.addFinalizer(() => Effect.sync(() => void (isOpen = false)))
    let hints: RecognizerHints = first
    /** The previous transcription, so that answers come in order. */
    let before: Fiber.Fiber<void> | undefined
    const memory = makeSentenceMemory()

    const tell = (event: RecognizerEvent) => Effect.sync(() => void (isOpen && emit(event)))
    const transcription = Effect.fnUntraced(
      function* (heard: Heard, isForced: boolean, expected: RecognizerHints, present: number) {
        const about = memory.about(heard)
        const { audio, voicedMillis } = about.heard
        const reading = readingOf(yield* transcriber.transcribe(requestOf(audio, voicedMillis, expected)), voicedMillis)
        const replaces = !reading.isUnclear && memory.understood(heard, about, present, isForced)
        if (!reading.isUnclear && isForced) utterance.forget(heard)
        yield* tell(finalOf(reading, about.heard, { isForced, replaces }))
      },
      // Only this utterance is lost, and the callee is asked to repeat it.
      (transcribing, heard, isForced) =>
        Effect.catch(transcribing, ({ reason }) =>
          Effect.andThen(Effect.logWarning("speech was not recognized", { reason }), tell(finalOf(unclear, heard, { isForced })))
        )
    )
    const transcribed = (heard: Heard | undefined, isForced: boolean) =>
      heard !== undefined ? transcription(heard, isForced, hints, memory.present()) : isForced ? tell(nothingSaid) : Effect.void
    const glimpses = makeGlimpses(utterance, (audio, voicedMillis, isStale) => {
      const seen = Effect.flatMap(transcriber.glimpse(requestOf(audio, voicedMillis, hints)), (transcription) => {
        const text = transcription === undefined || isStale() ? "" : readingOf(transcription, voicedMillis).text
        return text === "" ? Effect.void : tell({ _tag: "Partial", text })
      })
      run(Effect.ignore(seen))
    })
    const take = (isForced: boolean): void => {
      glimpses.reset()
      const heard = utterance.heard()
      const [taken, earlier] = [transcribed(heard, isForced), before]
      // What goes on for this long is not transcribed again, even if it was not understood.
      if (!isForced && heard !== undefined) utterance.forget(heard)
      before = run(Effect.andThen(earlier === undefined ? Effect.void : Fiber.await(earlier), taken))
    }
    return {
      write: (samples, isSpeech = true) => {
        utterance.write(samples)
        if (!isOpen) return
        const spokenMillis = utterance.sayingMillis()
        if (spokenMillis >= longestMillis) take(false)
        else if (isSpeech) glimpses.follow(spokenMillis)
      },
      finalize: () => {
        if (isOpen) take(true)
      },
      hint: (next) => {
        hints = next
      },
      settle: memory.settle
    }
  })
})
