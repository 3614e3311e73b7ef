/** What agents say and play: sentences, recordings, and the openings of calls, which are made while the phone rings. */
import { Clock, Effect, Exit } from "effect"
import { plannedOpening } from "#core/agent/conversation/Nodes.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import { characterMillis } from "./GrowingPiece.ts"
import { RecordedSpeech, RecordingUnplayable } from "./RecordedSpeech.ts"
import { sentencesOf } from "./Sentences.ts"
import { type TakePart, Tts, type TtsError } from "./Tts.ts"
import type { PlannedTalk, VoicePlan } from "./VoiceSession.ts"

/** How long an answered call waits for a recording before the greeting is spoken instead. */
const recordingTimeout = "5 seconds"

/** What speaks, as the usage of a run names it: a service with its model, or with its voice if it has only one model; or a recording. */
export interface Saying {
  readonly provider: string
  readonly model: string
}

interface OpeningPiece {
  /** Whole frames, shared with other calls, so they must not be written to. */
  readonly speech: Uint8Array
  /** The text being spoken. */
  readonly text: string
}

interface RecordedOpening extends OpeningPiece {
  readonly recordingId: string
}

export const makeOpenings = Effect.gen(function* () {
  const tts = yield* Tts
  const recordings = yield* RecordedSpeech

  const recorded = (organizationId: OrganizationId, recording: RecordingName, wanted: SpeechWanted) =>
    recordings.find(organizationId, recording, wanted).pipe(
      Effect.map(({ recordingId, speech, transcript }): RecordedOpening => ({ speech, text: transcript.trim(), recordingId })),
      Effect.timeoutOrElse({
        duration: recordingTimeout,
        orElse: () => Effect.fail(new RecordingUnplayable({ reason: "NotMade", cause: "it took too long" }))
      })
    )

  /** Undefined if nothing in the text can be said, such as a list number, or words in a script that the voice does not know. */
  const sentence = (
    text: string,
    wanted: SpeechWanted,
    voice: VoicePlan["voice"],
    part: TakePart
  ): Effect.Effect<OpeningPiece | undefined, TtsError> =>
    tts.speak(text, wanted, voice, part).pipe(
      Effect.map((speech) => ({ speech, text })),
      Effect.catchIf(
        ({ reason }) => reason === "Unspeakable",
        () => Effect.undefined
      )
    )

  /** What the callee will hear first, if it is known: what is still being fetched may change it. */
  const openingIn = ({ later, known, plan }: PlannedTalk) =>
    later === undefined ? Effect.map(Clock.currentTimeMillis, (now) => plannedOpening({ plan, now }, known)) : Effect.undefined

  const warm = ({ conversation, voice }: Pick<VoicePlan, "conversation" | "voice">) =>
    Effect.flatMap(openingIn(conversation), (opening) => {
      const sentences = opening?.greeting === "" ? [] : sentencesOf(plainSpeech(opening?.greeting ?? ""))
      const isSilent = opening?.greeting === "" && conversation.hearing === undefined
      return isSilent ? Effect.void : tts.warm(sentences.length === 0 ? [""] : sentences, voice)
    })

  /** Decodes the recording that the call opens with, or synthesizes the sentences of its greeting. Nothing fails: they are made again when due. */
  const prepare = Effect.fnUntraced(function* ({ campaignId, conversation, organizationId, voice }: VoicePlan, neededAt: SteadyMillis) {
    const known = yield* conversation.later ?? Effect.succeed(conversation.known)
    const { greeting, recording } = plannedOpening({ plan: conversation.plan, now: yield* Clock.currentTimeMillis }, known)
    const wanted: SpeechWanted = { isAnswered: false, neededAt, campaignId }
    const isPlayable = recording !== undefined && Exit.isSuccess(yield* Effect.exit(recorded(organizationId, recording, wanted)))
    // Speech that is not cached would have to be made a second time.
    if (isPlayable || voice?.speech.isCacheable === false) return
    let ahead = 0
    yield* Effect.forEach(
      sentencesOf(plainSpeech(greeting)),
      (text) => {
        const made = sentence(text, { ...wanted, neededAt: neededAt + ahead }, voice, () => {})
        ahead += text.length * characterMillis
        return Effect.exit(made)
      },
      { concurrency: "unbounded", discard: true }
    )
  })

  /** The name of a voice in the usage of a run. */
  const sayingOf = (voice: VoicePlan["voice"]): Saying =>
    voice === undefined
      ? { provider: tts.engine, model: tts.voice }
      : { provider: voice.speech.provider, model: voice.speech.model ?? voice.speech.voice }

  return { sayingOf, prepare, recorded, sentence, warm, isCrowdedBy: tts.isCrowdedBy, firstSoundMillis: tts.firstSoundMillis }
})

export type Openings = Effect.Success<typeof makeOpenings>
