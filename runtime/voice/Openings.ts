/** The openings of calls: a recording, or a text spoken sentence by sentence, the first while the next ones are being synthesized. */
import { Effect, Fiber } from "effect"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import { characterMillis, GrowingPiece } from "./GrowingPiece.ts"
import { RecordedSpeech, RecordingUnplayable } from "./RecordedSpeech.ts"
import { sentencesOf } from "./Sentences.ts"
import type { Piece } from "./Transcript.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"
import type { VoicePlan } from "./VoiceSession.ts"

/** How long an answered call waits for a recording before the greeting is spoken instead. */
const recordingTimeout = "5 seconds"

interface OpeningPiece {
  /** Whole frames, shared with other calls, so they must not be written to. */
  readonly speech: Uint8Array
  /** The text being spoken. */
  readonly text: string
}

/** The speech of a piece, or a part of it. The parts of a piece arrive one after another, with the same piece. */
export type Say = (speech: Uint8Array, piece: Piece) => void

interface RecordedOpening extends OpeningPiece {
  readonly recordingId: string
}

export const makeOpenings = Effect.gen(function* () {
  const tts = yield* Tts
  const recordings = yield* RecordedSpeech

  /** Undefined if the plan has no recording. */
  const recorded = (
    { organizationId, recording }: VoicePlan,
    wanted: SpeechWanted
  ): Effect.Effect<RecordedOpening | undefined, RecordingUnplayable> => {
    if (recording === undefined) return Effect.undefined
    return recordings.find(organizationId, recording, wanted).pipe(
      Effect.map(({ recordingId, speech, transcript }) => ({ speech, text: transcript.trim(), recordingId })),
      Effect.timeoutOrElse({
        duration: recordingTimeout,
        orElse: () => Effect.fail(new RecordingUnplayable({ reason: "NotMade", cause: "it took too long" }))
      })
    )
  }

  /** Undefined if nothing in the text can be said, such as a list number, or words in a script that the voice does not know. */
  const sentence = (
    text: string,
    wanted: SpeechWanted,
    voice: VoicePlan["voice"],
    part: (speech: Uint8Array) => void
  ): Effect.Effect<OpeningPiece | undefined, TtsError> =>
    tts.speak(text, wanted, voice, part).pipe(
      Effect.map((speech) => ({ speech, text })),
      Effect.catchIf(
        ({ reason }) => reason === "Unspeakable",
        () => Effect.undefined
      )
    )

  const warm = ({ conversation, greeting = "", later, voice }: VoicePlan) =>
    Effect.suspend(() =>
      greeting === "" && later === undefined && conversation === undefined
        ? Effect.void
        : tts.warm(greeting === "" ? [""] : sentencesOf(plainSpeech(greeting)), voice)
    )

  /**
   * Requests all pieces at once, and hands each to `say` once it and all pieces before it are ready. Fails with the first piece that cannot be
   * made: earlier pieces stay said, and nothing is left out in the middle.
   */
  const spoken = Effect.fnUntraced(function* ({ greeting, voice }: VoicePlan, wanted: SpeechWanted, say: Say) {
    if (greeting === undefined || greeting.trim() === "") return
    const whole = plainSpeech(greeting)
    if (whole.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    let { neededAt } = wanted
    const pieces = yield* Effect.forEach(sentencesOf(whole), (text) => {
      const parts = new SpokenParts(text)
      const made = sentence(text, { ...wanted, neededAt }, voice, (speech) => parts.take(speech))
      neededAt += text.length * characterMillis
      return Effect.map(Effect.forkChild(made, { startImmediately: true }), (fiber) => ({ fiber, parts }))
    })
    let isAnySaid = false
    for (const { fiber, parts } of pieces) {
      parts.flow(say)
      const made = yield* Fiber.join(fiber)
      if (made === undefined) continue
      if (!parts.end()) say(made.speech, { text: made.text, bytes: made.speech.length })
      isAnySaid = true
    }
    if (!isAnySaid) return yield* new TtsError({ reason: "Unspeakable" })
  })

  return { ...namesOf(tts), recorded, sentence, spoken, warm, isCrowdedBy: tts.isCrowdedBy }
})

/** The names of a call's engine and voice in the usage of its run. */
const namesOf = ({ engine, voice: usual }: Tts["Service"]) => ({
  engineOf: ({ voice }: VoicePlan): string => voice?.speech.provider ?? engine,
  voiceOf: ({ voice }: VoicePlan): string => voice?.speech.voice ?? usual
})

/** The parts of a sentence whose turn to be said may not have come yet. */
class SpokenParts {
  readonly #piece: GrowingPiece
  readonly #waiting: Array<Uint8Array> = []
  #say: Say | undefined
  #isAny = false

  constructor(text: string) {
    this.#piece = new GrowingPiece(text)
  }

  take(speech: Uint8Array): void {
    this.#isAny = true
    this.#piece.add(speech)
    if (this.#say === undefined) this.#waiting.push(speech)
    else this.#say(speech, this.#piece)
  }

  flow(say: Say): void {
    this.#say = say
    for (const speech of this.#waiting.splice(0)) say(speech, this.#piece)
  }

  /** False if the speech did not arrive in parts. */
  end(): boolean {
    this.#piece.end()
    return this.#isAny
  }
}

export type Openings = Effect.Success<typeof makeOpenings>
