/** The voice of one open call: its line, its recording, and what is learned during the call. */
import { Cause, Clock, Effect, type Fiber, Option } from "effect"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import type { AmdVerdict } from "./Amd.ts"
import type { FramePacer } from "./FramePacer.ts"
import { makeDigits } from "./CallFindings.ts"
import type { FrameListener } from "./FrameListener.ts"
import type { Moment } from "./MessageMoment.ts"
import type { Saying } from "./Openings.ts"
import type { Playout } from "./Playout.ts"
import { startRecording } from "./Recording.ts"
import { openLine } from "./VoiceLine.ts"
import type { VoiceEvent, VoicePlan, VoiceReport } from "./VoiceSession.ts"

/** What is learned during the call. */
interface Noted {
  answeredBy: AmdVerdict | undefined
  /** The last one that the line was given. */
  saying: Saying | undefined
  firstAudioMillis: number | undefined
  /** Whether the callee was to hear something as soon as they had answered. */
  wasToSpeak: boolean
  closing: Fiber.Fiber<VoiceReport> | undefined
}

/** What listens to the line, and speaks on it. */
interface Talking {
  readonly listeners: (playout: Playout) => ReadonlyArray<FrameListener>
  readonly verdict: (verdict: AmdVerdict, isBeeping: boolean) => void
  readonly moment: (moment: Moment) => void
}

interface Ports {
  readonly metrics: CallMetrics
  readonly room: (typeof StorageRoom)["Service"]
  readonly talk: Talking
  /** Keeps the fact for the run. */
  readonly note: (fact: CallFact) => void
}

export const openVoice = Effect.fnUntraced(function* (
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  pacer: FramePacer,
  recordingPath: string,
  { metrics, note, room, talk }: Ports
) {
  const run = Effect.runForkWith(yield* Effect.context())
  const epoch = yield* Clock.currentTimeMillis
  const openedAt = pacer.now()
  const steadyAt = yield* SteadyTime.now
  const isFull = plan.record && room.isFull(plan.organizationId)
  const recording = plan.record && !isFull ? startRecording(recordingPath) : undefined
  const noted: Noted = {
    answeredBy: undefined,
    saying: undefined,
    firstAudioMillis: undefined,
    wasToSpeak: false,
    closing: undefined
  }
  const line = openLine(
    media,
    pacer,
    {
      verdict: talk.verdict,
      moment: talk.moment,
      skipped: (frames) => {
        metrics.framesSkipped += frames
      },
      closed: (how, why) => emit({ _tag: "MediaClosed", how, why }),
      failed: (cause) => {
        run(Effect.logError("voice line failed", cause))
        emit({ _tag: "MediaClosed", how: "failed", why: "voice line failed" })
      }
    },
    { recording, detectMachine: plan.detectMachine, listeners: talk.listeners }
  )
  const epochOf = (time: number) => epoch + Math.max(0, time - openedAt)
  const problem = { error: "The call is not recorded: the organization's storage is full", processor: "recording" }
  if (isFull) note({ _tag: "Troubled", at: epoch, ...problem })
  return { plan, openedAt, steadyAt, epochOf, recording, line, note, noted, digits: makeDigits() }
})
export type Voice = Effect.Success<ReturnType<typeof openVoice>>

/** What the callee hears first, if they have not heard anything yet, is the last saying. */
export const noteFirstAudio = ({ epochOf, note, noted, openedAt }: Voice, from: number): void => {
  const { saying } = noted
  if (noted.firstAudioMillis !== undefined || saying === undefined) return
  noted.firstAudioMillis = Math.max(0, from - openedAt)
  note({ _tag: "Greeted", at: epochOf(from), millis: noted.firstAudioMillis, processor: saying.provider, model: saying.model })
}

/** Describes something that could not be said: what the run and the log state, besides the reason. */
export interface Trouble {
  readonly error: string
  readonly processor: string
  readonly logged: string
}

/** The run and the log state the reason, without the text. */
export const noteTrouble = Effect.fnUntraced(function* (
  { note }: Voice,
  { error, logged, processor }: Trouble,
  cause: Cause.Cause<{ readonly message: string }>
) {
  const why = Option.match(Cause.findErrorOption(cause), { onNone: () => "", onSome: ({ message }) => `: ${message}` })
  note({ _tag: "Troubled", at: yield* Clock.currentTimeMillis, error: error + why, processor })
  yield* Effect.logWarning(logged, cause)
})
