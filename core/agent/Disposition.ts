/** The words for what a call came to that the engine itself uses. Agents add words of their own, which are learned as calls end. */

/** Of calls that were answered. */
export const endReasons: ReadonlyArray<string> = [
  "call_duration_exceeded",
  "end_call_tool",
  "system_cancelled",
  "user_hangup",
  "voicemail_detected"
]
const unanswered: ReadonlyArray<string> = ["busy", "canceled", "error", "failed", "no-answer", "unknown"]

/** The engine's own words, then the others that are known, each once. */
export const allCodes = (learned: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set([...endReasons, ...unanswered, ...learned])]
