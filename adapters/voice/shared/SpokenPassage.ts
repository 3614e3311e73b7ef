/**
 * Finds what callees say in a call's audio, for services that are given one utterance at a time: they are paid by the second, and invent words for
 * silence. A passage begins shortly before a voice is noticed, and lasts until it is taken.
 */
import { makeEnergyGate } from "#core/audio/EnergyGate.ts"
import { frameMillis, frameSize } from "#core/audio/Mulaw.ts"
import { levelOf } from "#core/audio/PcmFrame.ts"

/** A voice is noticed up to 240 ms after it has begun. */
const leadFrames = 400 / frameMillis
/** The engine asks for a text at the first pause, unless what is said does not count. */
const longestPauseFrames = 1500 / frameMillis
/** Nobody speaks for so long without the shortest pause. */
const longestFrames = 30_000 / frameMillis

interface PassageListener {
  /** The next frame of a passage, which is reused. */
  readonly pass: (samples: Int16Array) => void
  /** The passage will not be taken. */
  readonly dropped: () => void
  /** The passage is as long as it may become, and must be taken. */
  readonly full: () => void
}

export class SpokenPassage {
  readonly #listener: PassageListener
  readonly #gate = makeEnergyGate()
  readonly #lead = Array.from({ length: leadFrames }, () => new Int16Array(frameSize))
  /** How many frames precede the next passage. */
  #held = 0
  #frames = 0
  /** The first and the last frame with voice. */
  #voice: { readonly first: number; last: number } | undefined

  constructor(listener: PassageListener) {
    this.#listener = listener
  }

  /** How much has been written. */
  get millis(): number {
    return this.#frames * frameMillis
  }

  /** When the voice of the present passage began; undefined if there is none. */
  get fromMillis(): number | undefined {
    return this.#voice && this.#voice.first * frameMillis
  }

  /** If nobody knows whether it is speech, what is louder than the noise is. */
  write(samples: Int16Array, isSpeech = this.#gate.push(levelOf(samples))): void {
    const now = this.#frames++
    if (isSpeech) {
      if (this.#voice === undefined) this.#begin(now)
      else this.#voice.last = now
    }
    if (this.#voice === undefined) return this.#hold(now, samples)
    this.#listener.pass(samples)
    if (now - this.#voice.last > longestPauseFrames) {
      this.take()
      this.#listener.dropped()
    } else if (now - this.#voice.first >= longestFrames) this.#listener.full()
  }

  /** Ends the passage. Returns from when to when somebody spoke, in milliseconds of written audio; undefined if nobody did. */
  take(): readonly [number, number] | undefined {
    const voice = this.#voice
    this.#voice = undefined
    return voice === undefined ? undefined : [voice.first * frameMillis, (voice.last + 1) * frameMillis]
  }

  #hold(now: number, samples: Int16Array): void {
    this.#lead[now % leadFrames]?.set(samples)
    this.#held = Math.min(this.#held + 1, leadFrames)
  }

  #begin(now: number): void {
    this.#voice = { first: now, last: now }
    for (let frame = now - this.#held; frame < now; frame++) {
      const samples = this.#lead[frame % leadFrames]
      if (samples !== undefined) this.#listener.pass(samples)
    }
    this.#held = 0
  }
}
