/** The line of a call that goes through no carrier: what a microphone or a recording says goes in, and the agent's voice comes out. */
import { frameSize, silence } from "#core/audio/Mulaw.ts"
import type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"

const quiet = new Uint8Array(frameSize).fill(silence)

export class TerminalLine implements MediaStream {
  readonly #speaker: (frame: Uint8Array) => void
  readonly #agent: Array<Uint8Array> = []
  readonly #callee: Array<Uint8Array> = []
  #listener: MediaListener | undefined

  /** `speaker` plays each frame of the agent. */
  constructor(speaker: (frame: Uint8Array) => void = () => {}) {
    this.#speaker = speaker
  }

  send(frame: Uint8Array): boolean {
    this.#agent.push(frame.slice())
    this.#speaker(frame)
    return true
  }

  skip(frames: number): void {
    for (let frame = 0; frame < frames; frame++) this.#agent.push(quiet)
  }

  /** What a loudspeaker has been given is a few frames, and cannot be taken back. */
  clear(): void {}

  mark(): boolean {
    return false
  }

  listen(listener: MediaListener): void {
    this.#listener = listener
  }

  /** The callee is heard with this frame. */
  hear(frame: Uint8Array): void {
    this.#callee.push(frame.slice())
    this.#listener?.frame(frame)
  }

  hangUp(how: MediaEnd, why: string): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.closed(how, why)
  }

  /** Both sides so far, frame by frame: the callee's, and the agent's. */
  *sides(): Generator<readonly [callee: Uint8Array, agent: Uint8Array]> {
    for (let at = 0; at < Math.max(this.#agent.length, this.#callee.length); at++)
      yield [this.#callee[at] ?? quiet, this.#agent[at] ?? quiet]
  }
}
