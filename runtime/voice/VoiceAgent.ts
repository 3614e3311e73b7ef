/** The service that gives each call a voice: opens one session per call, and prepares speech before the answer. */
import { Context, Effect, Layer, type Scope } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { CallFiles } from "#runtime/storage/CallFiles.ts"
import type { Files } from "#runtime/storage/Files.ts"
import type { FramePacer } from "./FramePacer.ts"
import { gatheredOf, makeDigits } from "./CallFindings.ts"
import { makeLiveVoice } from "./LiveVoice.ts"
import { MediaRoom } from "./MediaRoom.ts"
import type { RecordedSpeech } from "./RecordedSpeech.ts"
import type { Tts } from "./Tts.ts"
import type { CallVerbs, VoiceEvent, VoicePlan, VoiceReport, VoiceSession } from "./VoiceSession.ts"

export class VoiceAgent extends Context.Service<
  VoiceAgent,
  {
    /**
     * Whether some of the waiting speech cannot be made in time and some of it is for calls of this campaign: with more of its calls, more
     * callees would hear nothing. Never true for a campaign whose greetings are all cached, and never permanently true.
     */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
    /** Called when the call is dialed, or expected: gets the voice ready if the greeting needs one. Returns at once, and costs nothing. */
    readonly warm: (plan: Pick<VoicePlan, "conversation" | "voice">) => Effect.Effect<void>
    /**
     * Called while the phone rings: has the greeting synthesized or decoded, so that it starts with the first frame. Never fails, and may be
     * skipped. An interrupt drops the pieces that have not been started.
     */
    readonly prepare: (plan: VoicePlan) => Effect.Effect<void>
    /**
     * Called while the phone rings: has the recognizer opened, for `attach` with the same plan to take over. Lasts as long as the session, which an
     * interrupt closes. Never fails, and may be skipped.
     */
    readonly listenEarly: (plan: VoicePlan) => Effect.Effect<void>
    /**
     * The conversation begins as soon as all that it needs is known. Closing the scope stops the audio; `finish` works before and after that.
     * `emit` must not throw.
     */
    readonly attach: (
      plan: VoicePlan,
      media: MediaStream,
      emit: (event: VoiceEvent) => void,
      verbs?: CallVerbs
    ) => Effect.Effect<VoiceSession, never, Scope.Scope>
    /** Makes the recording of a dead process playable, and returns its key; undefined if there is none. */
    readonly salvage: (plan: VoicePlan) => Effect.Effect<string | undefined>
  }
>()("runtime/voice/VoiceAgent") {
  /** For tests, whose own pacer advances the frames by hand. */
  static readonly layerPacedBy = (pacer: FramePacer): Layer.Layer<VoiceAgent, never, CallFiles | Files | RecordedSpeech | Tts> =>
    Layer.effect(VoiceAgent, makeLiveVoice(pacer))
  static readonly layer: Layer.Layer<VoiceAgent, never, CallFiles | Files | MediaRoom | RecordedSpeech | Tts> = Layer.unwrap(
    MediaRoom.useSync(({ pacer }) => VoiceAgent.layerPacedBy(pacer))
  )
  /** Touches no audio, synthesizes nothing and stores nothing, but still collects the keys. */
  static readonly layerNone: Layer.Layer<VoiceAgent> = Layer.sync(VoiceAgent, () => silent)
}

const silent = VoiceAgent.of({
  warm: () => Effect.void,
  isCrowdedBy: () => false,
  prepare: () => Effect.void,
  listenEarly: () => Effect.void,
  salvage: () => Effect.undefined,
  attach: (plan, _media, emit) =>
    Effect.sync(() => {
      const keys = makeDigits()
      let isMachine = false
      return {
        dtmf: keys.press,
        greetingEnded: () => {},
        resume: () => {},
        machineDetected: () => {
          isMachine = true
          if (plan.onMachine !== "continue") emit({ _tag: "EndWanted", cause: "machine_detected" })
        },
        finish: Effect.sync(
          (): VoiceReport => ({
            recordingKey: undefined,
            gathered: gatheredOf(keys.pressed()),
            isVoicemail: isMachine && plan.onMachine !== "continue",
            firstAudioAt: undefined,
            wasToSpeak: false
          })
        )
      }
    })
})
