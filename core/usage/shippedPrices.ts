/**
 * The prices that ship: examples, to be replaced by those that an account really has. Only what a vendor has stated on a public page, in a unit that
 * usage is counted in, with the day on which it was there. What is not here has no price: OpenAI's newer voices are priced by audio tokens, ElevenLabs' and
 * Cartesia's by the plan of an account. Services on this machine and servers of the operator's own cost nothing.
 */
import type { ServicePrice } from "./Price.ts"

type Source = Pick<ServicePrice, "date" | "source">

const openai = { date: "2026-06-21", source: "https://developers.openai.com/api/docs/pricing" }
const openaiOlder = { ...openai, date: "2026-04-01" }
const openaiVoices = { date: "2026-06-07", source: "https://developers.openai.com/api/docs/models/tts-1" }
/** What is written to the cache costs a quarter more than other prompt tokens; it is counted as the others. */
const anthropic = { date: "2026-10-24", source: "https://platform.claude.com/docs/en/about-claude/pricing" }
const google = { date: "2026-10-07", source: "https://ai.google.dev/gemini-api/docs/pricing" }
const groq = { date: "2026-01-25", source: "https://groq.com/pricing" }
const deepgram = (date: string): Source => ({ date, source: "https://deepgram.com/pricing" })

const llm = (
  provider: string,
  model: string,
  [prompt, cached, completion]: readonly [number, number | undefined, number],
  source: Source
) =>
  ({
    kind: "llm",
    provider,
    model,
    per_million_prompt_tokens: prompt,
    ...(cached === undefined ? {} : { per_million_cached_tokens: cached }),
    per_million_completion_tokens: completion,
    ...source
  }) as const
const tts = (provider: string, model: string, characters: number, source: Source) =>
  ({ kind: "tts", provider, model, per_million_characters: characters, ...source }) as const
const stt = (provider: string, model: string, minute: number, source: Source) =>
  ({ kind: "stt", provider, model, per_minute: minute, ...source }) as const

/** Without a date: these never charge. */
const free: ReadonlyArray<ServicePrice> = [
  llm("embedded", "*", [0, 0, 0], {}),
  llm("speaches", "*", [0, 0, 0], {}),
  tts("flite", "*", 0, {}),
  tts("speaches", "*", 0, {}),
  stt("moonshine", "*", 0, {}),
  stt("pocketsphinx", "*", 0, {})
]

export const shippedPrices: ReadonlyArray<ServicePrice> = [
  ...free,
  llm("openai", "gpt-4.1", [2, 0.5, 8], openai),
  llm("openai", "gpt-4.1-mini", [0.4, 0.1, 1.6], openai),
  llm("openai", "gpt-4.1-nano", [0.1, 0.025, 0.4], openaiOlder),
  llm("openai", "gpt-4o", [2.5, 1.25, 10], openaiOlder),
  llm("openai", "gpt-4o-mini", [0.15, 0.075, 0.6], openaiOlder),
  tts("openai", "tts-1", 15, openaiVoices),
  tts("openai", "tts-1-hd", 30, openaiVoices),
  llm("anthropic", "claude-haiku-4-5*", [1, 0.1, 5], anthropic),
  llm("anthropic", "claude-sonnet-4-5*", [3, 0.3, 15], anthropic),
  llm("anthropic", "claude-sonnet-4-6*", [3, 0.3, 15], anthropic),
  llm("anthropic", "claude-opus-4-5*", [5, 0.5, 25], anthropic),
  llm("anthropic", "claude-opus-4-6*", [5, 0.5, 25], anthropic),
  llm("google", "gemini-3.5-flash", [1.5, 0.15, 9], google),
  llm("groq", "llama-3.3-70b-versatile", [0.59, undefined, 0.79], groq),
  // For one language. Nova that detects the language costs more, which the usage of a run does not show.
  stt("deepgram", "nova-3", 0.0048, deepgram("2026-08-01")),
  stt("deepgram", "nova-3-general", 0.0048, deepgram("2026-08-01")),
  stt("deepgram", "flux-general-en", 0.0065, deepgram("2026-05-04")),
  stt("deepgram", "flux-general-multi", 0.0078, deepgram("2026-11-04")),
  tts("deepgram", "aura-2-*", 30, deepgram("2026-05-04")),
  tts("deepgram", "aura-*", 15, deepgram("2026-05-04"))
]
