/**
 * One end of the websocket between the dispatcher and a call node: JSON messages, and silence noticed. The messages of one turn of the event loop
 * leave together, as one array, because sending and reading a frame costs more than most messages. A message that nobody waits for leaves with the
 * next one that somebody does, in the order in which they were said.
 */
import { SILENT_MILLIS } from "./messages.ts"

/** More than this does not wait for the end of the turn: a frame must stay far below the longest one that the other end accepts. */
const MOST_WAITING = 1_048_576

/** How long a message that nobody waits for may wait for others. */
const PATIENT_MILLIS = 5

/** Close codes of websockets (RFC 6455). */
const GOING_AWAY = 1001

interface Socket {
  /** False if the message was dropped, because the other end is too far behind or gone. */
  readonly sendText: (message: string) => boolean
  readonly close: (code: number, reason: string) => void
}

interface Ends<In> {
  readonly onMessage: (message: In) => void
  /** Called once, when nothing more will come; not before the current step is over. */
  readonly onClose: () => void
}

export class NodeLink<In, Out> {
  readonly #socket: Socket
  readonly #ends: Ends<In>
  readonly #silence = setTimeout(() => this.close(), SILENT_MILLIS)
  readonly #flush = (): void => this.#sendWaiting()
  #isOpen = true
  /** It leaves at the end of this turn. */
  #isDue = false
  #patience: NodeJS.Timeout | undefined
  /** What is to be sent, in JSON and without the end of the array; empty if nothing is. */
  #waiting = ""

  constructor(socket: Socket, ends: Ends<In>) {
    this.#socket = socket
    this.#ends = ends
  }

  /** A message on a link that is closed is lost. `isPatient`: nobody waits for it. */
  send(message: Out, isPatient = false): void {
    if (!this.#isOpen) return
    this.#waiting += `${this.#waiting === "" ? "[" : ","}${JSON.stringify(message)}`
    if (this.#waiting.length > MOST_WAITING) return this.#sendWaiting()
    if (this.#isDue) return
    if (isPatient) this.#patience ??= setTimeout(this.#flush, PATIENT_MILLIS)
    else {
      this.#isDue = true
      setImmediate(this.#flush)
    }
  }

  /** The other end has sent this. */
  message(text: string): void {
    if (!this.#isOpen) return
    this.#silence.refresh()
    const messages = parsed<In>(text)
    if (messages === undefined) return this.close()
    for (const message of messages) if (this.#isOpen) this.#ends.onMessage(message)
  }

  /** Closes it, or takes note that it is closed. */
  close(): void {
    if (!this.#isOpen) return
    this.#sendWaiting()
    // It closes itself if too much waits to be sent.
    if (this.#isOpen) this.#shut()
  }

  #sendWaiting(): void {
    const text = this.#waiting
    this.#waiting = ""
    this.#isDue = false
    clearTimeout(this.#patience)
    this.#patience = undefined
    // Too much waits to be sent if the other end does not read.
    if (text !== "" && this.#isOpen && !this.#socket.sendText(`${text}]`)) this.#shut()
  }

  #shut(): void {
    this.#isOpen = false
    clearTimeout(this.#silence)
    this.#socket.close(GOING_AWAY, "")
    queueMicrotask(this.#ends.onClose)
  }
}

/** Undefined if it is nothing that the other end would say. */
const parsed = <In>(text: string): ReadonlyArray<In> | undefined => {
  try {
    const messages: unknown = JSON.parse(text)
    const isSpoken = Array.isArray(messages) && messages.length > 0 && messages.every((one) => one instanceof Object && "_tag" in one)
    // The cast holds because the other end has the same protocol, which it has proven before it is listened to.
    return isSpoken ? (messages as ReadonlyArray<In>) : undefined
  } catch {
    return undefined
  }
}
