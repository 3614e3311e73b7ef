/** The voice of one call over a loopback, in a process with a manual clock. */
import { Effect, Layer, References, type Scope } from "effect"
import type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import { CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import type { Files } from "#runtime/storage/Files.ts"
import { makeFramePacer } from "#runtime/voice/FramePacer.ts"
import { encodeSample } from "#core/audio/Mulaw.ts"
import { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import { RecordedSpeech, RecordingUnplayable } from "#runtime/voice/RecordedSpeech.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import type { PlannedTalk, VoiceEvent, VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { planOf } from "./talk.ts"
import { definition } from "./talkScript.ts"

/** How many frames later a carrier plays what it is sent, and reports marks. `untold`: it plays at once, and does not report marks. */
type Lag = number | "untold"
const makeCarrier = (lag: Lag, told: (mark: string, how: "played" | "cleared") => void) => {
  const buffer: Array<Uint8Array | string> = []
  const heard: Array<Uint8Array> = []
  const play = () => {
    const frames = buffer.filter((one) => typeof one !== "string").length
    const next = frames > (lag === "untold" ? 0 : lag) ? buffer.shift() : undefined
    if (typeof next === "object") heard.push(next)
  }
  /** Reports the marks after a frame that has been played to its end. */
  const tell = () => {
    while (typeof buffer[0] === "string") told(String(buffer.shift()), "played")
  }
  const mark = (name: string) => {
    if (lag !== "untold") buffer.push(name)
    return lag !== "untold"
  }
  const clear = () => {
    for (const one of buffer.splice(0)) if (typeof one === "string") told(one, "cleared")
  }
  return { buffer, clear, heard, mark, play, tell }
}

/** The callee's end of the line. */
export const loopback = (lag: Lag = 0) => {
  let now = 0
  let wake: (() => void) | undefined
  const pacer = makeFramePacer({
    now: () => now,
    wake: (_delay, run) => {
      wake = run
      return () => {
        wake = undefined
      }
    }
  })
  const sent: Array<Uint8Array> = []
  const listeners: Array<MediaListener> = []
  const callee = new Uint8Array(160)
  const skipped: Array<number> = []
  let hasRoom = true
  const carrier = makeCarrier(lag, (mark, how) => {
    for (const listener of listeners) listener.marked?.(mark, how)
  })
  const media: MediaStream = {
    send: (frame) => {
      if (!hasRoom) return false
      // A copy, because the memory of a frame is reused.
      sent.push(frame.slice())
      carrier.buffer.push(frame.slice())
      return true
    },
    skip: (frames) => skipped.push(frames),
    clear: carrier.clear,
    mark: carrier.mark,
    listen: (listener) => listeners.push(listener)
  }
  /** Advances by 20 ms, in which this is heard from the callee. */
  const step = (codes: Uint8Array) => {
    for (const listener of listeners) listener.frame(codes)
    const due = wake
    wake = undefined
    due?.()
    carrier.play()
    now += 20
    carrier.tell()
  }
  /** Advances by frames of 20 ms, in which the callee is heard at this loudness. */
  const talk = (frames: number, loudness = 0) => {
    for (let frame = 0; frame < frames; frame++) {
      for (const at of callee.keys()) callee[at] = encodeSample(loudness * Math.sin(at * at))
      step(callee)
    }
  }
  const end = (why: string, how: MediaEnd = "unknown") => {
    for (const listener of listeners.splice(0)) listener.closed(how, why)
  }
  /** Stalls the process. */
  const stall = (millis: number) => {
    now += millis
  }
  /** Stalls the process while this is heard from the callee; all of it arrives together afterwards. */
  const stallOver = (frames: ReadonlyArray<Uint8Array>) => {
    stall(frames.length * 20)
    for (const codes of frames) for (const listener of listeners) listener.frame(codes)
  }
  /** Sets whether the far end accepts more audio. */
  const room = (has: boolean) => {
    hasRoom = has
  }
  return { pacer, media, sent, heard: carrier.heard, skipped, step, talk, stall, stallOver, end, room }
}
export type Loopback = ReturnType<typeof loopback>

/** What an agent that cannot hear says. */
export interface Opening {
  readonly greeting?: string
  /** The contact's own; the greeting is spoken if it cannot be played. */
  readonly recordingId?: string
  readonly message?: string
  /** What is fetched, and becomes known during the call. */
  readonly later?: Effect.Effect<JsonObject>
}

const saying = ({ greeting = "", later, message, recordingId }: Opening, onMachine: MachineAction): PlannedTalk => {
  const detection = { voicemail_detection: { enabled: true, action: onMachine, message } }
  return {
    plan: { ...planOf(definition({ greeting }), detection), canHear: false },
    model: Effect.die("an agent that cannot hear asks no model"),
    hearing: undefined,
    substitutes: [],
    endOfTurn: Effect.succeed(endOfTurnRules),
    bargeIn: { policy: "provisional", minWords: 3 },
    known: recordingId === undefined ? {} : { greeting_override: { type: "audio", recording_id: recordingId } },
    later,
    hintsAt: () => ({ language: "en-US", keyterms: [], phrases: [] })
  }
}

/** A call whose agent cannot hear, unless `changes` bring a conversation. */
export const planOfCall = (
  changes: Partial<VoicePlan> = {},
  opening: Opening = { greeting: "Hello and good morning to you" }
): VoicePlan => ({
  runId: 7,
  organizationId: OrganizationId.make(1),
  conversation: saying(opening, changes.onMachine ?? "hangup"),
  isContinued: false,
  isGreeting: true,
  record: true,
  detectMachine: true,
  onMachine: "hangup",
  keepsTranscript: true,
  ...changes
})

/** Predictable names for the tests. */
const plainNames = Layer.succeed(CallFiles, {
  recording: (runId) => `recordings/${runId}.wav`,
  transcript: (runId) => `transcripts/${runId}.txt`,
  formerRecording: (runId) => `recordings/${runId}.wav`
})

export const eventsOf = () => {
  const events: Array<VoiceEvent> = []
  return { events, emit: (event: VoiceEvent) => void events.push(event) }
}

/** An organization without any recordings. */
const noRecordings = Layer.succeed(RecordedSpeech, { find: () => Effect.fail(new RecordingUnplayable({ reason: "Unknown" })) })

const plenty = { isFull: () => false, kept: () => undefined }

export interface Voices {
  readonly tts?: Layer.Layer<Tts>
  readonly recorded?: Layer.Layer<RecordedSpeech>
  readonly figures?: CallMetrics
  readonly room?: (typeof StorageRoom)["Service"]
}

/** Everything that the voices of calls need besides a pacer. */
export const voicesWith = (files: Layer.Layer<Files>, { recorded = noRecordings, room = plenty, tts = Tts.layerSilent }: Voices = {}) =>
  Layer.mergeAll(tts, recorded, files, plainNames, Layer.succeed(StorageRoom, room))

export const callingWith =
  (files: Layer.Layer<Files>) =>
  <A, E>(line: Loopback, act: Effect.Effect<A, E, VoiceAgent | Files | Scope.Scope>, voices: Voices = {}) =>
    Effect.runPromise(
      Effect.scoped(act).pipe(
        Effect.provide(Layer.provideMerge(VoiceAgent.layerPacedBy(line.pacer), voicesWith(files, voices))),
        Effect.provideService(CurrentCallMetrics, voices.figures ?? new CallMetrics()),
        Effect.provideService(References.MinimumLogLevel, "None")
      )
    )

export const isNoise = (frame: Uint8Array | undefined) => frame?.every((code) => (code & 0x7f) > 0x60) ?? false
