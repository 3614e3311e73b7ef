/** What an agent wants done where a machine answers. Pure. */
import { isObject, type JsonObject } from "#core/Json.ts"

/** `continue`: the call goes on as with a person, and its run says who answered. */
export const machineActions = ["hangup", "leave_message", "continue"] as const
export type MachineAction = (typeof machineActions)[number]

/** Voicemails record two or three minutes. */
export const longestMessage = 2000

interface VoicemailDetection {
  readonly isOn: boolean
  readonly action: MachineAction
  /** The template of what is said after the beep. */
  readonly message: string | undefined
}

/** Settings from before they were checked may be anything; what is not understood is what it always was: a machine is hung up on. */
export const voicemailDetectionOf = (configurations: JsonObject): VoicemailDetection => {
  const set = configurations["voicemail_detection"]
  if (!isObject(set) || set["enabled"] !== true) return { isOn: false, action: "hangup", message: undefined }
  const action = machineActions.find((one) => one === set["action"]) ?? "hangup"
  const message = typeof set["message"] === "string" ? set["message"] : undefined
  return { isOn: true, action, message: action === "leave_message" ? message : undefined }
}
