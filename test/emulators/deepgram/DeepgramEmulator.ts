/**
 * Deepgram's `/v1/listen` (Nova) and `/v2/listen` (Flux) on the loopback interface. It transcribes `speech`, refuses what the service would, and has the
 * faults that its users report.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { MarkedSpeech } from "#test/emulators/shared/MarkedSpeech.ts"
import { localPort } from "#test/support/localPort.ts"

const frameBytes = 320
const frameSeconds = 0.02
/** Silence after which a result is final, as the adapter asks for in `endpointing`. */
const endpointFrames = 5

interface Listening {
  readonly query: URLSearchParams
  readonly authorization: string
  /** The text messages, in order. */
  readonly said: Array<string>
  frames: number
  closedWith: number | undefined
}

export class DeepgramEmulator {
  readonly key = "dg-0123456789abcdef"
  readonly speech = new MarkedSpeech()
  readonly connections: Array<Listening> = []
  /** Whether `Finalize` is answered. */
  answersFinalize = true
  /** Final results come in two parts. */
  splits = false
  /** No results any more. */
  isMute = false
  /** The refusal of the next connections. */
  refusal: { readonly status: number; readonly body: object } | undefined
  readonly #http = createServer((_, response) => response.writeHead(404).end())
  readonly #sockets = new WebSocketServer({ noServer: true })
  readonly #open = new Set<WebSocket>()
  #port = 0

  async listen(): Promise<this> {
    this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
    this.#port = await localPort(this.#http)
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Flux reports a fatal error on all connections. */
  reportError(code: string): void {
    for (const socket of this.#open) socket.send(JSON.stringify({ type: "Error", code, description: "secret words", sequence_id: 9 }))
  }

  /** Closes all connections as the service does, with a code and a reason. */
  closeAll(code: number, reason: string): void {
    for (const socket of this.#open) socket.close(code, reason)
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.terminate()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "", this.url)
    const { authorization = "" } = request.headers
    const refusal = this.refusal ?? refusalOf(url, authorization, this.key)
    if (refusal !== undefined) {
      const body = JSON.stringify(refusal.body)
      socket.end(`HTTP/1.1 ${refusal.status} No\r\ndg-error: refused\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#hear(opened, url.searchParams, authorization))
  }

  #hear(socket: WebSocket, query: URLSearchParams, authorization: string): void {
    const listening: Listening = { query, authorization, said: [], frames: 0, closedWith: undefined }
    this.connections.push(listening)
    this.#open.add(socket)
    const tell = (message: object) => {
      if (!this.isMute) socket.send(JSON.stringify(message))
    }
    const ear = query.has("eot_threshold")
      ? new TurnEar(this.speech, tell)
      : new Ear(this.speech, query.get("interim_results") === "true", (result) => {
          for (const part of this.splits ? halves(result) : [result]) tell(messageOf(part))
        })
    socket.on("close", (code) => {
      this.#open.delete(socket)
      listening.closedWith = code
    })
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        listening.frames += data.length / frameBytes
        return ear.hear(data)
      }
      listening.said.push(data.toString())
      const { type } = (jsonIn(data.toString()) ?? {}) as { readonly type?: string }
      if ((type === "Finalize" || type === "ForceEndTurn") && this.answersFinalize) ear.finish(true)
      if (type === "Configure") tell({ type: "ConfigureSuccess", thresholds: {}, keyterms: [], sequence_id: 0 })
      if (type === "CloseStream") socket.close(1000)
    })
  }
}

const refusalOf = ({ pathname, searchParams }: URL, authorization: string, key: string) => {
  const fails = (status: number, err_code: string) => ({ status, body: { err_code, err_msg: `No: ${authorization}`, request_id: "1" } })
  if (pathname !== (searchParams.get("model")?.startsWith("flux") === true ? "/v2/listen" : "/v1/listen")) return fails(404, "NOT_FOUND")
  if (authorization !== `Token ${key}`) return fails(401, "INVALID_AUTH")
  const isKnown = searchParams.get("encoding") === "linear16" && searchParams.get("sample_rate") === "8000"
  return isKnown && searchParams.get("language") !== "tlh" ? undefined : fails(400, "Bad Request")
}

interface Result {
  readonly text: string
  readonly from: number
  readonly until: number
  readonly isFinal: boolean
  readonly isForced: boolean
}

const halves = (result: Result): ReadonlyArray<Result> => {
  const [first = "", ...rest] = result.text.split(" ")
  if (!result.isFinal || rest.length === 0) return [result]
  return [
    { ...result, text: first, isForced: false },
    { ...result, text: rest.join(" ") }
  ]
}

const messageOf = ({ from, isFinal, isForced, text, until }: Result) => ({
  type: "Results",
  channel_index: [0, 1],
  start: from,
  duration: until - from,
  is_final: isFinal,
  speech_final: isFinal && !isForced,
  ...(isForced ? { from_finalize: true } : {}),
  channel: {
    alternatives: [
      {
        transcript: text,
        confidence: text === "" ? 0 : 0.98,
        words: text === "" ? [] : [{ word: text, start: from, end: until, confidence: 0.98 }]
      }
    ]
  }
})

const framesIn = (data: Buffer): ReadonlyArray<Int16Array> =>
  Array.from({ length: Math.floor(data.length / frameBytes) }, (_, index) => {
    const from = data.byteOffset + index * frameBytes
    return new Int16Array(data.buffer.slice(from, from + frameBytes))
  })

/** Finds the texts in the audio of one connection. */
class Ear {
  readonly #speech: MarkedSpeech
  readonly #hasInterim: boolean
  readonly #tell: (result: Result) => void
  #frames = 0
  #texts: Array<string> = []
  #from = 0
  #until = 0
  #hasNew = false

  constructor(speech: MarkedSpeech, hasInterim: boolean, tell: (result: Result) => void) {
    this.#speech = speech
    this.#hasInterim = hasInterim
    this.#tell = tell
  }

  hear(data: Buffer): void {
    this.#hasNew = true
    for (const samples of framesIn(data)) this.#frame(samples)
  }

  #frame(samples: Int16Array): void {
    const text = this.#speech.textIn(samples)
    this.#frames++
    if (text === undefined) {
      if (this.#texts.length > 0 && this.#frames * frameSeconds - this.#until >= endpointFrames * frameSeconds) this.finish(false)
      return
    }
    if (this.#texts.length === 0) this.#from = (this.#frames - 1) * frameSeconds
    this.#until = this.#frames * frameSeconds
    if (this.#texts.at(-1) === text) return
    this.#texts.push(text)
    if (this.#hasInterim) this.#tell({ text: this.#texts.join(" "), from: this.#from, until: this.#until, isFinal: false, isForced: false })
  }

  /** As the service does, it answers `Finalize` only if it has been sent audio since. */
  finish(isForced: boolean): void {
    if (isForced && !this.#hasNew) return
    if (isForced) this.#hasNew = false
    const now = this.#frames * frameSeconds
    const isHeard = this.#texts.length > 0
    this.#tell({
      text: this.#texts.join(" "),
      from: isHeard ? this.#from : now,
      until: isHeard ? this.#until : now,
      isFinal: true,
      isForced
    })
    this.#texts = []
  }
}

/** Silence after which Flux expects the end of a turn, and is sure of it. */
const [eagerFrames, sureFrames] = [5, 13]

/** Finds the turns in the audio of one connection. */
class TurnEar {
  readonly #speech: MarkedSpeech
  readonly #tell: (message: object) => void
  #texts: Array<string> = []
  #silence = 0
  #turn = 0
  #messages = 0

  constructor(speech: MarkedSpeech, tell: (message: object) => void) {
    this.#speech = speech
    this.#tell = tell
    this.#send("Connected", { request_id: "1" })
  }

  hear(data: Buffer): void {
    for (const samples of framesIn(data)) this.#frame(samples)
  }

  #frame(samples: Int16Array): void {
    const text = this.#speech.textIn(samples)
    if (text === undefined) {
      this.#silence++
      if (this.#texts.length > 0 && this.#silence === eagerFrames) this.#event("EagerEndOfTurn")
      if (this.#texts.length > 0 && this.#silence === sureFrames) this.finish()
      return
    }
    if (this.#texts.length > 0 && this.#silence >= eagerFrames) this.#event("TurnResumed")
    this.#silence = 0
    if (this.#texts.at(-1) === text) return
    this.#texts.push(text)
    this.#event(this.#texts.length === 1 ? "StartOfTurn" : "Update")
  }

  /** A turn in which nothing was said does not end. */
  finish(): void {
    if (this.#texts.length === 0) return
    this.#event("EndOfTurn")
    this.#texts = []
    this.#turn++
  }

  #event(event: string): void {
    this.#send("TurnInfo", { event, turn_index: this.#turn, transcript: this.#texts.join(" "), words: [], end_of_turn_confidence: 0.8 })
  }

  #send(type: string, members: object): void {
    this.#tell({ type, ...members, sequence_id: this.#messages++ })
  }
}
