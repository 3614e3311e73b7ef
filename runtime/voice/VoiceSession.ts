/**
 * The agent's side of one call, between the actor that owns the call and its audio. A session listens and speaks. It never hangs up and does
 * not limit the call's length: the actor does both.
 */
import { Effect } from "effect"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { OpenEndOfTurn } from "#core/model/EndOfTurnProvider.ts"
import type { MachineAction } from "#core/agent/VoicemailDetection.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { SpeechToText, RecognizerHints } from "#core/model/SpeechToText.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { ConversationPlan, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { ConversationPorts } from "#runtime/conversation/ConversationActor.ts"
import type { JsonObject } from "#core/Json.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"
import type { VoiceFindings } from "./CallFindings.ts"

/** The conversation that a call holds, and the services it uses. */
export interface PlannedTalk {
  readonly plan: ConversationPlan
  readonly model: OpenLanguageModel
  /** Undefined if the agent cannot hear. */
  readonly hearing: SpeechToText | undefined
  /** The recognizers that take over when that one fails, in this order. */
  readonly substitutes: ReadonlyArray<SpeechToText>
  readonly endOfTurn: OpenEndOfTurn
  /** How the callee may interrupt, where that is allowed. */
  readonly bargeIn: Omit<BargeInRules, "allowInterrupt">
  /** What is known about the call and the callee when it is dialed. */
  readonly known: JsonObject
  /** The same, plus what is being fetched; until then the callee hears noise. Undefined if nothing is. Never fails; takes at most ten seconds. */
  readonly later?: Effect.Effect<JsonObject> | undefined
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

export interface VoicePlan {
  readonly runId: number
  /** Undefined for a single call. */
  readonly campaignId?: CampaignId | undefined
  readonly organizationId: OrganizationId
  /** Undefined for the default voice. */
  readonly voice?: ChosenVoice | undefined
  /** An earlier process has talked to the callee. */
  readonly isContinued: boolean
  /** Whether the agent speaks first, as far as that is known when the call is dialed. */
  readonly isGreeting: boolean
  readonly record: boolean
  /** If false, nothing that is said is kept anywhere. */
  readonly keepsTranscript: boolean
  readonly detectMachine: boolean
  /** What to do when a machine is detected. */
  readonly onMachine: MachineAction
  readonly conversation: PlannedTalk
}

export type VoiceEvent =
  | { readonly _tag: "MediaClosed"; readonly how: MediaEnd; readonly why: string }
  /** The conversation is over, and everything to be heard has been heard. */
  | { readonly _tag: "EndWanted"; readonly cause: HangupCause }

/** Findings beyond those that the conversation notes itself, including what decides whether the contact is called again. */
export interface VoiceReport {
  readonly recordingKey: string | undefined
  /** Entries for `gathered_context`. */
  readonly gathered: VoiceFindings
  /** Only a machine was spoken to. */
  readonly isVoicemail: boolean
  /** The steady time of the first frame of speech; undefined if the agent said nothing. */
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
   * Ends the session: closes the recording and lets the conversation conclude. Idempotent, and works after the scope has closed. Never fails: a problem
   * is logged, and leaves its field undefined.
   */
  readonly finish: Effect.Effect<VoiceReport>
}
