/**
 * The control plane of a call's voice: has the greeting spoken or played, notes what is said and which keys are pressed, and produces the
 * report. It starts the media plane, which calls back only on rare events.
 */
import { Deferred, Effect, Fiber } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf } from "./CallFindings.ts"
import { makeOpenings, type Openings, type Say } from "./Openings.ts"
import type { RecordingUnplayable } from "./RecordedSpeech.ts"
import type { TtsError } from "./Tts.ts"
import type { Piece } from "./Transcript.ts"
import { makeTalk, type Talk } from "./Talk.ts"
import { charactersOf, fateOf, isToSpeak, type Machine, noteSaid, noteTrouble, openVoice, type Trouble, type Voice } from "./Voice.ts"
import { makeVoiceFiles, type VoiceFiles } from "./VoiceFiles.ts"
import { type CallVerbs, noVerbs, type VoiceEvent, type VoicePlan, type VoiceReport, type VoiceSession } from "./VoiceSession.ts"

/** How soon a phone that has started to ring is expected to be answered. */
const USUAL_RING_MILLIS = 2000
/** How soon after the answer the callee should have heard something. */
const GREETING_DUE_MILLIS = 2000

/** Resources shared by the voices of all calls. */
interface VoiceResources {
  readonly pacer: FramePacer
  readonly openings: Openings
  readonly files: VoiceFiles
  readonly metrics: CallMetrics
}

/** Undefined on failure: the run and the log state the reason, and the call goes on. */
const unless =
  (voice: Voice, trouble: Trouble) =>
  <A>(opened: Effect.Effect<A, TtsError | RecordingUnplayable>): Effect.Effect<A | undefined> =>
    Effect.catchCause(opened, (cause) => Effect.as(noteTrouble(voice, trouble, cause), undefined))

const say = ({ line, noted }: Voice, epoch: number, speech: Uint8Array, piece: Piece) => {
  const pieces = noted.sayings.at(-1)?.pieces
  if (line.playout.append(epoch, speech) && pieces?.at(-1) !== piece) pieces?.push(piece)
}

const greet = Effect.fnUntraced(function* ({ openings }: VoiceResources, voice: Voice, emit: (event: VoiceEvent) => void) {
  const { playout } = voice.line
  const epoch = playout.epoch()
  const unplayed = { error: "The recorded greeting could not be played", processor: "recording", logged: "recorded greeting not played" }
  const unspoken = { error: "The greeting could not be spoken", processor: openings.engineOf(voice.plan), logged: "greeting not spoken" }
  const { later } = voice.plan
  const plan: VoicePlan = later === undefined ? voice.plan : { ...voice.plan, ...(yield* later), later: undefined }
  voice.noted.wasToSpeak = isToSpeak(plan)
  const wanted: SpeechWanted = { isAnswered: true, neededAt: yield* SteadyTime.now, campaignId: plan.campaignId }
  const recording = yield* openings.recorded(plan, wanted).pipe(unless(voice, unplayed))
  if (recording === undefined) {
    voice.noted.sayings.push({ engine: openings.engineOf(plan), voice: openings.voiceOf(plan), isSynthesized: true, pieces: [] })
    yield* openings.spoken(plan, wanted, (speech, piece) => say(voice, epoch, speech, piece)).pipe(unless(voice, unspoken))
  } else {
    voice.noted.sayings.push({ engine: "recording", voice: recording.recordingId, isSynthesized: false, pieces: [] })
    say(voice, epoch, recording.speech, { text: recording.text, bytes: recording.speech.length })
  }
  playout.finish(epoch, () => {
    if (playout.played() !== undefined) emit({ _tag: "GreetingSpoken" })
  })
})

/** Synthesizes the whole message before any of it is said, because it must not stop in the middle. Undefined if it cannot be spoken. */
const messageOf = Effect.fnUntraced(function* ({ openings }: VoiceResources, voice: Voice) {
  const { later } = voice.plan
  const { message = "" } = later === undefined ? voice.plan : yield* later
  const unspoken = { error: "The message could not be spoken", processor: openings.engineOf(voice.plan), logged: "message not spoken" }
  const parts: Array<Parameters<Say>> = []
  const plan: VoicePlan = { ...voice.plan, greeting: message }
  const wanted: SpeechWanted = { isAnswered: true, neededAt: yield* SteadyTime.now, campaignId: plan.campaignId }
  const made = openings.spoken(plan, wanted, (...part) => void parts.push(part)).pipe(Effect.as(parts), unless(voice, unspoken))
  return yield* made
})

/** Stops the greeting, because nobody hears it; the message waits for the beep. */
const leaveMessage = Effect.fnUntraced(function* (
  resources: VoiceResources,
  voice: Voice,
  machine: Machine,
  greeting: Fiber.Fiber<unknown>,
  emit: (event: VoiceEvent) => void
) {
  const { line, noted, openedAt } = voice
  const { playout } = line
  line.awaitMoment(yield* Deferred.await(machine.heard))
  noteSaid(voice, playout.stop())
  yield* Fiber.interrupt(greeting)
  // If a machine is detected before the greeting was due, no person was left in silence.
  if (noted.firstAudioMillis === undefined && resources.pacer.now() - openedAt < GREETING_DUE_MILLIS) noted.wasToSpeak = false
  noted.message = "not_left"
  const parts = (yield* messageOf(resources, voice)) ?? []
  const moment = parts.length === 0 ? "give_up" : yield* Deferred.await(machine.moment)
  if (moment === "give_up") return emit({ _tag: "MessageOver" })
  noted.message = "cut"
  noted.sayings.push({
    engine: resources.openings.engineOf(voice.plan),
    voice: resources.openings.voiceOf(voice.plan),
    isSynthesized: true,
    pieces: []
  })
  const epoch = playout.epoch()
  for (const [speech, piece] of parts) say(voice, epoch, speech, piece)
  playout.finish(epoch, () => {
    noted.message = "left"
    emit({ _tag: "MessageOver" })
  })
})

const close = Effect.fnUntraced(function* (
  { files, metrics, pacer }: VoiceResources,
  voice: Voice,
  talk: Talk | undefined
): Effect.fn.Return<VoiceReport> {
  const { digits, line, noted, openedAt, plan, recording, steadyAt, transcript } = voice
  line.hangUp()
  metrics.framesSent += line.sent()
  const seconds = (pacer.now() - openedAt) / 1000
  if (talk === undefined) noteSaid(voice, line.playout.played())
  const talked = yield* talk?.finish ?? Effect.undefined
  const { firstAudioMillis } = noted
  const text = transcript.text()
  const answeredBy = plan.detectMachine ? (noted.answeredBy ?? "unknown") : undefined
  const [recordingKey, transcriptKey] = yield* Effect.all(
    [
      recording === undefined ? Effect.succeed(undefined) : files.keepRecording(plan, recording.close),
      text === "" ? Effect.succeed(undefined) : files.keepTranscript(plan, text)
    ],
    { concurrency: 2 }
  )
  return {
    transcriptText: text,
    events: transcript.events(),
    recordingKey,
    transcriptKey,
    usage: { tts: charactersOf(noted), call_duration_seconds: seconds },
    gathered: gatheredOf(digits.pressed(), answeredBy, talked === undefined ? fateOf(voice) : talked.messageFate),
    isVoicemail: talked?.isVoicemail === true,
    firstAudioMillis,
    firstAudioAt: firstAudioMillis === undefined ? undefined : steadyAt + firstAudioMillis,
    wasToSpeak: noted.wasToSpeak
  }
})

const openWith = Effect.fnUntraced(function* (
  { files, metrics, openings, pacer }: VoiceResources,
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  verbs: CallVerbs
) {
  const path = yield* files.recordingPath(plan)
  const { conversation } = plan
  const ports = { now: () => pacer.now(), openings, verbs, emit }
  const talk = conversation === undefined ? undefined : yield* makeTalk(conversation, plan, ports)
  const voice = yield* openVoice(plan, media, emit, pacer, path, { metrics, room: files.room, listening: talk })
  return { talk, voice }
})

/** Says the greeting, and leaves a message if a machine answers. */
const openUp = Effect.fnUntraced(function* (resources: VoiceResources, voice: Voice, emit: (event: VoiceEvent) => void) {
  const greeting = yield* Effect.forkScoped(greet(resources, voice, emit), { startImmediately: true })
  const { machine } = voice
  if (machine !== undefined) yield* Effect.forkScoped(leaveMessage(resources, voice, machine, greeting, emit), { startImmediately: true })
})

const attach = Effect.fnUntraced(
  function* (resources: VoiceResources, plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void, verbs: CallVerbs) {
    const run = Effect.runForkWith(yield* Effect.context())
    // In its own fiber, so that a caller interrupted while waiting does not leave half a recording.
    const finish = ({ talk, voice }: { readonly talk: Talk | undefined; readonly voice: Voice }) =>
      Effect.suspend(() => Fiber.join((voice.noted.closing ??= run(close(resources, voice, talk)))))
    const open = yield* Effect.acquireRelease(openWith(resources, plan, media, emit, verbs), (opened) =>
      Effect.suspend(() => {
        opened.talk?.hurry()
        return finish(opened)
      })
    )
    const { talk, voice } = open
    yield* talk === undefined ? openUp(resources, voice, emit) : talk.begin(voice)
    const { machine, noted } = voice
    const isOver = () => noted.closing !== undefined
    const dtmf: VoiceSession["dtmf"] = (digit, at) => {
      if (isOver()) return
      if (talk !== undefined) return talk.keyReported(digit, at)
      if (voice.digits.press(digit)) voice.transcript.said({ speaker: "user", text: `pressed ${digit}`, at, until: at })
    }
    const machineDetected = () => {
      if (talk !== undefined) return talk.machineDetected()
      if (!isOver() && noted.answeredBy !== "machine") voice.hearMachine(false)
    }
    const greetingEnded = () => {
      talk?.moment("speak")
      if (machine !== undefined) Deferred.doneUnsafe(machine.moment, Effect.succeed("speak"))
    }
    const resume: VoiceSession["resume"] = (media) => voice.line.resume(media)
    const hungUp = (cause: HangupCause) => talk?.hungUp(cause)
    return { dtmf, greetingEnded, machineDetected, hungUp, resume, finish: finish(open) }
  },
  (attached, _resources, plan) => Effect.annotateLogs(attached, { runId: plan.runId })
)

const prepare = Effect.fnUntraced(function* ({ openings }: VoiceResources, plan: VoicePlan) {
  const wanted: SpeechWanted = { isAnswered: false, neededAt: (yield* SteadyTime.now) + USUAL_RING_MILLIS, campaignId: plan.campaignId }
  const recording = yield* Effect.catchCause(openings.recorded(plan, wanted), () => Effect.undefined)
  // Speech that is not cached would have to be made a second time.
  const isKept = plan.voice?.speech.isCacheable !== false
  if (recording === undefined && isKept) yield* Effect.ignore(openings.spoken(plan, wanted, () => {}))
})

export const makeLiveVoice = Effect.fnUntraced(function* (pacer: FramePacer) {
  const files = yield* makeVoiceFiles
  const openings = yield* makeOpenings
  const metrics = yield* CurrentCallMetrics
  const resources: VoiceResources = { pacer, openings, files, metrics }
  return {
    isCrowdedBy: openings.isCrowdedBy,
    warm: openings.warm,
    prepare: (plan: VoicePlan) => prepare(resources, plan),
    attach: (plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void, verbs = noVerbs) =>
      attach(resources, plan, media, emit, verbs),
    salvage: files.salvage
  }
})
