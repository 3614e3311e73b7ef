/** The service that gives calls their voice: one session for each call, and speech prepared before the answer. */
import { Clock, Context, Effect, Layer, type Scope } from "effect"
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
import type { VoiceEvent, VoicePlan, VoiceReport, VoiceSession } from "./VoiceSession.ts"

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
