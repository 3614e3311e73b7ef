/**
 * The C interface of PocketSphinx, and its front end, which turns sound into cepstra. Each call blocks, and a fault ends the process, so all of it runs
 * in a separate process. https://github.com/cmusphinx/pocketsphinx/blob/v0.8/include/pocketsphinx.h
 */
import koffi, { type LibraryHandle } from "koffi"
import type { SphinxFiles } from "./SphinxFiles.ts"

/** The number of coefficients of a frame. */
export const cepstrumSize = 13
/** The frames of a second, with those that the voice detector has held back, and room to spare. */
const mostRows = 300
const mostSamples = 8000
const floatBytes = 4
const sampleBytes = 2

export interface Sphinx {
  readonly base: LibraryHandle
  readonly library: LibraryHandle
  /** A buffer that all decoders of a process share, one after the other: the rows of a table, and the numbers in them. */
  readonly rows: unknown
  readonly cepstra: Float32Array
  readonly sound: unknown
  readonly samples: Int16Array
}

export const loadSphinx = ({ libraries }: SphinxFiles): Sphinx => {
  const [base, library] = libraries.map((path) => koffi.load(path, { global: true })).slice(-2)
  if (base === undefined || library === undefined) throw new Error("PocketSphinx is not there")
  const table = base.func("void *__ckd_calloc_2d__(size_t, size_t, size_t, str, int)")
  const rows: unknown = table(mostRows, cepstrumSize, floatBytes, "cepstra", 0)
  const cepstra = new Float32Array(koffi.view(koffi.decode(rows, "void *"), mostRows * cepstrumSize * floatBytes))
  const sound: unknown = koffi.alloc("int16_t", mostSamples)
  return { base, library, rows, cepstra, sound, samples: new Int16Array(koffi.view(sound, mostSamples * sampleBytes)) }
}

/** Returns cepstra of `cepstrumSize` numbers for each frame of 10 ms. */
export interface FrontEnd {
  readonly begin: () => void
  /** Takes samples at 8 kHz. */
  readonly push: (samples: Int16Array) => Float32Array
  readonly flush: () => Float32Array
}

export const makeFrontEnd = ({ base, cepstra, rows, samples, sound }: Sphinx, frontEnd: unknown): FrontEnd => {
  const startStream = base.func("void fe_start_stream(void *)")
  const start = base.func("int fe_start_utt(void *)")
  const process = base.func("int fe_process_frames(void *, _Inout_ void **, _Inout_ size_t *, void *, _Inout_ int32_t *, void *)")
  const end = base.func("int fe_end_utt(void *, void *, _Out_ int32_t *)")
  const taken = (rowCount: number): Float32Array => cepstra.slice(0, rowCount * cepstrumSize)

  const pushSome = (some: Int16Array): Float32Array => {
    samples.set(some)
    const count: [number] = [mostRows]
    process(frontEnd, [sound], [some.length], rows, count, null)
    return taken(count[0])
  }
  return {
    begin: () => {
      // Forgets the noise of the previous call.
      startStream(frontEnd)
      start(frontEnd)
    },
    push: (all) => {
      const parts: Array<Float32Array> = []
      for (let at = 0; at < all.length; at += mostSamples) parts.push(pushSome(all.subarray(at, at + mostSamples)))
      return joined(parts)
    },
    flush: () => {
      const count: [number] = [0]
      end(frontEnd, koffi.decode(rows, "void *"), count)
      return taken(count[0])
    }
  }
}

export const joined = (parts: ReadonlyArray<Float32Array>): Float32Array => {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
