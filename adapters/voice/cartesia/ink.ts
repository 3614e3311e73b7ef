/** Cartesia's recognizers: https://docs.cartesia.ai/use-the-api/compare-stt-endpoints. Ink 2 decides when turns end; with Ink Whisper, the engine does. */
import { Effect } from "effect"
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { type ConfigOf, optionalText, token } from "#core/provider/Credential.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { AskedSession, type TextEar } from "#adapters/voice/shared/AskedSession.ts"
import { addressFaults, baseUrlField, socketUrl } from "#adapters/voice/shared/BaseUrl.ts"
import { openSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { misconfigured, refusedReply } from "#adapters/voice/shared/modelErrors.ts"
import { headersOf, tryCartesiaKey } from "./request.ts"
import { InkTurns } from "./InkTurns.ts"

const provider = "cartesia"
/** Of Ink 2: it ends a turn after this silence, however unsure it is. */
const TURN_END_MILLIS = 3000
/** How long its report may be under way. */
const REPORT_MILLIS = 1000
/** Of Ink Whisper: it answers even if there was nothing to transcribe. */
const patienceMillis = { unspoken: 1000, spoken: 2500 }
/** The service closes connections after some minutes without audio. */
const KEEP_ALIVE_MILLIS = 30_000
/** https://docs.cartesia.ai/use-the-api/stt/keyterms */
const [MOST_TERMS, MOST_CHARACTERS] = [100, 1200]

const fields = {
  model: optionalText({ label: "Model", default: "ink-whisper", placeholder: "ink-2", pattern: "^(ink[a-z0-9.-]*)?$" }),
  api_key: token({ label: "API key" }),
  language: optionalText({ label: "Language", description: "Such as de. Empty: the agent's.", pattern: "^[A-Za-z-]{0,20}$" }),
  base_url: baseUrlField("https://api.cartesia.ai")
} as const

type Config = ConfigOf<typeof fields>

const hasTurns = ({ model }: Config): boolean => model.startsWith("ink-2")

const termsOf = ({ keyterms, phrases }: RecognizerHints): ReadonlyArray<string> => {
  let left = MOST_CHARACTERS
  return [...new Set([...keyterms, ...phrases])].slice(0, MOST_TERMS).filter(({ length }) => (left -= length) >= 0)
}

/** ISO 639. */
const languageOf = ({ language }: Config, hints: RecognizerHints): string => {
  const isOpen = ["", "auto", "multi"].includes(language)
  return (isOpen ? hints.language : language).toLowerCase().replace(/-.*/, "")
}

const urlOf = (config: Config, hints: RecognizerHints): URL => {
  const { base_url, model } = config
  const common = { model, encoding: "pcm_mulaw", sample_rate: String(sampleRate), keyterm: termsOf(hints) }
  return hasTurns(config)
    ? socketUrl(base_url, "/stt/turns/websocket", { ...common, turn_end_timeout_ms: String(TURN_END_MILLIS) })
    : socketUrl(base_url, "/stt/websocket", { ...common, language: languageOf(config, hints) })
}

const hear = (message: unknown, ear: TextEar): void => {
  const type = textAt(message, "type")
  if (type === "flush_done") return ear.answered()
  if (type !== "transcript") return
  const text = textAt(message, "text") ?? ""
  const isFinal = at(message, "is_final") === true
  if (isFinal) ear.final(text)
  ear.partial(isFinal ? "" : text)
}

const errorIn = (message: unknown, secret: string): ModelError | undefined =>
  textAt(message, "type") === "error"
    ? refusedReply({ status: numberAt(message, "status_code") ?? 0 }, { code: textAt(message, "error_code") }, secret)
    : undefined

export const ink = defineRecognizer({
  manifest: {
    contract: 1,
    kind: "stt",
    provider,
    title: "Cartesia",
    description: "Ink, by Cartesia. Ink 2 also tells when callees have finished, and is for English only."
  },
  fields,
  check: addressFaults,
  probe: tryCartesiaKey,
  recognizer: (config, { egress }) => ({
    provider,
    model: config.model,
    ownsTurns: hasTurns(config),
    turnEndMillis: hasTurns(config) ? TURN_END_MILLIS + REPORT_MILLIS : undefined,
    open: (hints, emit) => {
      const { api_key } = config
      if (hasTurns(config) && languageOf(config, hints) !== "en") return Effect.fail(misconfigured(`${config.model} is for English only`))
      return openSession(
        {
          url: urlOf(config, hints),
          headers: headersOf(api_key),
          egress,
          secret: api_key,
          farewell: hasTurns(config) ? JSON.stringify({ type: "close" }) : "close",
          errorIn: (message) => errorIn(message, api_key)
        },
        emit,
        (socket) =>
          hasTurns(config)
            ? new InkTurns(socket, emit, TURN_END_MILLIS)
            : new AskedSession(socket, emit, {
                pieceOf: (audio) => audio,
                question: "finalize",
                quietMillis: KEEP_ALIVE_MILLIS,
                patienceMillis,
                hear
              })
      )
    }
  })
})
