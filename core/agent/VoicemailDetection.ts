/** What an agent does when a machine answers. Pure. */
import { isObject, type JsonObject } from "#core/Json.ts"

/** `continue`: the call goes on as with a person, and its run records that a machine answered. */
export const machineActions = ["hangup", "leave_message", "continue"] as const
export type MachineAction = (typeof machineActions)[number]

/** Enough for the two or three minutes that voicemails record. */
export const longestMessage = 2000

interface VoicemailDetection {
  readonly isOn: boolean
  readonly action: MachineAction
  /** The template of the message spoken after the beep. */
  readonly message: string | undefined
}

/** Settings stored before they were validated may hold anything. An unknown action falls back to `hangup`. */
export const voicemailDetectionOf = (configurations: JsonObject): VoicemailDetection => {
  const set = configurations["voicemail_detection"]
  if (!isObject(set) || set["enabled"] !== true) return { isOn: false, action: "hangup", message: undefined }
  const action = machineActions.find((one) => one === set["action"]) ?? "hangup"
  const message = typeof set["message"] === "string" ? set["message"] : undefined
  return { isOn: true, action, message: action === "leave_message" ? message : undefined }
}
