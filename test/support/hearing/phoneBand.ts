/** Features of speech as the acoustic model expects it and as the phone transmits it, by the front end of Debian's `libsphinxbase3`. */
import koffi from "koffi"
import type { LinearMap, PhoneBand } from "#adapters/voice/pocketsphinx/PhoneBand.ts"
import { phoneFeatures } from "#adapters/voice/pocketsphinx/PhoneModel.ts"
import { decode, encode, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { pocketsphinx } from "#test/support/pocketsphinx.ts"

type Vector = ReadonlyArray<number>
type Cepstra = ReadonlyArray<Vector>
type FrontEnd = (samples: Int16Array) => Cepstra

const width = 13
/** The parameters of the acoustic model, from its `feat.params`. */
const modelFeatures = { samprate: 16_000, nfft: 512, lowerf: 130, upperf: 6800, nfilt: 25 }
// Silence is kept, so that the frames of both front ends cover the same moments.
const common = { transform: "dct", lifter: 22, remove_silence: "no" }

const loadFrontEnd = (features: typeof modelFeatures): FrontEnd => {
  const base = pocketsphinx()
    .libraries.map((path) => koffi.load(path, { global: true }))
    .at(-2)
  if (base === undefined) throw new Error("PocketSphinx is not there")
  const configure = base.func("void *cmd_ln_init(void *, void *, int, ...)")
  const definitions = base.func("void *fe_get_args()")
  const open = base.func("void *fe_init_auto_r(void *)")
  const start = base.func("int fe_start_utt(void *)")
  const process = base.func("int fe_process_utt(void *, int16_t *, size_t, _Out_ void **, _Out_ int32_t *)")
  const free = base.func("void fe_free_2d(void *)")

  const isStrict = 1
  const settings = Object.entries({ ...features, ...common }).flatMap(([name, value]) => [`-${name}`, String(value)])
  const frontEnd: unknown = open(configure(null, definitions(), isStrict, ...settings.flatMap((text) => ["str", text]), "void *", null))
  return (samples) => {
    const [block, count]: [[unknown], [number]] = [[null], [0]]
    start(frontEnd)
    process(frontEnd, samples, samples.length, block, count)
    const first: unknown = koffi.decode(block[0], "void *")
    const frames: Vector = Array.from(koffi.decode(first, koffi.array("float", width * count[0])))
    free(block[0])
    return Array.from({ length: count[0] }, (_, frame) => frames.slice(frame * width, (frame + 1) * width))
  }
}

const minus = (from: Vector, what: Vector): Vector => from.map((value, index) => value - (what[index] ?? 0))
/** The cepstra without their mean, their slopes, and the slopes of those: the streams that PocketSphinx uses. */
const streamsOf = (cepstra: Cepstra): ReadonlyArray<Cepstra> => {
  const mean = Array.from({ length: width }, (_, at) => cepstra.reduce((sum, frame) => sum + (frame[at] ?? 0), 0) / cepstra.length)
  const at = (frame: number) => cepstra[Math.max(0, Math.min(cepstra.length - 1, frame))] ?? []
  const slope = (frame: number) => minus(at(frame + 2), at(frame - 2))
  return [
    cepstra.map((frame) => minus(frame, mean)),
    cepstra.map((_, frame) => slope(frame)),
    cepstra.map((_, frame) => minus(slope(frame + 1), slope(frame - 1)))
  ]
}

type Moment = (stream: number, heard: Vector, carried: Vector) => void

/** Reports the features of each moment of this speech. */
export const measure = (voices: ReadonlyArray<FliteVoice>, texts: ReadonlyArray<string>, tell: Moment): void => {
  const flite = loadFlite()
  const [model, phone] = [loadFrontEnd(modelFeatures), loadFrontEnd(phoneFeatures)]
  for (const text of texts) {
    for (const voice of voices) {
      const { rate, samples } = synthesize(flite, voice, text)
      const heard = model(resample(samples, rate, modelFeatures.samprate))
      const carried = phone(decode(encode(resample(samples, rate, sampleRate))))
      const frames = Math.min(heard.length, carried.length)
      const onPhone = streamsOf(carried.slice(0, frames))
      for (const [stream, features] of streamsOf(heard.slice(0, frames)).entries()) {
        for (const [frame, one] of features.entries()) tell(stream, one, onPhone[stream]?.[frame] ?? [])
      }
    }
  }
}

/** Solves `left * x = right` by elimination. `left` is symmetric and positive definite, so no pivoting is needed. */
const solve = (left: ReadonlyArray<Vector>, right: ReadonlyArray<Vector>): ReadonlyArray<Vector> => {
  const rows = left.map((row, index) => [...row, ...(right[index] ?? [])])
  for (const [index, pivot] of rows.entries()) {
    const lead = pivot[index] ?? 1
    for (const [at, value] of pivot.entries()) pivot[at] = value / lead
    for (const row of rows) {
      const factor = row === pivot ? 0 : (row[index] ?? 0)
      if (factor !== 0) for (const [at, value] of pivot.entries()) row[at] = (row[at] ?? 0) - factor * value
    }
  }
  return rows.map((row) => row.slice(left.length))
}

const table = (height: number, width: number): ReadonlyArray<Array<number>> =>
  Array.from({ length: height }, () => Array.from({ length: width }, () => 0))
const addProduct = (sums: ReadonlyArray<Array<number>>, left: Vector, right: Vector): void => {
  for (const [index, row] of sums.entries()) for (const [at, sum] of row.entries()) row[at] = sum + (left[index] ?? 0) * (right[at] ?? 0)
}

/** Fits a linear map between the features of two recordings of the same speech, all with a mean of zero, by least squares. */
const fitLinearMap = () => {
  const [ofSelf, ofBoth, squares] = [table(width, width), table(width, width), table(1, width)]
  let count = 0
  return {
    add: (from: Vector, to: Vector): void => {
      addProduct(ofSelf, from, from)
      addProduct(ofBoth, from, to)
      addProduct(
        squares,
        [1],
        to.map((value) => value ** 2)
      )
      count++
    },
    map: (): LinearMap => {
      const rows = solve(ofSelf, ofBoth)
      const told = (to: number) => rows.reduce((sum, row, from) => sum + (row[to] ?? 0) * (ofBoth[from]?.[to] ?? 0), 0)
      return { rows, spread: (squares[0] ?? []).map((square, to) => (square - told(to)) / count) }
    }
  }
}

export const measurePhoneBand = (voices: ReadonlyArray<FliteVoice>, texts: ReadonlyArray<string>): PhoneBand => {
  const fits = Array.from({ length: 3 }, () => fitLinearMap())
  measure(voices, texts, (stream, heard, carried) => fits[stream]?.add(heard, carried))
  return fits.map((fit) => fit.map())
}
