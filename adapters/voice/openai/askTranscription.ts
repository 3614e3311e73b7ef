/** One request of the transcription interface: https://platform.openai.com/docs/api-reference/audio/createTranscription */
import { Effect } from "effect"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import type { Transcribe } from "#adapters/voice/shared/PostedPassages.ts"
import type { ServiceConnection } from "#adapters/voice/shared/ServiceConnection.ts"
import { broken } from "#adapters/voice/shared/modelErrors.ts"
import { speechForm } from "#adapters/voice/shared/speechForm.ts"
import { wholeReply } from "#adapters/voice/shared/wholeReply.ts"
import { languageOf, promptOf } from "./hints.ts"
import { saidIn } from "./inventions.ts"

/** Whisper invents words for less. */
const LEAST_MILLIS = 1000
/** Whisper's own limit: https://github.com/openai/whisper/blob/main/whisper/transcribe.py */
const MOST_NO_SPEECH = 0.6

interface TranscriptionSettings {
  /** Its path ends with `/audio/transcriptions`. */
  readonly url: URL
  readonly apiKey: string
  readonly model: string
  /** Empty: the agent's. */
  readonly language: string
  /** `json`, or `verbose_json`, which tells how likely it is that nobody spoke. */
  readonly format: string
}

/** A connection that breaks before the reply, or a fault of the server's, is tried once more: nothing is done twice that matters. */
export const askTranscription =
  (connection: ServiceConnection, { apiKey, format, language, model, url }: TranscriptionSettings): Transcribe =>
  (frames, hints) => {
    const prompt = promptOf(hints)
    const spoken = languageOf(language, hints)
    const members = {
      model,
      response_format: format,
      ...(spoken === undefined ? {} : { language: spoken }),
      ...(prompt === "" ? {} : { prompt })
    }
    const { body, mediaType } = speechForm(members, frames, LEAST_MILLIS)
    const authorization = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }
    const headers = { accept: "application/json", "content-type": mediaType, ...authorization }
    return wholeReply(connection, { path: url.pathname, headers, body, sent: `${apiKey} ${prompt}` }).pipe(
      Effect.retry({ times: 1, while: ({ isRetryable, reason }) => isRetryable && (reason === "broken" || reason === "unreachable") }),
      Effect.flatMap((reply) => {
        const text = textIn(reply)
        return text === undefined ? Effect.fail(broken("the answer has no text")) : Effect.succeed(saidIn(text, prompt))
      })
    )
  }

/** Without the segments in which nobody seems to speak. */
const textIn = (reply: unknown): string | undefined => {
  const segments = at(reply, "segments")
  if (!Array.isArray(segments)) return textAt(reply, "text")
  const spoken = segments.filter((segment) => (numberAt(segment, "no_speech_prob") ?? 0) <= MOST_NO_SPEECH)
  return spoken.length === segments.length ? textAt(reply, "text") : spoken.map((segment) => textAt(segment, "text")).join(" ")
}
