/** What a conversation took, as the usage of its run tells it. */
import type { TalkReport } from "./Talk.ts"
import type { VoiceReport } from "./VoiceSession.ts"

export const usageOf = (talked: TalkReport | undefined): Pick<VoiceReport["usage"], "llm" | "stt"> => {
  if (talked === undefined) return { llm: {}, stt: {} }
  const { llm, stt } = talked
  const { cachedTokens, completionTokens, promptTokens } = llm.usage
  const tokens = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cache_read_input_tokens: cachedTokens
  }
  return {
    llm: tokens.total_tokens === 0 ? {} : { [llm.service]: tokens },
    stt: stt.seconds === 0 ? {} : { [stt.service]: stt.seconds }
  }
}
