/** Recordings of people with the words that they say, from Debian's packages. They are never stored in the repository. */
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { unavailable } from "./fromDebian.ts"

/** See `unavailable`. */
export const recordingsUnavailable = unavailable(fileURLToPath(new URL("./recordings/install", import.meta.url)))

export interface Recorded {
  /** In words, without punctuation. */
  readonly text: string
  /** PCM16 at 8 kHz. */
  readonly samples: Int16Array
}

const root = () =>
  join(process.env["RECORDINGS_CACHE"] ?? fileURLToPath(new URL("../../.cache/recordings", import.meta.url)), "root-1/usr/share")

/** Mono PCM16 files with the usual header. */
const samplesOf = (path: string): Int16Array => {
  const file = readFileSync(path)
  const data = file.indexOf("data") + 8
  const samples = new Int16Array(new Uint8Array(file.subarray(data, file.length - ((file.length - data) % 2))).buffer)
  return resample(samples, file.readUInt32LE(24), sampleRate)
}

/** The five sentences from an audio book, and the five hands of cards, that PocketSphinx is tested with: two or three speakers. */
export const people = (): ReadonlyArray<Recorded> =>
  ["librivox/transcription", "cards/cards.transcription"].flatMap((path) => {
    const file = join(root(), "pocketsphinx/test/data", path)
    return [...readFileSync(file, "utf8").matchAll(/^<s> (.*?) *<\/s> \((.*)\)/gm)].map(([, text = "", name]) => ({
      text,
      samples: samplesOf(join(file, `../${name}.wav`))
    }))
  })

interface Prompt extends Recorded {
  /** Such as `digits/5`. */
  readonly name: string
}

/** Excludes what is no word: single letters, sounds, parts of sentences, abbreviations and names of protocols. */
const isOfWords = (name: string, text: string): boolean =>
  /^[a-z' !-]{2,}\.?$/i.test(text) && !/^spy-/.test(name) && text.trim().split(/\s+/).length <= 2

/** Asterisk's English prompts of one or two words, each recording once. One woman's voice. */
export const shortPrompts = (): ReadonlyArray<Prompt> => {
  const texts = gunzipSync(readFileSync(join(root(), "doc/asterisk-core-sounds-en/core-sounds-en.txt.gz"))).toString("latin1")
  const seen = new Set<string>()
  return [...texts.matchAll(/^([^;:\n]+): (.*)$/gm)].flatMap(([, name = "", text = ""]) => {
    const path = join(root(), `asterisk/sounds/en_US_f_Allison/${name}.wav`)
    if (!isOfWords(name, text) || !existsSync(path)) return []
    const hash = createHash("sha1").update(readFileSync(path)).digest("hex")
    if (seen.has(hash)) return []
    seen.add(hash)
    return [{ name, text: text.replaceAll(/[.!]/g, ""), samples: samplesOf(path) }]
  })
}
