/**
 * The agent's side of one call, between the actor that owns the call and its audio. A session listens and speaks. It never hangs up and does
 * not limit the call's length: the actor does both.
 */
import { Effect } from "effect"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { OpenEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import type { SpeechToText, RecognizerHints } from "#core/model/SpeechToText.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { ConversationPlan, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { ConversationPorts } from "#runtime/conversation/ConversationActor.ts"
import type { JsonObject } from "#core/Json.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"
import type { VoiceFindings } from "./CallFindings.ts"

/** What a call opens with. */
export interface PlannedOpening {
  /** The organization's recording to open with; undefined if the greeting is spoken. */
  readonly recording: RecordingName | undefined
  /** Rendered; undefined if the agent stays silent. If there is a recording, the greeting is spoken only if the recording cannot be played. */
  readonly greeting: string | undefined
  /** Rendered; the message left on a machine after its beep. */
  readonly message?: string | undefined
}

/** The conversation that a call holds, and the services it uses. */
export interface PlannedTalk {
  readonly plan: ConversationPlan
  readonly model: OpenLanguageModel
  readonly hearing: SpeechToText
  readonly endOfTurn: OpenEndOfTurn
  /** How the callee may interrupt, where that is allowed. */
  readonly bargeIn: Omit<BargeInRules, "allowInterrupt">
  /** What is known about the call and the callee. May wait for what is being fetched; never fails. */
  readonly context: Effect.Effect<JsonObject>
  /** What the callee may say at a node. */
  readonly hintsAt: (node: ConversationNode) => RecognizerHints
}

/** The actions a conversation can take, besides speaking and hanging up. */
export interface CallVerbs extends Pick<ConversationPorts, "runTool" | "sendDigits"> {
  /** Keeps the fact for the run. Returns at once. */
  readonly note: (fact: CallFact) => void
  /** Ends once the outcome is known. */
  readonly transfer: (
    destination: string,
    timeoutSeconds: number
  ) => Effect.Effect<"transferred" | (ToolAnswer & { readonly _tag: "Failed" })>
}

const failed = (reason: string) => Effect.succeed({ _tag: "Failed", reason } as const)

export const noVerbs: CallVerbs = {
  runTool: () => failed("Tools are not available."),
  sendDigits: () => failed("No keys can be pressed."),
  transfer: () => failed("Calls cannot be transferred."),
  note: () => {}
}

export interface VoicePlan extends PlannedOpening {
  readonly runId: number
  /** Undefined for a single call. */
  readonly campaignId?: CampaignId | undefined
  readonly organizationId: OrganizationId
  /** Undefined for the default voice. */
  readonly voice?: ChosenVoice | undefined
  /**
   * An opening that is still being fetched, and then replaces this one. Until then the callee hears noise. Never fails; takes at most ten
   * seconds.
   */
  readonly later?: Effect.Effect<PlannedOpening> | undefined
  readonly record: boolean
  /** If false, nothing that is said is kept anywhere. */
  readonly keepsTranscript: boolean
  readonly detectMachine: boolean
  /** What to do when a machine is detected. */
  readonly onMachine: MachineAction
  /** Undefined if the agent cannot hear and only says its greeting. */
  readonly conversation?: PlannedTalk | undefined
}

export type VoiceEvent =
  /** Not emitted if the call should continue as with a person. */
  | { readonly _tag: "MachineDetected" }
  /** The message was left or cannot be: there is nothing more to say to the machine. */
  | { readonly _tag: "MessageOver" }
  | { readonly _tag: "HumanDetected" }
  | { readonly _tag: "MediaClosed"; readonly how: MediaEnd; readonly why: string }
  | { readonly _tag: "GreetingSpoken" }
  /** The conversation is over, and everything to be heard has been heard. */
  | { readonly _tag: "EndWanted"; readonly cause: HangupCause }

/**
 * Part of a run's `usage_info`. The keys of `tts` are `{service}#{n}|||{model}`, the values are synthesized characters. A conversation's other
 * usage is noted while it lasts.
 */
interface VoiceUsage {
  readonly tts: Readonly<Record<string, number>>
  /** From opening the audio to `finish`. */
  readonly call_duration_seconds: number
}

/** Findings beyond those a conversation notes itself, including what decides whether the contact is called again. */
export interface VoiceReport {
  readonly transcriptText: string
  /** The `realtime_feedback_events` of the run's logs. */
  readonly events: ReadonlyArray<FeedbackEvent>
  readonly recordingKey: string | undefined
  readonly transcriptKey: string | undefined
  readonly usage: VoiceUsage
  /** Entries for `gathered_context`. */
  readonly gathered: VoiceFindings
  /** In the conversation, only a machine spoke. */
  readonly isVoicemail: boolean
  /** From opening the audio to the first frame of speech sent; undefined if the agent said nothing. */
  readonly firstAudioMillis: number | undefined
  /** The steady time of the first frame of speech. */
  readonly firstAudioAt: SteadyMillis | undefined
  /** Whether there was a greeting to say. */
  readonly wasToSpeak: boolean
}

export interface VoiceSession {
  /** The callee pressed one key. `at` is in epoch milliseconds. */
  readonly dtmf: (digit: string, at: number) => void
  /** The provider has detected a machine, but the call must not be hung up for that. */
  readonly machineDetected: () => void
  /** The provider has heard a machine's greeting end, so that a message can be left now. */
  readonly greetingEnded: () => void
  /** Why the call has ended. Called before `finish`, if at all. */
  readonly hungUp?: (cause: HangupCause) => void
  /** The call's audio continues over this stream, and speech continues where it stopped. */
  readonly resume: (media: MediaStream) => void
  /**
   * Ends the session: closes the recording and writes the transcript. Idempotent, and works after the scope has closed. Never fails: a problem
   * is logged, and leaves its field undefined.
   */
  readonly finish: Effect.Effect<VoiceReport>
}
