/** Whether a call needs audio, and whether the callee was left in silence after the answer. */
import type { AgentVersion } from "#core/agent/Agent.ts"
import type { JsonObject } from "#core/Json.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { voicemailDetectionOf } from "#core/agent/VoicemailDetection.ts"
import type { CallState } from "#core/call/Call.ts"
import { preCallFetchOf } from "#core/agent/PreCallFetch.ts"
import type { Problem } from "#runtime/voice/Transcript.ts"
import type { VoiceReport } from "#runtime/voice/VoiceSession.ts"
import type { LiveCall } from "./LiveCall.ts"

/** After hearing nothing for this long, a callee assumes the line is dead. */
const PATIENCE_MILLIS = 2000

const isToBeGreeted = ({ voice }: LiveCall): boolean =>
  voice.greeting !== undefined || voice.recording !== undefined || voice.later !== undefined

export const needsAudio = (call: LiveCall): boolean =>
  isToBeGreeted(call) || call.voice.record || call.voice.detectMachine || call.voice.conversation !== undefined

/** Whether calls of this version will need audio; asked before they are planned. */
export const willNeedAudio = ({ configurations, definition }: AgentVersion, context: JsonObject): boolean => {
  const { recording, text } = openingOf(definition, context)
  const isGreeted = recording !== undefined || text !== undefined || preCallFetchOf(definition) !== undefined
  return isGreeted || voicemailDetectionOf(configurations).isOn
}

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
  const wasToSpeak = call.session === undefined ? isToBeGreeted(call) : voice?.wasToSpeak === true
  return wasToSpeak && (voice?.firstAudioAt ?? endedAt) - oursAt >= PATIENCE_MILLIS
}

/** `answeredAt` is in wall time. */
export const missedGreeting = (answeredAt: number): Problem => ({
  at: answeredAt + PATIENCE_MILLIS,
  error: "greeting_missed: the callee heard nothing for two seconds after the answer",
  processor: "voice"
})
