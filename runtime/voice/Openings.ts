/** What calls open with: a recording, or a text that is spoken sentence by sentence, the first while the next ones are being made. */
import { Effect, Fiber } from "effect"
import { RecordedSpeech, RecordingUnplayable } from "./RecordedSpeech.ts"
import { sentencesOf } from "./Sentences.ts"
import type { Wanted } from "./SpeechQueue.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"
import type { VoicePlan } from "./VoiceSession.ts"

/** A callee who has answered waits no longer for a recording; then he is spoken to. */
const recordingTimeout = "5 seconds"

/** How fast the voice speaks, roughly: to know when a later sentence will be needed. */
const characterMillis = 70

export interface OpeningPiece {
  /** Whole frames, shared with other calls: not to be written to. */
  readonly speech: Uint8Array
  /** What is said in it. */
  readonly text: string
}

interface RecordedOpening extends OpeningPiece {
  readonly recordingId: string
}

export const makeOpenings = Effect.gen(function* () {
  const tts = yield* Tts
  const recordings = yield* RecordedSpeech

  /** Undefined when there is none to play. */
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

  /** Undefined when nothing in it can be said: a number in a list, a word in a script that the voice does not know. */
  const piece = (text: string, wanted: Wanted): Effect.Effect<OpeningPiece | undefined, TtsError> =>
    tts.speak(text, wanted).pipe(
      Effect.map((speech) => ({ speech, text })),
      Effect.catchIf(
        ({ reason }) => reason === "Unspeakable",
        () => Effect.undefined
      )
    )

  const warm = ({ greeting = "", later }: VoicePlan) =>
    Effect.suspend(() => (greeting === "" && later === undefined ? Effect.void : tts.warm(greeting === "" ? [""] : sentencesOf(greeting))))

  /**
   * Hands out each piece as soon as it and those before it are made, all of which are asked for at once. Fails with the first that cannot be
   * made: what was said before stays said, and nothing is left out in the middle.
   */
  const spoken = Effect.fnUntraced(function* ({ greeting }: VoicePlan, wanted: Wanted, say: (piece: OpeningPiece) => void) {
    const text = greeting?.trim() ?? ""
    if (text === "") return
    if (text.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    let { neededAt } = wanted
    const pieces = yield* Effect.forEach(sentencesOf(text), (sentence) => {
      const begun = Effect.forkChild(piece(sentence, { ...wanted, neededAt }), { startImmediately: true })
      neededAt += sentence.length * characterMillis
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

  return { engine: tts.engine, voice: tts.voice, recorded, spoken, warm, isCrowdedBy: tts.isCrowdedBy }
})
