/**
 * The speech interfaces of OpenAI, Deepgram, ElevenLabs and Cartesia on the loopback interface. Members and headers that a service does not document are
 * refused, in the service's own form.
 */
import type { IncomingMessage } from "node:http"
import { json, ModelEmulator, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { isObject } from "#test/emulators/shared/json.ts"
import { cartesiaEvent, cartesiaEvents, elevenlabsLine, halvesOf, speechOf } from "./timedSpeech.ts"

type Body = Readonly<Record<string, unknown>>
/** How the next speech ends, after its first half. */
type Ending = "breaks" | "hangs"

interface Service {
  readonly path: RegExp
  /** Whether the request carries the key. */
  readonly hasKey: (headers: IncomingMessage["headers"], key: string) => boolean
  readonly text: string
  readonly members: ReadonlyArray<string>
  /** The reply in two parts, and its content type. */
  readonly speech: (text: string) => { readonly contentType: string; readonly halves: readonly [string | Uint8Array, string | Uint8Array] }
  readonly refusal: (status: number, code: string, text: string) => object
  /** What else the request must have. */
  readonly isRight: (url: URL, body: Body) => boolean
}

const bare = (bytesPerSecond: number) => (text: string) => {
  const bytes = speechOf(text, bytesPerSecond)
  const half = Math.floor(bytes.length / 4) * 2
  return { contentType: "audio/basic", halves: [bytes.subarray(0, half), bytes.subarray(half)] } as const
}

const services: Readonly<Record<string, Service>> = {
  openai: {
    path: /^\/v1\/audio\/speech$/,
    hasKey: ({ authorization }, key) => authorization === `Bearer ${key}`,
    text: "input",
    members: ["model", "input", "voice", "response_format", "speed", "instructions"],
    speech: bare(48_000),
    refusal: (_, code, text) => ({ error: { message: `No: ${text}`, type: code, code } }),
    isRight: (_, { response_format }) => response_format === "pcm"
  },
  deepgram: {
    path: /^\/v1\/speak$/,
    hasKey: ({ authorization }, key) => authorization === `Token ${key}`,
    text: "text",
    members: ["text"],
    speech: bare(8000),
    refusal: (_, code, text) => ({ err_code: code, err_msg: `No: ${text}`, request_id: "1" }),
    isRight: ({ searchParams }) =>
      searchParams.get("encoding") === "mulaw" && searchParams.get("sample_rate") === "8000" && searchParams.get("container") === "none"
  },
  elevenlabs: {
    path: /^\/v1\/text-to-speech\/[\w%-]+\/stream\/with-timestamps$/,
    hasKey: (headers, key) => headers["xi-api-key"] === key,
    text: "text",
    members: ["text", "model_id", "voice_settings", "language_code"],
    speech: (text) => {
      const [first, rest] = halvesOf(text)
      return { contentType: "application/json", halves: [elevenlabsLine(first), elevenlabsLine(rest)] }
    },
    refusal: (_, code, text) => ({ detail: { status: code, message: `No: ${text}` } }),
    isRight: ({ searchParams }) => searchParams.get("output_format") === "ulaw_8000"
  },
  cartesia: {
    path: /^\/tts\/sse$/,
    hasKey: ({ authorization, ...headers }, key) =>
      (headers["x-api-key"] === key || authorization === `Bearer ${key}`) && headers["cartesia-version"] !== undefined,
    text: "transcript",
    members: [
      ...["model_id", "transcript", "voice", "language", "output_format", "generation_config"],
      ...["add_timestamps", "use_normalized_timestamps"]
    ],
    speech: (text) => {
      const [first, rest] = halvesOf(text)
      return { contentType: "text/event-stream", halves: [cartesiaEvents(first), cartesiaEvents(rest) + cartesiaEvent("done", {})] }
    },
    refusal: (status, code, text) => ({ title: code, message: `No: ${text}`, error_code: code, status_code: status }),
    isRight: (_, { output_format }) =>
      isObject(output_format) && output_format["encoding"] === "pcm_mulaw" && output_format["container"] === "raw"
  }
}

export class VoiceEmulator extends ModelEmulator<RawReply, Body> {
  readonly key = "sk-voice-0123456789"
  ending: Ending | undefined

  protected override replyTo(request: IncomingMessage, body: Body | undefined): RawReply {
    const scripted = this.next()
    if (scripted !== undefined) return scripted
    const url = new URL(request.url ?? "", this.origin)
    const service = Object.values(services).find(({ path }) => path.test(url.pathname))
    if (service === undefined || body === undefined) return json({}, 404)
    const text = body[service.text]
    const refused = (status: number, code: string) => json(service.refusal(status, code, String(text)), status)
    if (!service.hasKey(request.headers, this.key)) return refused(401, "invalid_api_key")
    const isKnown = Object.keys(body).every((name) => service.members.includes(name))
    if (typeof text !== "string" || !isKnown || !service.isRight(url, body)) return refused(400, "invalid_request")
    return replyWith(service.speech(text), this.#endingOfNext())
  }

  #endingOfNext(): Ending | undefined {
    const { ending } = this
    this.ending = undefined
    return ending
  }
}

const replyWith = ({ contentType, halves: [first, rest] }: ReturnType<Service["speech"]>, ending: Ending | undefined): RawReply => {
  if (ending === undefined) return { contentType, pieces: [first, rest] }
  return { contentType, pieces: [first], ending: ending === "hangs" ? "hang" : "reset" }
}
