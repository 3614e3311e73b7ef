/** The queue of audio for the callee: frames and marks in order, at most 1000 frames; tells the sender when it fills up. */
import { frameBytes } from "./Sound.ts"

export type Command = { readonly command: string; readonly id: string }

const mostFrames = 1000
const xoffLevel = 900
const xonLevel = 800

type Say = (event: string, details?: Readonly<Record<string, string | number | boolean>>) => void
type Mark = { readonly event: string; readonly id: string }

export class MediaQueue {
  #say: Say
  #items: Array<Buffer | Mark> = []
  #frames = 0
  #leftover = Buffer.alloc(0)
  #buffering = false
  #paused = false
  #full = false
  #reportDrained = false

  constructor(say: Say) {
    this.#say = say
  }

  /** Returns how many frames were dropped. A partial frame is kept only while buffering. */
  add(audio: Buffer): number {
    const bytes = this.#leftover.length === 0 ? audio : Buffer.concat([this.#leftover, audio])
    const whole = bytes.length - (bytes.length % frameBytes)
    this.#leftover = this.#buffering ? Buffer.from(bytes.subarray(whole)) : Buffer.alloc(0)
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
    if (this.#paused) return undefined
    if (this.#full && this.#frames < xonLevel) {
      this.#full = false
      this.#say("MEDIA_XON")
    }
    let item = this.#items.shift()
    if (item === undefined && this.#reportDrained) {
      this.#reportDrained = false
      this.#say("QUEUE_DRAINED")
    }
    while (item !== undefined && !Buffer.isBuffer(item)) {
      this.#say(item.event, { correlation_id: item.id })
      item = this.#items.shift()
    }
    if (item !== undefined) this.#frames -= 1
    return item
  }

  /** Returns false when there is no such command. */
  obey(command: string, id: string): boolean {
    switch (command) {
      case "FLUSH_MEDIA":
        this.#items = []
        this.#frames = 0
        this.#leftover = Buffer.alloc(0)
        this.#buffering = false
        return true
      case "PAUSE_MEDIA":
        this.#paused = true
        return true
      case "CONTINUE_MEDIA":
        this.#paused = false
        return true
      case "START_MEDIA_BUFFERING":
        this.#buffering = true
        return true
      case "STOP_MEDIA_BUFFERING":
        this.#stopBuffering(id)
        return true
      case "MARK_MEDIA":
        this.#mark({ event: "MEDIA_MARK_PROCESSED", id })
        return true
      case "REPORT_QUEUE_DRAINED":
        this.#reportDrained = true
        return true
      case "GET_STATUS":
        this.#say("STATUS", {
          queue_length: this.#frames,
          xon_level: xonLevel,
          xoff_level: xoffLevel,
          queue_full: this.#full,
          bulk_media: this.#buffering,
          media_paused: this.#paused
        })
        return true
      default:
        return false
    }
  }

  // A partial frame is padded with silence.
  #stopBuffering(id: string): void {
    this.#buffering = false
    if (this.#leftover.length > 0) this.add(Buffer.alloc(frameBytes - this.#leftover.length, 0xff))
    this.#mark({ event: "MEDIA_BUFFERING_COMPLETED", id })
  }

  /** Beyond the limit, marks are dropped as frames are. */
  #mark(mark: Mark): void {
    if (this.#frames < mostFrames) this.#items.push(mark)
  }
}
