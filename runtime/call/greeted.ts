/** Whether a call needs audio, and whether the callee was left in silence after the answer. */
import type { AgentVersion } from "#core/agent/Agent.ts"
import type { JsonObject } from "#core/Json.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { voicemailDetectionOf } from "#core/agent/VoicemailDetection.ts"
import type { CallState } from "#core/call/Call.ts"
import { preCallFetchOf } from "#core/agent/PreCallFetch.ts"
import type { RunProblem } from "#core/run/RunProblem.ts"
import type { VoiceReport } from "#runtime/voice/VoiceSession.ts"
import type { LiveCall } from "./LiveCall.ts"

/** After hearing nothing for this long, a callee assumes the line is dead. */
const PATIENCE_MILLIS = 2000

/** Whether the agent speaks first to somebody of whom this is known. */
export const isGreeting = (definition: JsonObject, context: JsonObject): boolean => {
  const { recording, text } = openingOf(definition, context)
  return recording !== undefined || text !== undefined
}

export const needsAudio = ({ voice }: LiveCall): boolean =>
  voice.isGreeting || voice.record || voice.detectMachine || voice.conversation.hearing !== undefined

/** Whether calls of this version will need audio, even if their agent cannot hear; asked before they are planned. */
export const willNeedAudio = ({ configurations, definition }: AgentVersion, context: JsonObject): boolean =>
  isGreeting(definition, context) || preCallFetchOf(definition) !== undefined || voicemailDetectionOf(configurations).isOn

/**
 * True if something was to be said, and nothing was heard for two seconds after the answer, or after the provider handed the call to us. The
 * ended state is in steady time.
 */
export const isGreetingMissed = (
  call: LiveCall,
  { answeredAt, endedAt }: CallState & { readonly _tag: "Ended" },
  voice: Partial<Pick<VoiceReport, "firstAudioAt" | "recordingKey" | "wasToSpeak">> | undefined
): boolean => {
  if (answeredAt === undefined || call.wasAdopted) return false
  // Until the handover, the dialplan speaks.
  const oursAt = call.handover === undefined ? answeredAt : call.handedOverAt
  if (oursAt === undefined) return false
  // Without a session there was no audio at all.
  const wasToSpeak = call.session === undefined ? call.voice.isGreeting : voice?.wasToSpeak === true
  return wasToSpeak && (voice?.firstAudioAt ?? endedAt) - oursAt >= PATIENCE_MILLIS
}

/** `answeredAt` is in wall time. */
export const missedGreeting = (answeredAt: number): RunProblem => ({
  at: answeredAt + PATIENCE_MILLIS,
  error: "greeting_missed: the callee heard nothing for two seconds after the answer",
  processor: "voice"
})
