/** The settings of an agent that its conversations follow. They may have been stored before they were validated. */
import type { JsonObject } from "#core/Json.ts"
import { maxCallDurationSeconds } from "#core/agent/AgentGraph.ts"
import { type MachineAction, voicemailDetectionOf } from "#core/agent/VoicemailDetection.ts"
import { type StaticLines, staticLinesOf } from "./StaticLines.ts"

export interface ConversationSettings {
  readonly maxCallMillis: number
  /** How long the callee may be silent before the agent asks whether they are still there. */
  readonly idleMillis: number
  /** Undefined: the agent does not detect machines. */
  readonly onMachine: MachineAction | undefined
  /** The template of the message for a machine. */
  readonly machineMessage: string
  /** Whether the model may press keys. */
  readonly sendsDigits: boolean
  readonly lines: StaticLines
}

const defaultIdleSeconds = 10
const longestIdleSeconds = 600

const idleSecondsOf = (given: unknown): number =>
  typeof given === "number" && given > 0 ? Math.min(longestIdleSeconds, Math.max(1, given)) : defaultIdleSeconds

export const settingsOf = (configurations: JsonObject): ConversationSettings => {
  const { action, isOn, message = "" } = voicemailDetectionOf(configurations)
  return {
    maxCallMillis: maxCallDurationSeconds(configurations) * 1000,
    idleMillis: idleSecondsOf(configurations["max_user_idle_timeout"]) * 1000,
    onMachine: isOn ? action : undefined,
    machineMessage: message,
    sendsDigits: configurations["send_dtmf"] === true,
    lines: staticLinesOf(configurations)
  }
}
