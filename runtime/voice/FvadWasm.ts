/**
 * WebRTC's voice activity detector, compiled to WebAssembly: one program for the process, in which each call has its own detector. Takes about 2
 * µs per frame, so it runs where the frames arrive.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"

interface VoiceDetector {
  /** Whether the frame is voice, given the preceding ones. False once the detector has been freed. */
  readonly isVoice: (samples: Int16Array) => boolean
  readonly free: () => void
}

/** 0 to 3: how certain it must be that a frame is voice. */
const surest = 3
const pageBytes = 65_536

interface Fvad {
  readonly memory: WebAssembly.Memory
  /** The address at which it reads a frame. */
  readonly input: number
  readonly make: () => number
  readonly free: (detector: number) => void
  readonly setMode: (detector: number, mode: number) => number
  readonly setSampleRate: (detector: number, rate: number) => number
  readonly process: (detector: number, samples: number, length: number) => number
}

const loadFvad = (): Fvad => {
  const program = new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve("@echogarden/fvad-wasm/fvad.wasm"))))
  const assertionFailed = () => {
    throw new Error("an assertion of the voice activity detector failed")
  }
  const resizeHeap = (bytes: number) => {
    memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / pageBytes))
    return 1
  }
  const { exports } = new WebAssembly.Instance(program, { a: { a: assertionFailed, b: resizeHeap } })
  // The program's names are shortened; those of this version are in the package's own loader.
  const { c, d: initialize, e, f: allocate, h, j, k, l } = exports
  // Casts: what this version exports by these names.
  const memory = c as WebAssembly.Memory
  const call = (exported: unknown) =>
    // Cast: as above.
    exported as (...parameters: ReadonlyArray<number>) => number
  call(initialize)()
  return {
    memory,
    input: call(allocate)(frameSize * Int16Array.BYTES_PER_ELEMENT),
    make: call(e),
    free: call(h),
    setMode: call(j),
    setSampleRate: call(k),
    process: call(l)
  }
}

let loaded: Fvad | undefined
let frame = new Int16Array(0)

export const makeVoiceDetector = (): VoiceDetector => {
  const fvad = (loaded ??= loadFvad())
  let detector = fvad.make()
  if (detector === 0 || fvad.setMode(detector, surest) !== 0 || fvad.setSampleRate(detector, sampleRate) !== 0)
    throw new Error("the voice activity detector could not be set up")
  // When the memory grows, its buffer is replaced.
  frame = new Int16Array(fvad.memory.buffer, fvad.input, frameSize)
  return {
    isVoice: (samples) => {
      if (detector === 0) return false
      frame.set(samples)
      return fvad.process(detector, fvad.input, frameSize) === 1
    },
    free: () => {
      if (detector !== 0) fvad.free(detector)
      detector = 0
    }
  }
}
