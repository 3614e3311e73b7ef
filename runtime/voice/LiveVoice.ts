/**
 * The control plane of a call's voice: has the greeting spoken, notes what is said and pressed, and makes the report. It starts the
 * media plane and hears from it only what is rare.
 */
import { Clock, Duration, Effect, Fiber } from "effect"
import type { MediaStream } from "#core/call/Media.ts"
import { Files, recordingKey, transcriptKey } from "../storage/Files.ts"
import type { AmdVerdict } from "./Amd.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf, makeDigits } from "./Gathered.ts"
import { headerBytes, repair, startRecording } from "./Recording.ts"
import { heardPart, makeTranscript } from "./Transcript.ts"
import { Tts } from "./Tts.ts"
import { openLine } from "./VoiceLine.ts"
import type { VoiceEvent, VoicePlan, VoiceReport, VoiceSession } from "./VoiceSession.ts"

// A disk that hangs must not keep a call's actor.
const storeTimeout = Duration.seconds(10)

/** What becomes known while the call lasts. */
interface Noted {
  answeredBy: AmdVerdict | undefined
  /** Of the greeting, once synthesized. */
  characters: number
  closing: Fiber.Fiber<VoiceReport> | undefined
}

const greetingOf = (plan: VoicePlan): string | undefined => plan.greeting?.trim() || undefined

/** Undefined, and logged, when it could not be stored in time. */
const stored = <E>(key: string, write: Effect.Effect<unknown, E>): Effect.Effect<string | undefined> =>
  write.pipe(
    Effect.timeout(storeTimeout),
    Effect.as(key),
    Effect.catchCause((cause) => Effect.as(Effect.logError("voice file not stored", cause), undefined)),
    Effect.annotateLogs({ key })
  )

const open = Effect.fnUntraced(function* (
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  pacer: FramePacer,
  recordingPath: string
) {
  const run = Effect.runForkWith(yield* Effect.context())
  const epoch = yield* Clock.currentTimeMillis
  const openedAt = pacer.now()
  const recording = plan.record ? startRecording(recordingPath) : undefined
  const noted: Noted = { answeredBy: undefined, characters: 0, closing: undefined }
  const line = openLine(
    media,
    pacer,
    {
      verdict: (verdict) => {
        noted.answeredBy = verdict
        if (verdict !== "unknown") emit({ _tag: verdict === "machine" ? "MachineDetected" : "HumanDetected" })
      },
      spoken: () => emit({ _tag: "GreetingSpoken" }),
      closed: (why) => emit({ _tag: "MediaClosed", why }),
      failed: (cause) => {
        run(Effect.logError("voice line failed", cause))
        emit({ _tag: "MediaClosed", why: "voice line failed" })
      }
    },
    { recording, detectMachine: plan.detectMachine }
  )
  const epochOf = (time: number) => epoch + Math.max(0, time - openedAt)
  return { plan, openedAt, epochOf, recording, line, noted, transcript: makeTranscript(), digits: makeDigits() }
})
type Voice = Effect.Success<ReturnType<typeof open>>

/** Only what was played counts as said. Gives the time to the first of it. */
const noteGreeting = ({ epochOf, line, openedAt, plan, transcript }: Voice, tts: Tts["Service"]): number | undefined => {
  const spoken = line.spoken()
  if (spoken === undefined) return undefined
  const millis = Math.max(0, spoken.from - openedAt)
  const text = heardPart(greetingOf(plan) ?? "", spoken.share)
  transcript.firstAudio({ at: epochOf(spoken.from), millis, engine: tts.engine, voice: tts.voice })
  if (text !== "") transcript.said({ speaker: "assistant", text, at: epochOf(spoken.from), until: epochOf(spoken.until) })
  return millis
}

export const makeLiveVoice = Effect.fnUntraced(function* (pacer: FramePacer) {
  const tts = yield* Tts
  const files = yield* Files

  const greet = Effect.fnUntraced(
    function* (voice: Voice, greeting: string) {
      const speech = yield* tts.speak(greeting)
      voice.noted.characters = greeting.length
      voice.line.say(speech)
    },
    (greeted, voice) =>
      Effect.catchCause(
        greeted,
        Effect.fnUntraced(function* (cause) {
          voice.transcript.problem({ at: yield* Clock.currentTimeMillis, error: "The greeting could not be spoken", processor: tts.engine })
          yield* Effect.logWarning("greeting not spoken", cause)
        })
      )
  )

  const close = Effect.fnUntraced(function* (voice: Voice): Effect.fn.Return<VoiceReport> {
    const { digits, line, noted, openedAt, plan, recording, transcript } = voice
    line.hangUp()
    const seconds = (pacer.now() - openedAt) / 1000
    const firstAudioMillis = noteGreeting(voice, tts)
    const text = transcript.text()
    const answeredBy = plan.detectMachine ? (noted.answeredBy ?? "unknown") : undefined
    const [recorded, written] = yield* Effect.all(
      [
        recording === undefined ? Effect.succeed(undefined) : stored(recordingKey(plan.runId), recording.close),
        text === ""
          ? Effect.succeed(undefined)
          : stored(transcriptKey(plan.runId), files.write(transcriptKey(plan.runId), new TextEncoder().encode(text)))
      ],
      { concurrency: 2 }
    )
    return {
      transcriptText: text,
      events: transcript.events(),
      digits: digits.pressed(),
      recordingKey: recorded,
      transcriptKey: written,
      usage: {
        llm: {},
        tts: noted.characters === 0 ? {} : { [`${tts.engine}#0|||${tts.voice}`]: noted.characters },
        stt: {},
        call_duration_seconds: seconds
      },
      gathered: gatheredOf(digits.pressed(), answeredBy),
      firstAudioMillis
    }
  })

  const attach = Effect.fnUntraced(
    function* (plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void) {
      const run = Effect.runForkWith(yield* Effect.context())
      // In a fiber of its own: a caller who is interrupted while he waits does not leave half a recording.
      const finish = (voice: Voice) => Effect.suspend(() => Fiber.join((voice.noted.closing ??= run(close(voice)))))
      const path = yield* Effect.orDie(files.path(recordingKey(plan.runId)))
      const voice = yield* Effect.acquireRelease(open(plan, media, emit, pacer, path), finish)
      const greeting = greetingOf(plan)
      if (greeting !== undefined) yield* Effect.forkScoped(greet(voice, greeting), { startImmediately: true })
      const dtmf: VoiceSession["dtmf"] = (digit, at) => {
        if (voice.noted.closing !== undefined || !voice.digits.press(digit)) return
        voice.transcript.said({ speaker: "user", text: `pressed ${digit}`, at, until: at })
      }
      return { dtmf, finish: finish(voice) }
    },
    (attached, plan) => Effect.annotateLogs(attached, { runId: plan.runId })
  )

  const prepare = (plan: VoicePlan): Effect.Effect<void> => {
    const greeting = greetingOf(plan)
    return greeting === undefined ? Effect.void : Effect.ignore(tts.speak(greeting))
  }

  const salvage = Effect.fnUntraced(
    function* ({ record, runId }: VoicePlan) {
      if (!record) return undefined
      const key = recordingKey(runId)
      yield* files.stat(key)
      yield* repair(yield* files.path(key))
      const { bytes } = yield* files.stat(key)
      return bytes > headerBytes ? key : undefined
    },
    Effect.catchTag("FileNotFound", () => Effect.undefined),
    Effect.catch((error) => Effect.as(Effect.logError("a recording could not be salvaged", error), undefined))
  )

  return { prepare, attach, salvage }
})
