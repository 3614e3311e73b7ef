/** Uploaded recordings as speech for the phone: decoded in a worker thread, so that no frame of a call waits for it. */
import { Context, Duration, Effect, Layer, Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { RecordingBytes } from "#runtime/storage/RecordingBytes.ts"
import type { RecordingRequest } from "./recordingWorker.ts"
import { makeSpeechWorkers } from "./SpeechWorkers.ts"

const meanings = {
  Unknown: "there is no such recording",
  Missing: "the recording's file is gone",
  NotMade: "nothing could be heard of the recording, or not in time"
} as const

export class RecordingUnplayable extends Schema.TaggedError<RecordingUnplayable>()("RecordingUnplayable", {
  /**
   * `Unknown`: the organization has no such recording. `Missing`: its file is gone. `NotMade`: it has no audible content, or could not be
   * decoded in time.
   */
  reason: Schema.Literals(["Unknown", "Missing", "NotMade"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

interface RecordedLine {
  /** Whole frames, shared with other calls, so they must not be written to. */
  readonly speech: Uint8Array
  readonly recordingId: string
  /** The text of the recording. */
  readonly transcript: string
}

const idle = Duration.seconds(20)
// Five minutes, the longest recording, are 2.4 MB.
const cacheBytes = 32 * 1024 * 1024
const decodeTimeout = Duration.seconds(15)
// The file of a storage key never changes, so one that yields no sound is not decoded again for each call, delaying others. A decoder that was
// too slow or crashed says less about the file.
const maxMute = 1000
const muteMillis = { Nothing: 300_000, TimedOut: 60_000, Crashed: 60_000, Busy: 0, Closed: 0 } as const

export class RecordedSpeech extends Context.Service<
  RecordedSpeech,
  {
    readonly find: (
      organizationId: OrganizationId,
      name: RecordingName,
      wanted?: SpeechWanted
    ) => Effect.Effect<RecordedLine, RecordingUnplayable>
  }
>()("runtime/voice/RecordedSpeech") {
  static readonly layer: Layer.Layer<RecordedSpeech, never, PlayedRecordings | RecordingBytes> = Layer.effect(
    RecordedSpeech,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const recordings = yield* PlayedRecordings
  const { read } = yield* RecordingBytes
  const workers = yield* makeSpeechWorkers<RecordingRequest, RecordingUnplayable>({
    name: "recordings",
    workers: 1,
    program: new URL("./recordingWorker.ts", import.meta.url),
    cacheBytes,
    idle,
    timeout: decodeTimeout
  })
  const mute = new Map<string, number>()
  const noteMute = (storageKey: string, until: SteadyTime.SteadyMillis) => {
    if (mute.size >= maxMute) mute.clear()
    mute.set(storageKey, until)
  }
  const bytesOf = (storageKey: string) =>
    read(storageKey).pipe(
      Effect.mapBoth({
        onFailure: ({ cause }) => new RecordingUnplayable({ reason: "Missing", cause }),
        onSuccess: (bytes): RecordingRequest => ({ bytes })
      })
    )
  const find = Effect.fnUntraced(function* (organizationId: OrganizationId, name: RecordingName, wanted?: SpeechWanted) {
    const found = yield* recordings.find(organizationId, name)
    if (found === undefined) return yield* new RecordingUnplayable({ reason: "Unknown" })
    const now = yield* SteadyTime.now
    if ((mute.get(found.storageKey) ?? 0) > now) return yield* new RecordingUnplayable({ reason: "NotMade" })
    const speech = yield* workers.speech(found.storageKey, bytesOf(found.storageKey), wanted).pipe(
      Effect.catchTag("SpeechNotMade", (cause) => {
        noteMute(found.storageKey, now + muteMillis[cause.reason])
        return Effect.fail(new RecordingUnplayable({ reason: "NotMade", cause }))
      })
    )
    return { speech, recordingId: found.recordingId, transcript: found.transcript }
  })
  return RecordedSpeech.of({ find })
})
