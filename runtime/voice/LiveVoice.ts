/**
 * The control plane of a call's voice: opens its line, its recording and its conversation, and produces the report. The media plane that it
 * starts calls back only on rare events.
 */
import { Clock, Effect, Fiber } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf } from "./CallFindings.ts"
import { EarlyHearing } from "./EarlyHearing.ts"
import { makeOpenings, type Openings } from "./Openings.ts"
import { makeTalk, type Talk } from "./Talk.ts"
import { openVoice, type Voice } from "./Voice.ts"
import { makeVoiceFiles, type VoiceFiles } from "./VoiceFiles.ts"
import { type CallVerbs, noVerbs, type VoiceEvent, type VoicePlan, type VoiceReport, type VoiceSession } from "./VoiceSession.ts"

/** How soon a phone that has started to ring is expected to be answered. */
const USUAL_RING_MILLIS = 2000

/** Resources shared by the voices of all calls. */
interface VoiceResources {
  readonly pacer: FramePacer
  readonly openings: Openings
  readonly early: EarlyHearing
  readonly files: VoiceFiles
  readonly metrics: CallMetrics
}

interface Opened {
  readonly talk: Talk
  readonly voice: Voice
}

const close = Effect.fnUntraced(function* ({ files, metrics }: VoiceResources, { talk, voice }: Opened): Effect.fn.Return<VoiceReport> {
  const { digits, line, noted, plan, recording, steadyAt } = voice
  line.hangUp()
  metrics.framesSent += line.sent()
  const { isVoicemail, messageFate } = yield* talk.finish
  const { firstAudioMillis, wasToSpeak } = noted
  const answeredBy = plan.detectMachine ? (noted.answeredBy ?? "unknown") : undefined
  return {
    recordingKey: recording === undefined ? undefined : yield* files.keepRecording(plan, recording.close),
    gathered: gatheredOf(digits.pressed(), answeredBy, messageFate),
    isVoicemail,
    firstAudioAt: firstAudioMillis === undefined ? undefined : steadyAt + firstAudioMillis,
    wasToSpeak
  }
})

const openWith = Effect.fnUntraced(function* (
  { early, files, metrics, openings, pacer }: VoiceResources,
  plan: VoicePlan,
  media: MediaStream,
  emit: (event: VoiceEvent) => void,
  verbs: CallVerbs
) {
  const path = yield* files.recordingPath(plan)
  const conversation = { ...plan.conversation, hearing: early.recognizerOf(plan) }
  const talk = yield* makeTalk({ ...plan, conversation }, { now: () => pacer.now(), openings, verbs, emit })
  const { note } = verbs
  const voice = yield* openVoice(plan, media, emit, pacer, path, { metrics, room: files.room, talk, note })
  return { talk, voice }
})

/** Connects to the voice's service while the callee speaks. Not while the phone rings: each call has its own connection, and few are answered. */
const connected = ({ conversation: { hearing }, voice }: VoicePlan): Effect.Effect<void> =>
  hearing === undefined ? Effect.void : Effect.catchCause(voice?.speech.warm ?? Effect.void, () => Effect.void)

const attach = Effect.fnUntraced(
  function* (resources: VoiceResources, plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void, verbs: CallVerbs) {
    const run = Effect.runForkWith(yield* Effect.context())
    // In its own fiber, so that a caller interrupted while waiting does not leave half a recording.
    const finish = (opened: Opened) => Effect.suspend(() => Fiber.join((opened.voice.noted.closing ??= run(close(resources, opened)))))
    const open = yield* Effect.acquireRelease(openWith(resources, plan, media, emit, verbs), (opened) =>
      Effect.suspend(() => {
        opened.talk.hurry()
        return finish(opened)
      })
    )
    const { talk, voice } = open
    yield* talk.begin(voice)
    yield* Effect.forkScoped(connected(plan), { startImmediately: true })
    const dtmf: VoiceSession["dtmf"] = (digit, at) => {
      if (voice.noted.closing === undefined) talk.keyReported(digit, at)
    }
    const resume: VoiceSession["resume"] = (media) => voice.line.resume(media)
    const hungUp = (cause: HangupCause) => talk.hungUp(cause)
    const machineDetected = () => talk.verdict("machine", false)
    const greetingEnded = () => talk.moment("speak")
    return { dtmf, greetingEnded, machineDetected, hungUp, resume, finish: finish(open) }
  },
  (attached, _resources, plan) => Effect.annotateLogs(attached, { runId: plan.runId })
)

export const makeLiveVoice = Effect.fnUntraced(function* (pacer: FramePacer) {
  const files = yield* makeVoiceFiles
  const openings = yield* makeOpenings
  const metrics = yield* CurrentCallMetrics
  const early = new EarlyHearing(yield* Clock.Clock)
  const resources: VoiceResources = { pacer, openings, early, files, metrics }
  return {
    isCrowdedBy: openings.isCrowdedBy,
    warm: openings.warm,
    prepare: (plan: VoicePlan) => Effect.flatMap(SteadyTime.now, (now) => openings.prepare(plan, now + USUAL_RING_MILLIS)),
    listenEarly: (plan: VoicePlan) => early.hold(plan),
    attach: (plan: VoicePlan, media: MediaStream, emit: (event: VoiceEvent) => void, verbs = noVerbs) =>
      attach(resources, plan, media, emit, verbs),
    salvage: files.salvage
  }
})
