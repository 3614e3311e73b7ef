/** The disposition codes that the engine itself uses. Agents add codes of their own, which are collected as calls end. */

/** The dispositions of answered calls. */
export const endReasons: ReadonlyArray<string> = [
  "call_duration_exceeded",
  "end_call_tool",
  "system_cancelled",
  "user_hangup",
  "voicemail_detected"
]
const unanswered: ReadonlyArray<string> = ["busy", "canceled", "error", "failed", "no-answer", "unknown"]

/** The engine's own codes, then the collected ones, without duplicates. */
export const allCodes = (learned: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set([...endReasons, ...unanswered, ...learned])]
