/** The queue of audio for the callee: frames and marks in order, at most 1000 frames; tells the sender when it fills up. */
import { frameBytes } from "./Sound.ts"

const mostFrames = 1000
const xoffLevel = 900
const xonLevel = 800

type Say = (event: string, details?: Readonly<Record<string, string | number | boolean>>) => void
type Mark = { readonly id: string }

export class MediaQueue {
  #say: Say
  #items: Array<Buffer | Mark> = []
  #frames = 0
  #full = false

  constructor(say: Say) {
    this.#say = say
  }

  /** Returns how many frames were dropped. A partial frame is lost. */
  add(bytes: Buffer): number {
    const whole = bytes.length - (bytes.length % frameBytes)
    let dropped = 0
    for (let at = 0; at < whole; at += frameBytes) {
      if (this.#frames >= mostFrames) {
        dropped += 1
        continue
      }
      this.#items.push(bytes.subarray(at, at + frameBytes))
      this.#frames += 1
      if (this.#frames < xoffLevel || this.#full) continue
      this.#full = true
      this.#say("MEDIA_XOFF")
    }
    return dropped
  }

  /** Takes the next frame to play, every 20 ms. */
  take(): Buffer | undefined {
    if (this.#full && this.#frames < xonLevel) {
      this.#full = false
      this.#say("MEDIA_XON")
    }
    let item = this.#items.shift()
    while (item !== undefined && !Buffer.isBuffer(item)) {
      this.#say("MEDIA_MARK_PROCESSED", { correlation_id: item.id })
      item = this.#items.shift()
    }
    if (item !== undefined) this.#frames -= 1
    return item
  }

  /** Returns false when there is no such command. Beyond the limit, marks are dropped as frames are. */
  obey(command: string, id: string): boolean {
    if (command === "FLUSH_MEDIA") {
      this.#items = []
      this.#frames = 0
      return true
    }
    if (command === "GET_STATUS") {
      this.#say("STATUS", { queue_length: this.#frames, queue_full: this.#full })
      return true
    }
    if (command !== "MARK_MEDIA") return false
    if (this.#frames < mostFrames) this.#items.push({ id })
    return true
  }
}
