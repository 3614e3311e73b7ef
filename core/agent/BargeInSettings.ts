/** How callees may interrupt an agent, from its configurations. They may have been stored before they were validated. */
import type { JsonObject } from "#core/Json.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"

const defaultMinWords = 3
const mostMinWords = 20

/** By default, and for unknown settings, an agent pauses at once and continues unless it was interrupted. */
export const bargeInOf = (configurations: JsonObject): Omit<BargeInRules, "allowInterrupt"> => {
  const { turn_start_min_words: words, turn_start_strategy: strategy } = configurations
  const minWords = typeof words === "number" && words >= 1 ? Math.min(mostMinWords, Math.round(words)) : defaultMinWords
  return { policy: strategy === "min_words" || strategy === "vad" ? strategy : "provisional", minWords }
}
