/**
 * A hosted carrier's media socket: connects to the given address, sends what the callee says in frames of 20 ms, and plays what comes back into the
 * callees' log. `MediaWords` has the carrier's messages. Audio is in real time, whatever the emulator's time scale.
 */
import { WebSocket } from "ws"
import { frameBytes, Mouth } from "#test/emulators/ari/Sound.ts"
import type { Callee } from "./Callee.ts"
import { type CalleeLog, preciseNow } from "./CalleeLog.ts"
import { everyTick } from "./everyTick.ts"
import { isObject, type Json, jsonIn } from "./json.ts"

/** The code of a normal close, which the other side repeats to confirm it. */
const NORMAL = 1000
const mostLateTicks = 25

/** What the engine may send. */
export type Said =
  | { readonly _tag: "Audio"; readonly audio: Buffer }
  | { readonly _tag: "Clear" }
  | { readonly _tag: "Mark"; readonly name: string }
  | { readonly _tag: "Keys"; readonly digits: string }

/** A carrier's messages: an object is sent as JSON, bytes are sent as they are. Undefined: the carrier has no such message. */
export interface MediaWords {
  /** Sent right after the connection is established. */
  readonly connected?: () => object
  readonly start?: () => object
  readonly audio: (frame: Buffer, chunk: number) => object | Buffer
  readonly press?: (digit: string) => object
  readonly played?: (name: string) => object
  /** Sent when audio was cleared; `marks` are those that will not be reached. */
  readonly cleared?: (marks: ReadonlyArray<string>) => ReadonlyArray<object>
  readonly stop?: () => object
  /** Undefined: the carrier would not understand it. */
  readonly read: (data: Buffer, isBinary: boolean) => Said | undefined
}

export interface MediaLegOptions {
  readonly id: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** The subprotocol that the other side requires. */
  readonly protocol?: string
  readonly callee: Callee
  readonly log: CalleeLog
  readonly words: MediaWords
  /** The time between two keys. */
  readonly pressMillis?: number
  readonly onPress?: (digit: string) => void
  /** The callee hears a word. */
  readonly onHeard?: () => void
  /** All of the callee's keys have been pressed, or can no longer be pressed. */
  readonly onPressedAll?: () => void
  /** The engine has refused the connection, or ended it. */
  readonly onLost: (how: { readonly status?: number; readonly code?: number }) => void
}

type Queued = Buffer | { readonly mark: string }

/** An address where nobody listens: the engine under test may have given no address, or an unusable one. */
const nowhere = "ws://127.0.0.1:9/"

export class MediaLeg {
  readonly #options: MediaLegOptions
  readonly #socket: WebSocket
  readonly #queue: Array<Queued> = []
  #isStarted = false
  #isOver = false
  #chunk = 0
  readonly #mouth = new Mouth()
  #stopTicks = () => {}
  readonly #press = (digit: string): void => this.press(digit)
  #wantsStart = false

  constructor(options: MediaLegOptions) {
    this.#options = options
    const { headers = {}, id, log, protocol, url } = options
    log.mediaUrls.set(id, url)
    const socket = new WebSocket(/^wss?:/.test(url) && URL.canParse(url) ? url : nowhere, protocol === undefined ? [] : [protocol], {
      headers,
      perMessageDeflate: false,
      handshakeTimeout: 60_000
    })
    this.#socket = socket
    socket.on("unexpected-response", (request, { statusCode = 0 }) => {
      request.destroy()
      this.#lost({ status: statusCode })
    })
    socket.on("error", () => socket.terminate())
    socket.on("open", () => {
      const hello = options.words.connected?.()
      if (hello !== undefined) this.say(hello)
      if (this.#wantsStart) this.start()
    })
    socket.on("message", (data, isBinary) => {
      // With the socket's default binaryType, one message is one Buffer.
      this.#hear(data as Buffer, isBinary)
    })
    socket.on("close", (code) => {
      const { id, log } = this.#options
      if (this.#isOver && code === NORMAL) log.audioEnds.set(id, preciseNow())
      this.#lost({ code })
    })
  }

  isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** The callee has answered: audio flows from now on. */
  start(): void {
    this.#wantsStart = true
    if (this.#isStarted || !this.isOpen()) return
    this.#isStarted = true
    const started = this.#options.words.start?.()
    if (started !== undefined) this.say(started)
    const { callee, id, log, pressMillis = 100 } = this.#options
    const lose = (ticks: number) => void (log.audio(id).lost += ticks)
    this.#stopTicks = everyTick(mostLateTicks, () => this.#speak(this.#play()), lose)
    if (callee.kind === "answers") this.#pressAll(callee.presses ?? "", performance.now(), pressMillis)
  }

  /** Presses the keys with one timer after the other: of timers that are due in the same millisecond, any may fire first. */
  #pressAll(digits: string, at: number, pressMillis: number): void {
    const [digit, ...rest] = digits
    if (digit === undefined) return this.#options.onPressedAll?.()
    const dueAt = at + pressMillis
    const press = () => {
      this.press(digit)
      this.#pressAll(rest.join(""), dueAt, pressMillis)
    }
    setTimeout(press, dueAt - performance.now()).unref()
  }

  press(digit: string): void {
    const pressed = this.#options.words.press?.(digit)
    if (this.#isOver || pressed === undefined) return
    this.say(pressed)
    this.#options.onPress?.(digit)
  }

  /** Sends anything, even garbage. */
  say(message: object | Buffer | string): void {
    if (!this.isOpen()) return
    const isRaw = typeof message === "string" || Buffer.isBuffer(message)
    this.#socket.send(isRaw ? message : JSON.stringify(message))
  }

  /** Ends the stream as the carrier does when the call has ended. */
  end(): void {
    if (this.#isOver) return
    this.#halt()
    const stop = this.#isStarted ? this.#options.words.stop?.() : undefined
    if (stop !== undefined) this.say(stop)
    this.#socket.close(NORMAL)
  }

  /** Breaks the connection. */
  drop(): void {
    this.#halt()
    this.#socket.terminate()
  }

  #halt(): void {
    this.#isOver = true
    this.#options.onPressedAll?.()
    this.#stopTicks()
  }

  #lost(how: Parameters<MediaLegOptions["onLost"]>[0]): void {
    if (this.#isOver) return
    this.#halt()
    this.#options.onLost(how)
  }

  #hear(data: Buffer, isBinary: boolean): void {
    const { id, log, words } = this.#options
    const said = this.#isStarted ? words.read(data, isBinary) : undefined
    if (said === undefined) return
    if (said._tag === "Keys") return log.press(id, said.digits)
    if (said._tag === "Mark") return void this.#queue.push({ mark: said.name })
    if (said._tag === "Clear") return this.#clear()
    const { audio } = said
    const count = log.audio(id)
    count.receivedBytes += audio.length
    for (let from = 0; from + frameBytes <= audio.length; from += frameBytes) {
      this.#queue.push(audio.subarray(from, from + frameBytes))
      count.received += 1
    }
  }

  #clear(): void {
    const { id, log, words } = this.#options
    log.audio(id).flushes += 1
    const names = this.#queue.splice(0).flatMap((item) => (Buffer.isBuffer(item) ? [] : [item.mark]))
    for (const message of words.cleared?.(names) ?? []) this.say(message)
  }

  /** The frame that the callee hears. */
  #play(): Buffer | undefined {
    const { id, log, words } = this.#options
    let item = this.#queue.shift()
    while (item !== undefined && !Buffer.isBuffer(item)) {
      const played = words.played?.(item.mark)
      if (played !== undefined) this.say(played)
      item = this.#queue.shift()
    }
    log.play(id, item)
    if (log.audio(id).spokenAt !== undefined) this.#options.onHeard?.()
    return item
  }

  #speak(heard: Buffer | undefined): void {
    const { callee, id, log, words } = this.#options
    if (callee.kind !== "answers") return
    const talker = log.talker(id, this.#press)
    const frame = talker === undefined ? this.#mouth.next(callee.sound) : talker.next(heard)
    if (frame === undefined) return
    this.say(words.audio(frame, ++this.#chunk))
    log.audio(id).sent += 1
  }
}

/** The members of a JSON message; undefined: it is not one. */
export const parsed = (data: Buffer, isBinary: boolean): Json | undefined => {
  const value = isBinary ? undefined : jsonIn(data.toString())
  return isObject(value) ? value : undefined
}

/** Audio that is well-formed base64. */
export const audioIn = (payload: unknown): Said | undefined => {
  if (typeof payload !== "string") return undefined
  const audio = Buffer.from(payload, "base64")
  return audio.toString("base64") === payload ? { _tag: "Audio", audio } : undefined
}

/** What Twilio, and carriers that follow it, understand. */
export const saidIn = ({ event, mark, media }: Json): Said | undefined => {
  if (event === "clear") return { _tag: "Clear" }
  if (event === "media") return audioIn(isObject(media) ? media["payload"] : undefined)
  const name = isObject(mark) ? mark["name"] : undefined
  return event === "mark" && typeof name === "string" ? { _tag: "Mark", name } : undefined
}
