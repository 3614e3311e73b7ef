/**
 * Recognizers behind the transcription interface of OpenAI, which speaches, whisper.cpp, vLLM, LocalAI and Groq also speak. OpenAI itself is also reached
 * by a websocket, and transcribes there while callees speak.
 */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import { defineRecognizer, type RecognizerProvider } from "#core/model/RecognizerProvider.ts"
import type { SpeechToText } from "#core/model/SpeechToText.ts"
import { type ConfigOf, optionalText, token } from "#core/provider/Credential.ts"
import { addressFaults, baseUrlField, socketUrl } from "#adapters/voice/shared/BaseUrl.ts"
import { openSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { optionalKey } from "#adapters/voice/shared/modelFields.ts"
import { openPosted } from "#adapters/voice/shared/PostedPassages.ts"
import { openConnection } from "#adapters/voice/shared/ServiceConnection.ts"
import { askTranscription } from "./askTranscription.ts"
import { RealtimeSession, realtimeErrorIn } from "./RealtimeSession.ts"
import { tryBearerKey } from "./tryBearerKey.ts"

interface Server {
  readonly provider: string
  readonly title: string
  readonly baseUrl: string
  readonly model: string
}

/** The names, addresses and defaults are those that the existing product stores. */
const openai: Server = { provider: "openai", title: "OpenAI", baseUrl: "https://api.openai.com/v1", model: "gpt-4o-transcribe" }
const speaches: Server = {
  provider: "speaches",
  title: "Speaches",
  baseUrl: "http://localhost:8000/v1",
  model: "Systran/faster-distil-whisper-small.en"
}

/** Shorter than the time for which most servers and their proxies keep an idle connection. */
const IDLE_MILLIS = 20_000
/** After four seconds, the callee's turn is about to be over without the text. */
const PATIENCE_MILLIS = 4000

const commonFields = ({ baseUrl, model }: Server) => ({
  model: optionalText({ label: "Model", default: model }),
  language: optionalText({ label: "Language", description: "Such as de or auto. Empty: the agent's.", pattern: "^[A-Za-z0-9-]{0,20}$" }),
  base_url: baseUrlField(baseUrl),
  response_format: optionalText({
    label: "Response format",
    description: "Empty: verbose_json, which tells whether anybody spoke, or json for the models of OpenAI that lack it.",
    choices: ["json", "verbose_json"]
  })
})
const openaiFields = {
  ...commonFields(openai),
  api_key: token({ label: "API key" }),
  connection: optionalText({
    label: "Connection",
    description:
      "http posts each utterance, socket transcribes it while it is spoken. Empty: socket to OpenAI itself, http to other servers.",
    choices: ["http", "socket"]
  })
} as const
const speachesFields = { ...commonFields(speaches), api_key: optionalKey } as const

type Config = ConfigOf<typeof speachesFields>
type Open = SpeechToText["open"]

const openPosts = (config: Config, egress: Egress, patienceMillis: number): Open =>
  Effect.fnUntraced(function* (hints, emit) {
    const { api_key: apiKey, base_url, language, model, response_format } = config
    const url = new URL(`${base_url.replace(/\/+$/, "")}/audio/transcriptions`)
    const format = response_format !== "" ? response_format : model.startsWith("gpt-") ? "json" : "verbose_json"
    const connection = yield* openConnection(url, egress, IDLE_MILLIS)
    const transcribe = askTranscription(connection, { url, apiKey, model, language, format })
    return yield* openPosted({ transcribe, patienceMillis }, hints, emit)
  })

const openRealtime =
  ({ api_key: secret, base_url, language, model }: Config, egress: Egress, patienceMillis: number): Open =>
  (hints, emit) =>
    openSession(
      {
        url: socketUrl(base_url, "/realtime", { intent: "transcription" }),
        headers: { authorization: `Bearer ${secret}` },
        egress,
        secret,
        errorIn: (message) => realtimeErrorIn(message, secret)
      },
      emit,
      (socket) => new RealtimeSession(socket, emit, hints, { model, language, patienceMillis })
    )

const usesSocket = ({ base_url, connection }: ConfigOf<typeof openaiFields>): boolean =>
  connection === "socket" || (connection === "" && new URL(base_url).hostname === "api.openai.com")

const manifestOf = ({ provider, title }: Server) =>
  ({ contract: 1, kind: "stt", provider, title, description: `${title}, or any server with OpenAI's transcription interface.` }) as const
const named = ({ provider }: Server, { model }: Config, open: Open): SpeechToText => ({ provider, model, ownsTurns: false, open })

/** The recognizers with another limit, for tests. */
export const openaiRecognizers = (patienceMillis = PATIENCE_MILLIS): ReadonlyArray<RecognizerProvider> => [
  defineRecognizer({
    manifest: manifestOf(openai),
    fields: openaiFields,
    check: addressFaults,
    probe: tryBearerKey,
    recognizer: (config, { egress }) =>
      named(openai, config, (usesSocket(config) ? openRealtime : openPosts)(config, egress, patienceMillis))
  }),
  defineRecognizer({
    manifest: manifestOf(speaches),
    fields: speachesFields,
    check: addressFaults,
    probe: tryBearerKey,
    recognizer: (config, { egress }) => named(speaches, config, openPosts(config, egress, patienceMillis))
  })
]
