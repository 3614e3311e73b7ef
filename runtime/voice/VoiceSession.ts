/**
 * The agent's side of one call, between the actor that owns the call and the audio that flows under it. A session hears and
 * speaks; it never hangs up and keeps no timer for the call's length: both are its actor's.
 */
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import type { MediaStream } from "#core/provider/Media.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { CallFiles } from "#runtime/storage/CallFiles.ts"
import type { Files } from "#runtime/storage/Files.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf, makeDigits } from "./Gathered.ts"
import { makeLiveVoice } from "./LiveVoice.ts"
import { MediaRoom } from "./MediaRoom.ts"
import type { RecordedSpeech } from "./RecordedSpeech.ts"
import type { FeedbackEvent } from "./Transcript.ts"
import type { Tts } from "./Tts.ts"

/** What a call opens with. */
export interface PlannedOpening {
  /** Of the organization, to open with. Undefined: the greeting is spoken. */
  readonly recording: RecordingName | undefined
  /** Rendered; undefined when the agent stays silent. Beside a recording it is spoken only when that cannot be played. */
  readonly greeting: string | undefined
  /** Rendered; what is said to a machine after its beep. */
  readonly message?: string | undefined
}

export interface VoicePlan extends PlannedOpening {
  readonly runId: number
  /** Undefined: a single call. */
  readonly campaignId?: CampaignId | undefined
  readonly organizationId: OrganizationId
  /** What the call opens with instead, once that is known: until then the callee hears noise. Never fails, and takes ten seconds at most. */
  readonly later?: Effect.Effect<PlannedOpening> | undefined
  readonly record: boolean
  readonly detectMachine: boolean
  /** What a machine's verdict does. */
  readonly onMachine: MachineAction
}

export type VoiceEvent =
  /** Not told where the call is to go on as with a person. */
  | { readonly _tag: "MachineDetected" }
  /** The machine was told the message, or could not be: there is nothing left to say to it. */
  | { readonly _tag: "MessageOver" }
  | { readonly _tag: "HumanDetected" }
  | { readonly _tag: "MediaClosed"; readonly why: string }
  | { readonly _tag: "GreetingSpoken" }

/** `usage_info` of a run. The keys of `tts` are `{service}#{n}|||{model}`, the values characters spoken. */
export interface VoiceUsage {
  readonly llm: Readonly<Record<string, never>>
  readonly tts: Readonly<Record<string, number>>
  readonly stt: Readonly<Record<string, number>>
  /** From the opening of the audio to `finish`. */
  readonly call_duration_seconds: number
}

export interface VoiceReport {
  readonly transcriptText: string
  /** `realtime_feedback_events` of the run's logs. */
  readonly events: ReadonlyArray<FeedbackEvent>
  readonly digits: string
  readonly recordingKey: string | undefined
  readonly transcriptKey: string | undefined
  readonly usage: VoiceUsage
  /** For `gathered_context`: `dtmf_digits`, `answered_by`, `voicemail_message`. */
  readonly gathered: Readonly<Record<string, unknown>>
  /** From the opening of the audio to the first frame of speech sent; undefined when the agent said nothing. */
  readonly firstAudioMillis: number | undefined
  /** When that was, in steady time. */
  readonly firstAudioAt: SteadyMillis | undefined
  /** There was a greeting to say. */
  readonly wasToSpeak: boolean
}

export interface VoiceSession {
  /** One key pressed by the callee, at epoch milliseconds. */
  readonly dtmf: (digit: string, at: number) => void
  /** The provider has detected a machine; the call is not to be hung up for that. */
  readonly machineDetected: () => void
  /**
   * Ends the session: closes the recording, writes the transcript. Idempotent, and good after the scope too. Never fails: a problem
   * is logged and leaves its field undefined.
   */
  readonly finish: Effect.Effect<VoiceReport>
}

export class VoiceAgent extends Context.Service<
  VoiceAgent,
  {
    /**
     * Not all the speech that waits can be made in time, and calls of this campaign are among those who want it: with more of them, more
     * callees would hear nothing. A campaign whose greetings are all known is never held back, and no campaign for good.
     */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
    /** As the call is dialed: has the voice started, if the greeting needs one. Returns at once. */
    readonly warm: (plan: VoicePlan) => Effect.Effect<void>
    /**
     * While the phone rings: has the greeting synthesized or decoded, so that it starts with the first frame. Never fails; may be skipped.
     * When it is interrupted, what has not been begun is not made.
     */
    readonly prepare: (plan: VoicePlan) => Effect.Effect<void>
    /** The greeting begins as soon as it is known and ready. Closing the scope stops the audio; `finish` works before and after. `emit` must not throw. */
    readonly attach: (
      plan: VoicePlan,
      media: MediaStream,
      emit: (event: VoiceEvent) => void
    ) => Effect.Effect<VoiceSession, never, Scope.Scope>
    /** The key of what a process that died has recorded of the call, made playable; undefined when there is nothing. */
    readonly salvage: (plan: VoicePlan) => Effect.Effect<string | undefined>
  }
>()("runtime/voice/VoiceAgent") {
  /** A pacer of one's own turns the frames by hand, in tests. */
  static readonly layerPacedBy = (pacer: FramePacer): Layer.Layer<VoiceAgent, never, CallFiles | Files | RecordedSpeech | Tts> =>
    Layer.effect(VoiceAgent, makeLiveVoice(pacer))
  static readonly layer: Layer.Layer<VoiceAgent, never, CallFiles | Files | MediaRoom | RecordedSpeech | Tts> = Layer.unwrap(
    MediaRoom.useSync(({ pacer }) => VoiceAgent.layerPacedBy(pacer))
  )
  /** Touches no audio, synthesizes nothing, stores nothing; keys are still collected. */
  static readonly layerNone: Layer.Layer<VoiceAgent> = Layer.sync(VoiceAgent, () => silent)
}

const silent = VoiceAgent.of({
  warm: () => Effect.void,
  isCrowdedBy: () => false,
  prepare: () => Effect.void,
  salvage: () => Effect.undefined,
  attach: Effect.fnUntraced(function* (plan, _media, emit) {
    const openedAt = yield* Clock.currentTimeMillis
    const keys = makeDigits()
    return {
      dtmf: keys.press,
      machineDetected: () => {
        if (plan.onMachine === "leave_message") emit({ _tag: "MessageOver" })
      },
      finish: Effect.map(
        Clock.currentTimeMillis,
        (now): VoiceReport => ({
          transcriptText: "",
          events: [],
          digits: keys.pressed(),
          recordingKey: undefined,
          transcriptKey: undefined,
          usage: { llm: {}, tts: {}, stt: {}, call_duration_seconds: (now - openedAt) / 1000 },
          gathered: gatheredOf(keys.pressed(), undefined),
          firstAudioMillis: undefined,
          firstAudioAt: undefined,
          wasToSpeak: false
        })
      )
    }
  })
})
