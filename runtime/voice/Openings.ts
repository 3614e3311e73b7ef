/** The openings of calls: a recording, or a text that is spoken sentence by sentence, the first while the next ones are being made. */
import { Effect, Fiber } from "effect"
import { RecordedSpeech, RecordingUnplayable } from "./RecordedSpeech.ts"
import { sentencesOf } from "./Sentences.ts"
import type { Wanted } from "./SpeechQueue.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"
import type { VoicePlan } from "./VoiceSession.ts"

/** How long an answered call waits for a recording before the greeting is spoken instead. */
const recordingTimeout = "5 seconds"

/** Rough speed of the voice, to estimate when a later sentence will be needed. */
const characterMillis = 70

export interface OpeningPiece {
  /** Whole frames, shared with other calls, so they must not be written to. */
  readonly speech: Uint8Array
  /** The text that is spoken. */
  readonly text: string
}

interface RecordedOpening extends OpeningPiece {
  readonly recordingId: string
}

export const makeOpenings = Effect.gen(function* () {
  const tts = yield* Tts
  const recordings = yield* RecordedSpeech

  /** Undefined when the plan has no recording. */
  const recorded = (
    { organizationId, recording }: VoicePlan,
    wanted: Wanted
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

  /** Undefined when nothing in the text can be said: a number in a list, a word in a script that the voice does not know. */
  const sentence = (text: string, wanted: Wanted, voice: VoicePlan["voice"]): Effect.Effect<OpeningPiece | undefined, TtsError> =>
    tts.speak(text, wanted, voice).pipe(
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
        : tts.warm(greeting === "" ? [""] : sentencesOf(greeting), voice)
    )

  /**
   * Requests all pieces at once, and hands each to `say` as soon as it and those before it are made. Fails with the first piece that cannot be
   * made: earlier pieces stay said, and nothing is left out in the middle.
   */
  const spoken = Effect.fnUntraced(function* ({ greeting, voice }: VoicePlan, wanted: Wanted, say: (piece: OpeningPiece) => void) {
    const whole = greeting?.trim() ?? ""
    if (whole === "") return
    if (whole.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    let { neededAt } = wanted
    const pieces = yield* Effect.forEach(sentencesOf(whole), (text) => {
      const begun = Effect.forkChild(sentence(text, { ...wanted, neededAt }, voice), { startImmediately: true })
      neededAt += text.length * characterMillis
      return begun
    })
    let isAnySaid = false
    for (const fiber of pieces) {
      const made = yield* Fiber.join(fiber)
      if (made === undefined) continue
      say(made)
      isAnySaid = true
    }
    if (!isAnySaid) return yield* new TtsError({ reason: "Unspeakable" })
  })

  const voiceOf = ({ voice }: VoicePlan): string => voice ?? tts.voice

  return { engine: tts.engine, voiceOf, recorded, sentence, spoken, warm, isCrowdedBy: tts.isCrowdedBy }
})
export type Openings = Effect.Success<typeof makeOpenings>
