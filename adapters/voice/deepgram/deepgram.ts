/** Deepgram's recognizers: https://developers.deepgram.com/docs. A server of the operator's own speaks the same at another address. */
import { ModelError } from "#core/model/LanguageModel.ts"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { type ConfigOf, optionalText, token } from "#core/provider/Credential.ts"
import { matchAt, textAt } from "#adapters/shared/Json.ts"
import { addressFaults, baseUrlField, socketUrl } from "#adapters/voice/shared/BaseUrl.ts"
import { openSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { broken } from "#adapters/voice/shared/modelErrors.ts"
import { FluxSession } from "./Flux.ts"
import { NovaSession } from "./Nova.ts"
import { tryDeepgramKey } from "./tryDeepgramKey.ts"

const provider = "deepgram"
/** Of Nova: a pause for so long ends a result, not a turn: https://developers.deepgram.com/docs/endpointing */
const ENDPOINTING_MILLIS = 100
/** Of Flux: how sure it is that a turn is over, and how sure for an early sign: https://developers.deepgram.com/docs/flux/configuration */
const [SURE, EARLY] = ["0.7", "0.5"]
/** Of Flux: it ends a turn after this silence, however unsure it is. */
const TURN_END_MILLIS = 3000
/** How long its report may be under way. */
const REPORT_MILLIS = 1000
/** It closes a connection on which it hears nothing for ten seconds. */
const KEEP_ALIVE_MILLIS = 4000
/** Deepgram takes 500 tokens of key terms: https://developers.deepgram.com/docs/keyterm */
const MOST_TERMS = 100

const fields = {
  model: optionalText({ label: "Model", default: "nova-3-general", placeholder: "flux-general-en", pattern: "^((nova|flux)[a-z0-9-]*)?$" }),
  api_key: token({ label: "API key" }),
  language: optionalText({ label: "Language", description: "Such as de or multi. Empty: the agent's.", pattern: "^[A-Za-z0-9-]{0,20}$" }),
  base_url: baseUrlField("https://api.deepgram.com")
} as const

type Config = ConfigOf<typeof fields>

const isFlux = (model: string): boolean => model.startsWith("flux")
const termsOf = ({ keyterms, phrases }: RecognizerHints): ReadonlyArray<string> =>
  [...new Set([...keyterms, ...phrases])].slice(0, MOST_TERMS)

/** The path and the query, without the terms. */
const requestOf = ({ language, model }: Config, hints: RecognizerHints): readonly [string, Readonly<Record<string, string>>] => {
  const spoken = language === "" ? hints.language : language
  const common = { model, encoding: "linear16", sample_rate: "8000" }
  if (isFlux(model)) {
    const hint = model.endsWith("-multi") && spoken !== "multi" ? { language_hint: spoken } : {}
    const turns = { eot_threshold: SURE, eager_eot_threshold: EARLY, eot_timeout_ms: String(TURN_END_MILLIS) }
    return ["/v2/listen", { ...common, ...turns, ...hint }]
  }
  const results = { channels: "1", interim_results: "true", smart_format: "true", endpointing: String(ENDPOINTING_MILLIS) }
  return ["/v1/listen", { ...common, ...results, language: spoken }]
}

const urlOf = (config: Config, hints: RecognizerHints): URL => {
  const [path, query] = requestOf(config, hints)
  // Older models know the terms by another name.
  const name = /^nova-[12]/.test(config.model) ? "keywords" : "keyterm"
  return socketUrl(config.base_url, path, { ...query, [name]: termsOf(hints) })
}

/** The codes in the reasons of closed connections: https://developers.deepgram.com/docs/stt-troubleshooting-websocket-data-and-net-errors */
const meaning = (code: number, reason: string): ModelError | undefined => {
  const [known] = /\b(DATA|NET|BIG)-\d{4}\b/.exec(reason) ?? []
  if (known === undefined) return undefined
  const isOurs = !known.startsWith("NET")
  return new ModelError({ reason: isOurs ? "refused" : "broken", isRetryable: !isOurs, message: `closed with ${code} ${known}` })
}

/** An error that Flux reports. */
const errorIn = (message: unknown): ModelError | undefined =>
  textAt(message, "type") === "Error"
    ? broken(`the service reports ${matchAt(message, /^[A-Z_]{1,60}$/, "code") ?? "an error"}`)
    : undefined

/** The recognizers with another interval, for tests. */
export const deepgramWith = (keepAliveMillis = KEEP_ALIVE_MILLIS) =>
  defineRecognizer({
    manifest: {
      contract: 1,
      kind: "stt",
      provider,
      title: "Deepgram",
      description: "Nova, which transcribes while callees speak, and Flux, which also tells when they have finished."
    },
    fields,
    check: addressFaults,
    probe: tryDeepgramKey,
    recognizer: (config, { egress }) => ({
      provider,
      model: config.model,
      ownsTurns: isFlux(config.model),
      turnEndMillis: isFlux(config.model) ? TURN_END_MILLIS + REPORT_MILLIS : undefined,
      open: (hints, emit) =>
        openSession(
          {
            url: urlOf(config, hints),
            headers: { authorization: `Token ${config.api_key}` },
            egress,
            secret: config.api_key,
            farewell: JSON.stringify({ type: "CloseStream" }),
            meaning,
            errorIn
          },
          emit,
          (socket) =>
            isFlux(config.model)
              ? new FluxSession(socket, emit, { hints, termsOf, keepAliveMillis })
              : new NovaSession(socket, emit, keepAliveMillis)
        )
    })
  })
