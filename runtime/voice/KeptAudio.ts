/**
 * The callee's audio that has not been transcribed yet, so that the next session of a recognizer can be given it again. At most ten seconds; of
 * what nobody speaks in, only the last second, because a voice is noticed after it has begun. Frames are counted from the beginning of the call.
 */
import { frameSize } from "#core/audio/Mulaw.ts"

/** Ten seconds: whoever has said more than that cannot be answered in time any more. */
const mostFrames = 500
/** What is kept of silence. */
const quietFrames = 50

export class KeptAudio {
  /** Grows while somebody speaks: most calls never need more than a few seconds. */
  #samples = new Int16Array(quietFrames * frameSize)
  #isSpeech: Array<boolean | undefined> = Array.from({ length: quietFrames }, () => undefined)
  #from = 0
  #until = 0
  #isVoiced = false

  /** The number of frames written during the call. */
  get until(): number {
    return this.#until
  }

  /** Whether somebody may have spoken in what is kept. */
  get isVoiced(): boolean {
    return this.#isVoiced
  }

  /** Copies the frame. True if something that may have been said no longer fits. */
  push(samples: Int16Array, isSpeech: boolean | undefined): boolean {
    this.#isVoiced ||= isSpeech !== false
    if (!this.#isVoiced) this.#from = Math.max(this.#from, this.#until - quietFrames + 1)
    const isFull = this.#until - this.#from === this.#isSpeech.length
    const isCut = isFull && !this.#grow()
    if (isCut) this.#from++
    const slot = this.#until % this.#isSpeech.length
    this.#samples.set(samples.length > frameSize ? samples.subarray(0, frameSize) : samples, slot * frameSize)
    this.#isSpeech[slot] = isSpeech
    this.#until++
    return isCut && this.#isVoiced
  }

  /** What came before has been transcribed. */
  forget(until: number): void {
    this.#from = Math.max(this.#from, Math.min(until, this.#until))
    this.#isVoiced = false
    for (let frame = this.#from; frame < this.#until; frame++) this.#isVoiced ||= this.#isSpeech[frame % this.#isSpeech.length] !== false
  }

  /** Visits each frame, in order; the samples are reused. */
  replay(visit: (samples: Int16Array, isSpeech: boolean | undefined, number: number) => void): void {
    for (let frame = this.#from; frame < this.#until; frame++) {
      const slot = frame % this.#isSpeech.length
      visit(this.#samples.subarray(slot * frameSize, (slot + 1) * frameSize), this.#isSpeech[slot], frame)
    }
  }

  /** False if the oldest frame has to go instead. */
  #grow(): boolean {
    const before = this.#isSpeech.length
    if (!this.#isVoiced || before === mostFrames) return false
    const length = Math.min(mostFrames, 2 * before)
    const samples = new Int16Array(length * frameSize)
    const isSpeech = Array.from({ length }, (): boolean | undefined => undefined)
    this.replay((frame, speech, number) => {
      samples.set(frame, (number % length) * frameSize)
      isSpeech[number % length] = speech
    })
    this.#samples = samples
    this.#isSpeech = isSpeech
    return true
  }
}
