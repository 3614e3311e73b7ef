/**
 * OpenAI's transcription, over HTTP and over its realtime socket. It understands `speech`, and invents what Whisper invents for everything else. Members that the
 * service does not document are refused.
 */
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { json, ModelEmulator, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { MarkedSpeech } from "#test/emulators/shared/MarkedSpeech.ts"
import { errorBody } from "./completions.ts"
import { RealtimeConnection } from "./RealtimeConnection.ts"

interface Form {
  readonly members: Readonly<Record<string, string>>
  readonly file: Buffer
}

const known = ["model", "language", "prompt", "response_format", "temperature"]
const invention = "Thank you for watching."
const headerBytes = 44
const leastDataBytes = 16_000

export class TranscriptionEmulator extends ModelEmulator<RawReply, Form> {
  readonly key = "sk-transcribe-0123456789"
  readonly speech = new MarkedSpeech()
  readonly calls: Array<RealtimeConnection> = []
  /** Nothing is answered any more. */
  isMute = false
  readonly #upgrades = new WebSocketServer({ noServer: true })

  get url(): string {
    return `${this.origin}/v1`
  }

  /** What was said in PCM16. */
  readonly heard = (samples: Int16Array): string => this.speech.textsIn(samples) || invention

  protected override async bodyIn(bytes: Buffer, { headers }: IncomingMessage): Promise<Form | undefined> {
    const form = await new Response(bytes, { headers: { "content-type": headers["content-type"] ?? "" } }).formData()
    const file = form.get("file")
    if (!(file instanceof File)) return undefined
    const texts = [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))
    return { members: Object.fromEntries(texts), file: Buffer.from(await file.arrayBuffer()) }
  }

  protected override replyTo({ headers, url }: IncomingMessage, form: Form | undefined): RawReply {
    const scripted = this.next()
    if (scripted !== undefined) return scripted
    if (this.isMute) return { pieces: [], ending: "hang", contentType: "application/json" }
    if (headers.authorization !== `Bearer ${this.key}`) return json(errorBody("No.", "invalid_request_error", "invalid_api_key"), 401)
    if (url !== "/v1/audio/transcriptions") return json(errorBody("Invalid URL", "invalid_request_error"), 404)
    const wrong = form === undefined ? "the form has no file" : whyRefused(form)
    if (form === undefined || wrong !== undefined) return json(errorBody(String(wrong), "invalid_request_error"), 400)
    const text = this.heard(samplesIn(form.file))
    const isVerbose = form.members["response_format"] === "verbose_json"
    return json(isVerbose ? { text, segments: [{ id: 0, text: ` ${text}`, avg_logprob: -0.2, no_speech_prob: 0.1 }] } : { text })
  }

  protected override upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.url?.startsWith("/v1/realtime?") !== true || request.headers.authorization !== `Bearer ${this.key}`) {
      const body = JSON.stringify(errorBody("No.", "invalid_request_error", "invalid_api_key"))
      socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
      return
    }
    this.#upgrades.handleUpgrade(request, socket, head, (opened) => {
      this.calls.push(new RealtimeConnection(opened, this.heard, () => this.isMute))
    })
  }
}

const samplesIn = (wav: Buffer): Int16Array => new Int16Array(wav.buffer.slice(wav.byteOffset + headerBytes, wav.byteOffset + wav.length))

/** PCM, one channel, 8 kHz, 16 bits. */
const isPhoneWav = (wav: Buffer): boolean =>
  wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 16) === "RIFFWAVEfmt " &&
  [wav.readUInt16LE(20), wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)].join() === "1,1,8000,16" &&
  wav.readUInt32LE(4) === wav.length - 8 &&
  wav.readUInt32LE(40) === wav.length - headerBytes

const whyRefused = ({ file, members }: Form): string | undefined => {
  const { language = "en", model = "", response_format: format = "json" } = members
  const unknown = Object.keys(members).find((name) => !known.includes(name))
  if (unknown !== undefined) return `Unknown member ${unknown}`
  if (!isPhoneWav(file)) return "The audio file could not be decoded or its format is not supported."
  if (file.length - headerBytes < leastDataBytes) return "Whisper would invent words for so little."
  if (!/^[a-z]{2}$/.test(language)) return "Language code is not supported."
  const formats = model.startsWith("gpt-") ? ["json"] : ["json", "verbose_json"]
  return formats.includes(format) ? undefined : `response_format '${format}' is not compatible with model '${model}'`
}
