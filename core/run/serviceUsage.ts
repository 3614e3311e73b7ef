/** The use of services, in the form of `usage_info`. */
import type { ModelUsage } from "#core/model/LanguageModel.ts"
import type { TokenUsage } from "./RunRecord.ts"

/** The key of a service with its model or voice. */
export const serviceKey = (processor: string, model: string): string => `${processor}#0|||${model}`

/** The inverse of `serviceKey`. Of a key from elsewhere, everything is the service. */
export const serviceIn = (key: string): { readonly provider: string; readonly model: string } => {
  const [, provider = key, model = ""] = /^(.*)#\d+\|\|\|(.*)$/s.exec(key) ?? []
  return { provider, model }
}

export const tokensOf = ({ cachedTokens, completionTokens, promptTokens }: ModelUsage): TokenUsage => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  cache_read_input_tokens: cachedTokens
})
