/**
 * The control plane of a call's voice: has the greeting spoken or played, notes what is said and pressed, and makes the report. It starts the
 * media plane and hears from it only what is rare.
 */
import { Cause, Clock, Deferred, Duration, Effect, Fiber, Option } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import type { AmdVerdict } from "./Amd.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf, makeDigits, type MessageFate } from "./CallFindings.ts"
import { makeOpenings, type OpeningPiece } from "./Openings.ts"
import type { Moment } from "./MessageMoment.ts"
import { frameSize, silence } from "./Mulaw.ts"
import type { RecordingUnplayable } from "./RecordedSpeech.ts"
import { repair, startRecording } from "./Recording.ts"
import { headerBytes } from "./RecordingHeader.ts"
import type { Wanted } from "./SpeechQueue.ts"
import { heardText, makeTranscript, type Piece } from "./Transcript.ts"
import type { TtsError } from "./Tts.ts"
import { openLine } from "./VoiceLine.ts"
import type { VoiceEvent, VoicePlan, VoiceReport, VoiceSession } from "./VoiceSession.ts"

/** How soon a phone that has begun to ring is expected to be answered. */
const USUAL_RING_MILLIS = 2000
/** By then whoever answered is to have heard something. */
const GREETING_DUE_MILLIS = 2000
// A disk that hangs must not keep a call's actor.
const storeTimeout = Duration.seconds(10)
/** Half a second after a message, so that nothing of it is still on its way when the call is hung up. */
const messageTail = new Uint8Array(25 * frameSize).fill(silence)

/** Who says a greeting or a message, and what of it has been handed to the line. */
interface Saying {
  readonly engine: string
  readonly voice: string
  readonly isSynthesized: boolean
  readonly pieces: Array<Piece>
}

/** What becomes known while the call lasts. */
interface Noted {
  answeredBy: AmdVerdict | undefined
  /** The greeting, then the message: the line speaks the last. */
  readonly sayings: Array<Saying>
  firstAudioMillis: number | undefined
  wasToSpeak: boolean
  /** Undefined: there is none to be left. */
  message: MessageFate | undefined
  closing: Fiber.Fiber<VoiceReport> | undefined
}

/** A machine that is to be told a message: whether it is beeping, and when it can be told. */
const makeMachine = () => ({ heard: Deferred.makeUnsafe<boolean>(), moment: Deferred.makeUnsafe<Moment>() })

const isToSpeak = ({ greeting = "", later, recording }: VoicePlan): boolean =>
  later !== undefined || recording !== undefined || greeting.trim() !== ""

/** Undefined, and logged, when it could not be stored in time. */
const stored = <E>(key: string, write: Effect.Effect<unknown, E>): Effect.Effect<string | undefined> =>
  write.pipe(
    Effect.timeout(storeTimeout),
    Effect.as(key),
    Effect.catchCause((cause) => Effect.as(Effect.logError("voice file not stored", cause), undefined)),
    Effect.annotateLogs({ key })
  )

interface Ports {
  readonly metrics: CallMetrics
  readonly room: (typeof StorageRoom)["Service"]
}

const open = Effect.fnUntraced(function* (
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  pacer: FramePacer,
  recordingPath: string,
  { metrics, room }: Ports
) {
  const run = Effect.runForkWith(yield* Effect.context())
  const epoch = yield* Clock.currentTimeMillis
  const openedAt = pacer.now()
  const steadyAt = yield* SteadyTime.now
  const isFull = plan.record && room.isFull(plan.organizationId)
  const recording = plan.record && !isFull ? startRecording(recordingPath) : undefined
  const machine = plan.onMachine === "leave_message" ? makeMachine() : undefined
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
        if (verdict === "machine") return hearMachine(isBeeping)
        noted.answeredBy ??= verdict
        if (verdict === "human") emit({ _tag: "HumanDetected" })
      },
      moment: (moment) => {
        if (machine !== undefined) Deferred.doneUnsafe(machine.moment, Effect.succeed(moment))
      },
      spoken: () => {
        if (noted.message === undefined) return emit({ _tag: "GreetingSpoken" })
        noted.message = "left"
        emit({ _tag: "MessageOver" })
      },
      skipped: (frames) => {
        metrics.framesSkipped += frames
      },
      closed: (why) => emit({ _tag: "MediaClosed", why }),
      failed: (cause) => {
        run(Effect.logError("voice line failed", cause))
        emit({ _tag: "MediaClosed", why: "voice line failed" })
      }
    },
    { recording, detectMachine: plan.detectMachine }
  )
  const epochOf = (time: number) => epoch + Math.max(0, time - openedAt)
  const transcript = makeTranscript()
  if (isFull)
    transcript.problem({ at: epoch, error: "The call is not recorded: the organization's storage is full", processor: "recording" })
  return { plan, openedAt, steadyAt, epochOf, recording, line, noted, transcript, digits: makeDigits(), machine, hearMachine }
})
type Voice = Effect.Success<ReturnType<typeof open>>

/** By engine and voice the characters that were made. */
const spokenOf = ({ sayings }: Noted): Readonly<Record<string, number>> => {
  const characters: Record<string, number> = {}
  for (const { engine, isSynthesized, pieces, voice } of sayings) {
    if (!isSynthesized || pieces.length === 0) continue
    const key = `${engine}#0|||${voice}`
    characters[key] = (characters[key] ?? 0) + pieces.map(({ text }) => text).join(" ").length
  }
  return characters
}

/** Only the silence after the message may be missing. */
const fateOf = ({ line, noted: { message, sayings } }: Voice): MessageFate | undefined => {
  const bytes = sayings.at(-1)?.pieces.reduce((sum, piece) => sum + piece.bytes, 0) ?? 0
  return message === "cut" && (line.spoken()?.bytes ?? 0) >= bytes ? "left" : message
}

/** Only what was played counts as said. */
const noteSaid = ({ epochOf, line, noted, openedAt, transcript }: Voice): void => {
  const spoken = line.spoken()
  const saying = noted.sayings.at(-1)
  if (spoken === undefined || saying === undefined) return
  const text = heardText(saying.pieces, spoken.bytes)
  if (noted.firstAudioMillis === undefined) {
    noted.firstAudioMillis = Math.max(0, spoken.from - openedAt)
    const { engine, voice } = saying
    transcript.firstAudio({ at: epochOf(spoken.from), millis: noted.firstAudioMillis, engine, voice })
  }
  if (text !== "") transcript.said({ speaker: "assistant", text, at: epochOf(spoken.from), until: epochOf(spoken.until) })
}

export const makeLiveVoice = Effect.fnUntraced(function* (pacer: FramePacer) {
  const files = yield* Files
  const names = yield* CallFiles
  const openings = yield* makeOpenings
  const metrics = yield* CurrentCallMetrics
  const room = yield* StorageRoom

  /** Its size is told, if it is there. */
  const counted = (organizationId: OrganizationId) => (key: string | undefined) =>
    key === undefined
      ? Effect.undefined
      : files.stat(key).pipe(
          Effect.map(({ bytes }) => room.kept({ organizationId, key, bytes })),
          Effect.ignore,
          Effect.as(key)
        )

  /** Undefined when it went wrong, which is told in the run and in the log with its reason, and without the text; the call goes on. */
  const unless =
    (voice: Voice, told: { readonly error: string; readonly processor: string; readonly logged: string }) =>
    <A>(opened: Effect.Effect<A, TtsError | RecordingUnplayable>): Effect.Effect<A | undefined> =>
      Effect.catchCause(
        opened,
        Effect.fnUntraced(function* (cause) {
          const why = Option.match(Cause.findErrorOption(cause), { onNone: () => "", onSome: ({ message }) => `: ${message}` })
          voice.transcript.problem({ at: yield* Clock.currentTimeMillis, error: told.error + why, processor: told.processor })
          yield* Effect.logWarning(told.logged, cause)
          return undefined
        })
      )

  const say = ({ line, noted }: Voice, { speech, text }: OpeningPiece) => {
    noted.sayings.at(-1)?.pieces.push({ bytes: speech.length, text })
    line.say(speech)
  }

  const greet = Effect.fnUntraced(function* (voice: Voice) {
    const { engine } = openings
    const unplayed = { error: "The recorded greeting could not be played", processor: "recording", logged: "recorded greeting not played" }
    const unspoken = { error: "The greeting could not be spoken", processor: engine, logged: "greeting not spoken" }
    const { later } = voice.plan
    const plan: VoicePlan = later === undefined ? voice.plan : { ...voice.plan, ...(yield* later), later: undefined }
    voice.noted.wasToSpeak = isToSpeak(plan)
    const wanted: Wanted = { isAnswered: true, neededAt: yield* SteadyTime.now, campaignId: plan.campaignId }
    const recording = yield* openings.recorded(plan, wanted).pipe(unless(voice, unplayed))
    if (recording === undefined) {
      voice.noted.sayings.push({ engine, voice: openings.voice, isSynthesized: true, pieces: [] })
      yield* openings.spoken(plan, wanted, (piece) => say(voice, piece)).pipe(unless(voice, unspoken))
    } else {
      voice.noted.sayings.push({ engine: "recording", voice: recording.recordingId, isSynthesized: false, pieces: [] })
      say(voice, recording)
    }
    voice.line.saidAll()
  })

  /** In one piece, as it must not stop in the middle. Undefined when it cannot be said. */
  const messageOf = Effect.fnUntraced(function* (voice: Voice) {
    const { later } = voice.plan
    const { message = "" } = later === undefined ? voice.plan : yield* later
    const unspoken = { error: "The message could not be spoken", processor: openings.engine, logged: "message not spoken" }
    const pieces: Array<OpeningPiece> = []
    const plan: VoicePlan = { ...voice.plan, greeting: message }
    const wanted: Wanted = { isAnswered: true, neededAt: yield* SteadyTime.now, campaignId: plan.campaignId }
    const made = openings.spoken(plan, wanted, (piece) => pieces.push(piece)).pipe(Effect.as(pieces), unless(voice, unspoken))
    return yield* made
  })

  /** The greeting stops, for nobody hears it; the message waits for the beep. */
  const leaveMessage = Effect.fnUntraced(function* (
    voice: Voice,
    machine: ReturnType<typeof makeMachine>,
    greeting: Fiber.Fiber<unknown>,
    emit: (event: VoiceEvent) => void
  ) {
    const { line, noted, openedAt } = voice
    line.awaitMoment(yield* Deferred.await(machine.heard))
    yield* Fiber.interrupt(greeting)
    noteSaid(voice)
    // A machine that gives itself away at once is not a person who was left in silence.
    if (noted.firstAudioMillis === undefined && pacer.now() - openedAt < GREETING_DUE_MILLIS) noted.wasToSpeak = false
    line.hush()
    noted.message = "not_left"
    const pieces = (yield* messageOf(voice)) ?? []
    const moment = pieces.length === 0 ? "give_up" : yield* Deferred.await(machine.moment)
    if (moment === "give_up") return emit({ _tag: "MessageOver" })
    noted.message = "cut"
    noted.sayings.push({ engine: openings.engine, voice: openings.voice, isSynthesized: true, pieces: [] })
    for (const piece of pieces) say(voice, piece)
    line.say(messageTail)
    line.saidAll()
  })

  const close = Effect.fnUntraced(function* (voice: Voice): Effect.fn.Return<VoiceReport> {
    const { digits, line, noted, openedAt, plan, recording, steadyAt, transcript } = voice
    line.hangUp()
    metrics.framesSent += line.sent()
    const seconds = (pacer.now() - openedAt) / 1000
    noteSaid(voice)
    const { firstAudioMillis } = noted
    const text = transcript.text()
    const answeredBy = plan.detectMachine ? (noted.answeredBy ?? "unknown") : undefined
    const [recorded, written] = yield* Effect.all(
      [
        recording === undefined
          ? Effect.succeed(undefined)
          : Effect.flatMap(stored(names.recording(plan.runId), recording.close), counted(plan.organizationId)),
        text === ""
          ? Effect.succeed(undefined)
          : Effect.flatMap(
              stored(names.transcript(plan.runId), files.write(names.transcript(plan.runId), new TextEncoder().encode(text))),
              counted(plan.organizationId)
            )
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
        tts: spokenOf(noted),
        stt: {},
        call_duration_seconds: seconds
      },
      gathered: gatheredOf(digits.pressed(), answeredBy, fateOf(voice)),
      firstAudioMillis,
      firstAudioAt: firstAudioMillis === undefined ? undefined : steadyAt + firstAudioMillis,
      wasToSpeak: noted.wasToSpeak
    }
  })

  const attach = Effect.fnUntraced(
    function* (plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void) {
      const run = Effect.runForkWith(yield* Effect.context())
      // In a fiber of its own: a caller who is interrupted while he waits does not leave half a recording.
      const finish = (voice: Voice) => Effect.suspend(() => Fiber.join((voice.noted.closing ??= run(close(voice)))))
      const path = yield* Effect.orDie(files.path(names.recording(plan.runId)))
      const voice = yield* Effect.acquireRelease(open(plan, media, emit, pacer, path, { metrics, room }), finish)
      const greeting = yield* Effect.forkScoped(greet(voice), { startImmediately: true })
      const { machine } = voice
      if (machine !== undefined) yield* Effect.forkScoped(leaveMessage(voice, machine, greeting, emit), { startImmediately: true })
      const dtmf: VoiceSession["dtmf"] = (digit, at) => {
        if (voice.noted.closing !== undefined || !voice.digits.press(digit)) return
        voice.transcript.said({ speaker: "user", text: `pressed ${digit}`, at, until: at })
      }
      const machineDetected = () => {
        if (voice.noted.closing === undefined && voice.noted.answeredBy !== "machine") voice.hearMachine(false)
      }
      return { dtmf, machineDetected, finish: finish(voice) }
    },
    (attached, plan) => Effect.annotateLogs(attached, { runId: plan.runId })
  )

  const prepare = Effect.fnUntraced(function* (plan: VoicePlan) {
    const wanted: Wanted = { isAnswered: false, neededAt: (yield* SteadyTime.now) + USUAL_RING_MILLIS, campaignId: plan.campaignId }
    const recording = yield* Effect.catchCause(openings.recorded(plan, wanted), () => Effect.undefined)
    if (recording === undefined) yield* Effect.ignore(openings.spoken(plan, wanted, () => {}))
  })

  const salvage = Effect.fnUntraced(
    function* ({ organizationId, record, runId }: VoicePlan) {
      if (!record) return undefined
      const begun = names.recording(runId)
      const key = (yield* Effect.isSuccess(files.stat(begun))) ? begun : names.formerRecording(runId)
      yield* files.stat(key)
      yield* repair(yield* files.path(key))
      const { bytes } = yield* files.stat(key)
      return bytes > headerBytes ? yield* counted(organizationId)(key) : undefined
    },
    Effect.catchTag("FileNotFound", () => Effect.undefined),
    Effect.catch((error) => Effect.as(Effect.logError("a recording could not be salvaged", error), undefined))
  )

  return { isCrowdedBy: openings.isCrowdedBy, warm: openings.warm, prepare, attach, salvage }
})
