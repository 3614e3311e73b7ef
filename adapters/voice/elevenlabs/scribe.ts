/**
 * ElevenLabs' recognizer: https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime. The engine decides when turns end, and asks
 * for the text with a commit.
 */
import { sampleRate } from "#core/audio/Mulaw.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { type ConfigOf, optionalText, token } from "#core/provider/Credential.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { AskedSession, type TextEar } from "#adapters/voice/shared/AskedSession.ts"
import { addressFaults, baseUrlField, socketUrl } from "#adapters/voice/shared/BaseUrl.ts"
import { openSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { tryElevenLabsKey } from "./tryElevenLabsKey.ts"

const provider = "elevenlabs"
/** The service closes a connection on which it hears nothing for about 15 seconds. */
const KEEP_ALIVE_MILLIS = 5000
/** A commit of hardly any audio is not answered. */
const patienceMillis = { unspoken: 400, spoken: 2500 }
/** The service takes no more key terms, and no longer ones. */
const [MOST_TERMS, LONGEST_TERM] = [50, 20]

const fields = {
  model: optionalText({ label: "Model", default: "scribe_v2_realtime", pattern: "^[a-z0-9_]*$" }),
  api_key: token({ label: "API key" }),
  language: optionalText({ label: "Language", description: "Such as de, or auto. Empty: the agent's.", pattern: "^[A-Za-z-]{0,20}$" }),
  base_url: baseUrlField("https://api.elevenlabs.io")
} as const

const chunkOf = (audio: Uint8Array, commit: boolean): string =>
  JSON.stringify({
    message_type: "input_audio_chunk",
    audio_base_64: Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64"),
    commit,
    sample_rate: sampleRate
  })

const urlOf = ({ base_url, language, model }: ConfigOf<typeof fields>, hints: RecognizerHints): URL => {
  const [spoken = ""] = (language === "" ? hints.language : language).toLowerCase().split("-")
  const terms = [...new Set([...hints.keyterms, ...hints.phrases])].filter(({ length }) => length <= LONGEST_TERM)
  return socketUrl(base_url, "/v1/speech-to-text/realtime", {
    model_id: model,
    audio_format: `ulaw_${sampleRate}`,
    commit_strategy: "manual",
    // Without a language, it is detected.
    language_code: ["auto", "multi"].includes(spoken) ? [] : spoken,
    keyterms: terms.slice(0, MOST_TERMS)
  })
}

const hear = (message: unknown, ear: TextEar): void => {
  const text = textAt(message, "text") ?? ""
  switch (textAt(message, "message_type")) {
    case "partial_transcript":
      return ear.partial(text)
    case "committed_transcript":
      ear.final(text)
      return ear.answered()
    // There was too little audio to commit, or nothing was said in it.
    case "commit_throttled":
    case "insufficient_audio_activity":
      return ear.unanswered()
  }
}

type Ending = readonly [reason: ModelError["reason"], isRetryable: boolean]
const broken: Ending = ["broken", true]
const refused: Ending = ["refused", false]

/** The messages that say that the session is over. */
const endings: ReadonlyMap<string, Ending> = new Map<string, Ending>([
  ["auth_error", ["auth", false]],
  ["quota_exceeded", ["credit", false]],
  ["rate_limited", ["rate_limited", true]],
  ["resource_exhausted", ["rate_limited", true]],
  ["unaccepted_terms", refused],
  ["unaccepted_terms_error", refused],
  ["input_error", refused],
  ["invalid_request", refused],
  ["chunk_size_exceeded", refused],
  ["queue_overflow", broken],
  ["session_time_limit_exceeded", broken],
  ["transcriber_error", broken],
  ["error", broken]
])

const errorIn = (message: unknown): ModelError | undefined => {
  const type = textAt(message, "message_type") ?? ""
  const ending = endings.get(type)
  if (ending === undefined) return undefined
  const [reason, isRetryable] = ending
  return new ModelError({ reason, isRetryable, message: `the service reports ${type}` })
}

/** The recognizer with another interval, for tests. */
export const scribeWith = (keepAliveMillis = KEEP_ALIVE_MILLIS) =>
  defineRecognizer({
    manifest: { contract: 1, kind: "stt", provider, title: "ElevenLabs", description: "Scribe, by ElevenLabs." },
    fields,
    check: addressFaults,
    probe: tryElevenLabsKey,
    recognizer: (config, { egress }) => ({
      provider,
      model: config.model,
      ownsTurns: false,
      open: (hints, emit) =>
        openSession(
          { url: urlOf(config, hints), headers: { "xi-api-key": config.api_key }, egress, secret: config.api_key, errorIn },
          emit,
          (socket) =>
            new AskedSession(socket, emit, {
              pieceOf: (audio) => chunkOf(audio, false),
              question: chunkOf(new Uint8Array(0), true),
              quietMillis: keepAliveMillis,
              patienceMillis,
              hear
            })
        )
    })
  })
