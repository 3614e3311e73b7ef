/**
 * The agent's side of one call, between the actor that owns the call and its audio. A session listens and speaks. It never hangs up and does
 * not limit the call's length: the actor does both.
 */
import type { Effect } from "effect"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { FliteVoice } from "#core/model/VoiceServices.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import type { VoiceFindings } from "./CallFindings.ts"

/** What a call opens with. */
export interface PlannedOpening {
  /** A recording of the organization to open with. Undefined: the greeting is spoken. */
  readonly recording: RecordingName | undefined
  /** Rendered; undefined when the agent stays silent. With a recording, the greeting is spoken only if the recording cannot be played. */
  readonly greeting: string | undefined
  /** Rendered; the message left on a machine after its beep. */
  readonly message?: string | undefined
}

export interface VoicePlan extends PlannedOpening {
  readonly runId: number
  /** Undefined for a single call. */
  readonly campaignId?: CampaignId | undefined
  readonly organizationId: OrganizationId
  /** Undefined: the usual one. */
  readonly voice?: FliteVoice | undefined
  /** An opening that is still being fetched, and replaces this one. Until then the callee hears noise. Never fails; takes at most ten seconds. */
  readonly later?: Effect.Effect<PlannedOpening> | undefined
  readonly record: boolean
  /** False: what is said is kept nowhere. */
  readonly keepsTranscript: boolean
  readonly detectMachine: boolean
  /** What to do when a machine is detected. */
  readonly onMachine: MachineAction
}

export type VoiceEvent =
  /** Not emitted where the call should go on as with a person. */
  | { readonly _tag: "MachineDetected" }
  /** The message was left or cannot be: there is nothing more to say to the machine. */
  | { readonly _tag: "MessageOver" }
  | { readonly _tag: "HumanDetected" }
  | { readonly _tag: "MediaClosed"; readonly how: MediaEnd; readonly why: string }
  | { readonly _tag: "GreetingSpoken" }

/** The `usage_info` of a run. The keys of `tts` are `{service}#{n}|||{model}`, the values are synthesized characters. */
interface VoiceUsage {
  readonly llm: Readonly<Record<string, never>>
  readonly tts: Readonly<Record<string, number>>
  readonly stt: Readonly<Record<string, number>>
  /** From opening the audio to `finish`. */
  readonly call_duration_seconds: number
}

export interface VoiceReport {
  readonly transcriptText: string
  /** The `realtime_feedback_events` of the run's logs. */
  readonly events: ReadonlyArray<FeedbackEvent>
  readonly digits: string
  readonly recordingKey: string | undefined
  readonly transcriptKey: string | undefined
  readonly usage: VoiceUsage
  /** Entries for `gathered_context`. */
  readonly gathered: VoiceFindings
  /** From opening the audio to the first frame of speech sent; undefined when the agent said nothing. */
  readonly firstAudioMillis: number | undefined
  /** The steady time of the first frame of speech. */
  readonly firstAudioAt: SteadyMillis | undefined
  /** Whether there was a greeting to say. */
  readonly wasToSpeak: boolean
}

export interface VoiceSession {
  /** The callee pressed one key. `at` is in epoch milliseconds. */
  readonly dtmf: (digit: string, at: number) => void
  /** The provider has detected a machine, and the call must not be hung up for that. */
  readonly machineDetected: () => void
  /** The provider has heard a machine's greeting end, so that a message can be left now. */
  readonly greetingEnded: () => void
  /** The call's audio goes on over this stream. What is being said goes on where it stopped. */
  readonly resume: (media: MediaStream) => void
  /**
   * Ends the session: closes the recording and writes the transcript. Idempotent, and works after the scope has closed. Never fails: a problem
   * is logged, and leaves its field undefined.
   */
  readonly finish: Effect.Effect<VoiceReport>
}
