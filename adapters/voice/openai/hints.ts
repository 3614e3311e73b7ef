/** What OpenAI's models are told about a call before they hear it. */
import type { RecognizerHints } from "#core/model/SpeechToText.ts"

/** Whisper reads the last 224 tokens of a prompt. */
const MOST_TERMS = 50

/** Of Whisper's codes, those that are not in BCP 47: https://github.com/openai/whisper/blob/main/whisper/tokenizer.py */
const whisperCodes: Readonly<Record<string, string>> = { fil: "tl", nb: "no" }

/** ISO 639-1. Undefined: the model finds it out. `language`: such as `de`, `auto` or `multi`; empty: the agent's. */
export const languageOf = (language: string, hints: RecognizerHints): string | undefined => {
  const [code = ""] = (language === "" ? hints.language : language).toLowerCase().split("-")
  const known = whisperCodes[code] ?? code
  return /^[a-z]{2}$/.test(known) ? known : undefined
}

/** Without the expected phrases: these models repeat their prompt for noise, which would then answer the agent's question. */
export const promptOf = ({ keyterms }: RecognizerHints): string =>
  keyterms.length === 0 ? "" : `${[...new Set(keyterms)].slice(0, MOST_TERMS).join(", ")}.`
