/** Human prompts recorded for Asterisk, from Debian's packages, and speech by flite. They are never stored in the repository. */
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, extname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { fliteVoices } from "#runtime/voice/FliteWasm.ts"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { makePhoneSound } from "#runtime/voice/PhoneSound.ts"
import { readWav } from "#runtime/voice/Wav.ts"
import { unavailable } from "./fromDebian.ts"
import { keptSpeech } from "./keptSpeech.ts"
import { wavOf } from "./wav.ts"

const script = fileURLToPath(new URL("./prompts/install", import.meta.url))
/** See `unavailable`. */
export const promptsUnavailable = unavailable(script)

export interface Clip {
  /** The speaker, such as `en_US_f_Allison` or `flite slt`. */
  readonly voice: string
  /** The file name without its extension, such as `digits/5`, or the text. */
  readonly name: string
  readonly samples: Int16Array
}

const folder = (): string =>
  join(process.env["PROMPTS_CACHE"] ?? fileURLToPath(new URL("../../.cache/prompts", import.meta.url)), "root-1/usr/share/asterisk/sounds")

/** WAV files are PCM16 at the phone's sample rate; the others are A-law without a header. */
const samplesOf = (path: string): Int16Array => {
  const file = readFileSync(path)
  if (extname(path) === ".wav") {
    const data = file.indexOf("data") + 8
    return new Int16Array(new Uint8Array(file.subarray(data, file.length - ((file.length - data) % 2))).buffer)
  }
  const sound = makePhoneSound()
  readWav(wavOf({ tag: 6, bits: 8, channels: 1, rate: sampleRate }, file), sound)
  return decode(sound.end() ?? new Uint8Array(0))
}

const audible = 400
/** Removes the silence before and after. */
const trimmed = (samples: Int16Array): Int16Array => {
  let first = 0
  let end = samples.length
  while (first < end && Math.abs(samples[first] ?? 0) <= audible) first++
  while (end > first && Math.abs(samples[end - 1] ?? 0) <= audible) end--
  return samples.subarray(Math.max(0, first - 160), Math.min(samples.length, end + 400))
}

/** Excludes prompts that are not speech. */
const isSpoken = (name: string) => !/^(beep|beeperr|silence\/.*|.*scending-2tone|tt-(monkeys|weasels))$/.test(name)

/** The same recording exists under several names and in several packages. */
const onlyNew = () => {
  const seen = new Set<string>()
  return (samples: Int16Array) => {
    const hash = createHash("sha1")
      .update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
      .digest("base64")
    if (seen.has(hash)) return false
    seen.add(hash)
    return true
  }
}

const pathsBelow = (voice: string): ReadonlyArray<string> =>
  readdirSync(join(folder(), voice), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /\.(wav|alaw)$/.test(file.name))
    .map((file) => relative(join(folder(), voice), join(file.parentPath, file.name)))
    .toSorted()

export const promptVoices = (): ReadonlyArray<string> =>
  readdirSync(folder())
    .filter((name) => existsSync(join(folder(), name, "digits")) && /^.._.._/.test(name))
    .toSorted()

/** Each recording once, one at a time, because all of them together take hundreds of megabytes. */
export const recordedClips = function* (): Generator<Clip> {
  const isNew = onlyNew()
  for (const voice of promptVoices()) {
    for (const path of pathsBelow(voice)) {
      const name = join(path, "..", basename(path, extname(path)))
      if (!isSpoken(name)) continue
      const samples = trimmed(samplesOf(join(folder(), voice, path)))
      if (samples.length > 0 && isNew(samples)) yield { voice, name, samples }
    }
  }
}

/** One of Asterisk's English prompts, such as `digits/5`. They are read by one woman. */
export const englishPrompt = (name: string): Int16Array => trimmed(samplesOf(join(folder(), `en_US_f_Allison/${name}.wav`)))

/** The beep of Asterisk's own voicemail. */
export const asterisksBeep = (): Int16Array => englishPrompt("beep")

export const fliteClips = function* (texts: ReadonlyArray<string>): Generator<Clip> {
  for (const voice of fliteVoices)
    for (const name of texts) yield { voice: `flite ${voice}`, name, samples: trimmed(keptSpeech(voice, name)) }
}
