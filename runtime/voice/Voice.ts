/** The voice of one open call: its line, its recording, and what is learned during the call. */
import { Cause, Clock, Deferred, Effect, type Fiber, Option } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import { serviceKey } from "#core/run/serviceUsage.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import type { AmdVerdict } from "./Amd.ts"
import type { FramePacer } from "./FramePacer.ts"
import { makeDigits, type MessageFate } from "./CallFindings.ts"
import type { Moment } from "./MessageMoment.ts"
import type { FrameListener } from "./FrameListener.ts"
import type { Played, Playout } from "./Playout.ts"
import { startRecording } from "./Recording.ts"
import { heardText, makeTranscript, type Piece } from "./Transcript.ts"
import { openLine } from "./VoiceLine.ts"
import type { VoiceEvent, VoicePlan, VoiceReport } from "./VoiceSession.ts"

/** A greeting or a message: the voice that speaks it, and the pieces that have been handed to the line. */
interface Saying {
  readonly engine: string
  readonly voice: string
  readonly isSynthesized: boolean
  readonly pieces: Array<Piece>
}

/** What is learned during the call. */
interface Noted {
  answeredBy: AmdVerdict | undefined
  /** The greeting, then the message. The line is speaking the last one. */
  readonly sayings: Array<Saying>
  firstAudioMillis: number | undefined
  wasToSpeak: boolean
  /** Undefined if no message is to be left. */
  message: MessageFate | undefined
  closing: Fiber.Fiber<VoiceReport> | undefined
}

/** A machine on which a message is left: whether it was beeping when it was detected, and when the message may start. */
const makeMachine = () => ({ heard: Deferred.makeUnsafe<boolean>(), moment: Deferred.makeUnsafe<Moment>() })

export type Machine = ReturnType<typeof makeMachine>

/** Whether the callee should hear something as soon as they have answered. */
export const isToSpeak = ({ conversation, greeting = "", later, recording }: VoicePlan): boolean => {
  const isDelayed = (conversation?.plan.graph.start.delayMillis ?? 0) > 0
  return !isDelayed && (later !== undefined || recording !== undefined || greeting.trim() !== "")
}

/** What a conversation does with what is heard; it takes the place of the greeting. */
interface Listening {
  readonly listeners: (playout: Playout) => ReadonlyArray<FrameListener>
  readonly verdict: (verdict: AmdVerdict, isBeeping: boolean) => void
  readonly moment: (moment: Moment) => void
}

interface Ports {
  readonly metrics: CallMetrics
  readonly room: (typeof StorageRoom)["Service"]
  readonly listening: Listening | undefined
}

export const openVoice = Effect.fnUntraced(function* (
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  pacer: FramePacer,
  recordingPath: string,
  { listening, metrics, room }: Ports
) {
  const run = Effect.runForkWith(yield* Effect.context())
  const epoch = yield* Clock.currentTimeMillis
  const openedAt = pacer.now()
  const steadyAt = yield* SteadyTime.now
  const isFull = plan.record && room.isFull(plan.organizationId)
  const recording = plan.record && !isFull ? startRecording(recordingPath) : undefined
  const machine = plan.onMachine === "leave_message" && listening === undefined ? makeMachine() : undefined
  const noted: Noted = {
    answeredBy: undefined,
    sayings: [],
    firstAudioMillis: undefined,
    wasToSpeak: isToSpeak(plan),
    message: undefined,
    closing: undefined
  }
  const hearMachine = (isBeeping: boolean) => {
    noted.answeredBy = "machine"
    if (plan.onMachine !== "continue") emit({ _tag: "MachineDetected" })
    if (machine !== undefined) Deferred.doneUnsafe(machine.heard, Effect.succeed(isBeeping))
  }
  const line = openLine(
    media,
    pacer,
    {
      verdict: (verdict, isBeeping) => {
        if (listening !== undefined) return listening.verdict(verdict, isBeeping)
        if (verdict === "machine") return hearMachine(isBeeping)
        noted.answeredBy ??= verdict
        if (verdict === "human") emit({ _tag: "HumanDetected" })
      },
      moment: (moment) => {
        if (listening !== undefined) return listening.moment(moment)
        if (machine !== undefined) Deferred.doneUnsafe(machine.moment, Effect.succeed(moment))
      },
      skipped: (frames) => {
        metrics.framesSkipped += frames
      },
      closed: (how, why) => emit({ _tag: "MediaClosed", how, why }),
      failed: (cause) => {
        run(Effect.logError("voice line failed", cause))
        emit({ _tag: "MediaClosed", how: "failed", why: "voice line failed" })
      }
    },
    { recording, detectMachine: plan.detectMachine, ...(listening === undefined ? {} : { listeners: listening.listeners }) }
  )
  const epochOf = (time: number) => epoch + Math.max(0, time - openedAt)
  const transcript = makeTranscript(plan.keepsTranscript)
  if (isFull)
    transcript.problem({ at: epoch, error: "The call is not recorded: the organization's storage is full", processor: "recording" })
  return { plan, openedAt, steadyAt, epochOf, recording, line, noted, transcript, digits: makeDigits(), machine, hearMachine }
})
export type Voice = Effect.Success<ReturnType<typeof openVoice>>

/** The synthesized characters by engine and voice, for `usage_info`. */
export const charactersOf = ({ sayings }: Noted): Readonly<Record<string, number>> => {
  const characters: Record<string, number> = {}
  for (const { engine, isSynthesized, pieces, voice } of sayings) {
    if (!isSynthesized || pieces.length === 0) continue
    const key = serviceKey(engine, voice)
    characters[key] = (characters[key] ?? 0) + pieces.map(({ text }) => text).join(" ").length
  }
  return characters
}

/** A message that was cut counts as left if all of it was heard, as far as is known. */
export const fateOf = ({ line, noted: { message, sayings } }: Voice): MessageFate | undefined => {
  const bytes = sayings.at(-1)?.pieces.reduce((sum, piece) => sum + piece.bytes, 0) ?? 0
  return message === "cut" && (line.playout.played()?.bytes ?? 0) >= bytes ? "left" : message
}

/** The last saying is what the callee hears first, if they have not heard anything yet. */
export const noteFirstAudio = ({ epochOf, noted, openedAt, transcript }: Voice, from: number): void => {
  const saying = noted.sayings.at(-1)
  if (noted.firstAudioMillis !== undefined || saying === undefined) return
  noted.firstAudioMillis = Math.max(0, from - openedAt)
  const { engine, voice } = saying
  transcript.firstAudio({ at: epochOf(from), millis: noted.firstAudioMillis, engine, voice })
}

/** Describes something that could not be said: what the run and the log state, besides the reason. */
export interface Trouble {
  readonly error: string
  readonly processor: string
  readonly logged: string
}

/** The run and the log state the reason, without the text. */
export const noteTrouble = Effect.fnUntraced(function* (
  { transcript }: Voice,
  { error, logged, processor }: Trouble,
  cause: Cause.Cause<{ readonly message: string }>
) {
  const why = Option.match(Cause.findErrorOption(cause), { onNone: () => "", onSome: ({ message }) => `: ${message}` })
  transcript.problem({ at: yield* Clock.currentTimeMillis, error: error + why, processor })
  yield* Effect.logWarning(logged, cause)
})

/** Adds to the transcript what the callee has heard of the last saying; the rest was not said. */
export const noteSaid = (voice: Voice, played: Played | undefined): void => {
  const { epochOf, noted, transcript } = voice
  const saying = noted.sayings.at(-1)
  if (played === undefined || saying === undefined) return
  const text = heardText(saying.pieces, played.bytes)
  noteFirstAudio(voice, played.from)
  if (text !== "") transcript.said({ speaker: "assistant", text, at: epochOf(played.from), until: epochOf(played.until) })
}
