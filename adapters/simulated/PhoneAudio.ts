/** The audio between the engine and a simulated phone, which plays what it is sent in real time, one frame after the other. */
import { frameMillis, frameSize } from "#core/audio/Mulaw.ts"
import { levelOfCodes } from "#core/audio/PcmFrame.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { MediaEar } from "#adapters/shared/MediaEar.ts"
import type { Talker } from "./Talker.ts"

/** Two seconds wait for being played at most, and so much is made up for after a stall of the process. */
const MOST_FRAMES = 100
/** More than a conversation ever has. */
const MOST_MARKS = 64
/** Root mean square. Agents are louder, and the noise with which some fill their pauses is not. */
const SPEECH_LEVEL = 300

interface Mark {
  readonly name: string
  /** How many frames had been sent before it. */
  readonly after: number
}

/** Gets every frame that is played. `isSpeech`: the agent speaks in it. The frame's memory is reused. */
type OnPlayed = (frame: Uint8Array, isSpeech: boolean, now: SteadyMillis) => void

export class PhoneAudio {
  readonly stream: MediaStream
  readonly #ear = new MediaEar()
  readonly #talker: Talker
  readonly #onPlayed: OnPlayed
  /** A ring: frame number n is at n modulo `MOST_FRAMES`. */
  readonly #frames = new Uint8Array(MOST_FRAMES * frameSize)
  #sent = 0
  #played = 0
  #marks: Array<Mark> = []
  /** When the next frame is due. */
  dueAt: SteadyMillis

  constructor(now: SteadyMillis, talker: Talker, onPlayed: OnPlayed) {
    this.dueAt = now + frameMillis
    this.#talker = talker
    this.#onPlayed = onPlayed
    this.stream = {
      send: (frame) => this.#send(frame),
      // What was not sent is not missed: the phone plays silence meanwhile.
      skip: () => {},
      clear: () => this.#clear(),
      mark: (name) => this.#mark(name),
      listen: (listener) => this.#ear.listen(listener)
    }
  }

  /** Plays and says what is due. */
  run(now: SteadyMillis): void {
    if (now < this.dueAt) return
    const due = Math.floor((now - this.dueAt) / frameMillis) + 1
    this.dueAt += due * frameMillis
    for (let left = Math.min(due, MOST_FRAMES); left > 0 && this.#ear.isOpen(); left--) this.#play(now)
  }

  close(how: MediaEnd, why: string): void {
    this.#marks = []
    this.#ear.close(how, why)
  }

  #play(now: SteadyMillis): void {
    let isSpeech = false
    if (this.#played < this.#sent) {
      const at = (this.#played % MOST_FRAMES) * frameSize
      const frame = this.#frames.subarray(at, at + frameSize)
      this.#played += 1
      isSpeech = levelOfCodes(frame) >= SPEECH_LEVEL
      this.#onPlayed(frame, isSpeech, now)
    }
    this.#ear.hear(this.#talker.next(isSpeech))
    this.#tellMarks("played")
  }

  #send(frame: Uint8Array): boolean {
    if (!this.#ear.isOpen() || frame.length !== frameSize || this.#sent - this.#played >= MOST_FRAMES) return false
    this.#frames.set(frame, (this.#sent % MOST_FRAMES) * frameSize)
    this.#sent += 1
    return true
  }

  #clear(): void {
    this.#played = this.#sent
    this.#tellMarks("cleared")
  }

  #mark(name: string): boolean {
    if (!this.#ear.isOpen() || this.#marks.length >= MOST_MARKS) return false
    this.#marks.push({ name, after: this.#sent })
    return true
  }

  #tellMarks(how: "played" | "cleared"): void {
    while (this.#marks[0] !== undefined && this.#marks[0].after <= this.#played) {
      const { name } = this.#marks[0]
      this.#marks.shift()
      this.#ear.marked(name, how)
    }
  }
}
