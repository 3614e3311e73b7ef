/**
 * The agent's side of one call, between the actor that owns the call and the audio that flows under it. A session hears and
 * speaks; it never hangs up and keeps no timer for the call's length: both are its actor's.
 */
import type { Effect } from "effect"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { FeedbackEvent } from "./Transcript.ts"

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
interface VoiceUsage {
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
