/** Searches all files below some folders for words and sounds, in whatever encoding they are stored. */
import { globSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { frameBytes, fromMulaw, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { wholeFormsOf } from "./canaryTalk.ts"
import { heardOpus } from "./oggOpus.ts"
import { likestPlace } from "./stereo.ts"

type Bytes = Buffer<ArrayBufferLike>

/** What to search for: a text, or frames of mu-law, of which a single one is enough. Results are reported by its name. */
type Canary = string | ReadonlyArray<Bytes>

/** The contents of each place, by the name of the place. */
type Places = ReadonlyMap<string, ReadonlyArray<Bytes>>

const fewFrames = 12
const clipSamples = 2000
/** The similarity to its original that a compressed sound has and other sounds do not have. */
const alike = 0.8

/** Picks loud frames from all over the sound, because silence is found everywhere. */
export const someOf = (frames: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> => {
  const loud = frames.filter((frame) => isLoud(frame))
  return Array.from({ length: fewFrames }, (_, at) => loud[Math.floor((at * loud.length) / fewFrames)]).filter(
    (frame) => frame !== undefined
  )
}

export const loudestOf = (frames: ReadonlyArray<Bytes>): Int16Array => {
  const samples = Int16Array.from(Buffer.concat(frames), fromMulaw)
  const clips = frames.map((_, at) => samples.subarray(at * frameBytes, at * frameBytes + clipSamples))
  const energyOf = (clip: Int16Array) => clip.reduce((sum, sample) => sum + sample ** 2, 0)
  const whole = clips.filter(({ length }) => length === clipSamples)
  return whole.reduce((best, clip) => (energyOf(clip) > energyOf(best) ? clip : best), new Int16Array())
}

/** The mu-law code of each 16-bit sample. The two zeros of mu-law become one. */
const codes = Uint8Array.from({ length: 65_536 }, (_, at) => toMulaw(at < 32_768 ? at : at - 65_536))
const withOneZero = (frame: Bytes) => Buffer.from(frame.map((code) => toMulaw(fromMulaw(code))))

/** The 16-bit samples that start at each byte, or those of one of two channels, as mu-law. */
const samplesIn = (bytes: Bytes): ReadonlyArray<Bytes> => {
  const every = (from: number, step: number) => {
    const samples = Buffer.alloc(Math.max(0, Math.floor((bytes.length - from - 2) / step) + 1))
    for (let at = 0; at < samples.length; at++) {
      const place = from + at * step
      samples[at] = codes[(bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8)] ?? 0
    }
    return samples
  }
  return [...[0, 1].map((from) => every(from, 2)), ...[0, 1, 2, 3].map((from) => every(from, 4))]
}

const encodedFormsOf = (frame: Bytes): ReadonlyArray<Bytes> => {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), frame])
      .toString("base64")
      .slice(4, -4)
  )
  return [frame, ...[...base64, frame.toString("hex")].map((text) => Buffer.from(text))]
}

/** Whether the canary is in the bytes or in one of the sequences of samples. */
type Search = (bytes: Bytes, samples: () => ReadonlyArray<Bytes>) => boolean

const searchFor = (canary: Canary): Search => {
  if (typeof canary === "string") {
    const forms = wholeFormsOf(canary).map((form) => Buffer.from(form))
    return (bytes) => forms.some((form) => bytes.includes(form))
  }
  const forms = canary.flatMap(encodedFormsOf)
  const plain = canary.map(withOneZero)
  return (bytes, samples) =>
    forms.some((form) => bytes.includes(form)) || samples().some((side) => plain.some((frame) => side.includes(frame)))
}

export const placesOf = (canaries: Readonly<Record<string, Canary>>, places: Places): Readonly<Record<string, ReadonlyArray<string>>> => {
  const searches = Object.entries(canaries).map(([name, canary]) => [name, searchFor(canary)] as const)
  const found = new Map(searches.map(([name]) => [name, new Set<string>()]))
  for (const [place, all] of places) {
    for (const bytes of all) {
      let read: ReadonlyArray<Bytes> | undefined
      const samples = () => (read ??= samplesIn(bytes))
      for (const [name, isIn] of searches) if (isIn(bytes, samples)) found.get(name)?.add(place)
    }
  }
  return Object.fromEntries([...found].map(([name, where]) => [name, [...where].toSorted()]))
}

/** For each sound, the names of the places that contain it as Opus, wherever in a file that starts. */
export const compressedIn = async (sounds: Readonly<Record<string, Int16Array>>, places: Places) => {
  const found = new Map(Object.keys(sounds).map((name) => [name, new Set<string>()]))
  for (const [place, all] of places) {
    for (const bytes of all) {
      for (const side of await opusIn(bytes)) {
        for (const [name, clip] of Object.entries(sounds)) if (likestPlace(side, clip).likeness > alike) found.get(name)?.add(place)
      }
    }
  }
  return Object.fromEntries([...found].map(([name, where]) => [name, [...where].toSorted()]))
}

const opusHead = Buffer.from("OpusHead")
const oggPage = Buffer.from("OggS")

const opusIn = async (bytes: Bytes): Promise<ReadonlyArray<Int16Array>> => {
  const head = bytes.indexOf(opusHead)
  const begins = head < 0 ? -1 : bytes.lastIndexOf(oggPage, head)
  if (begins < 0) return []
  const { left, right } = await heardOpus(bytes.subarray(begins))
  return [left, right].map((side) => Int16Array.from(side, (sample) => sample * 32_767))
}

/** The files below the folder, grouped by what `nameOf` returns for their path (undefined skips the file), by default by their folder. */
export const filesBelow = (folder: string, nameOf: (path: string) => string | undefined = dirname): Places => {
  const places = new Map<string, Array<Bytes>>()
  for (const path of globSync("**", { cwd: folder })) {
    const name = nameOf(path)
    // Postgres may remove some of its files in the meantime.
    if (name === undefined || statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() !== true) continue
    const content = Buffer.concat([Buffer.from(`${path}\n\0`), readFileSync(join(folder, path))])
    places.set(name, [...(places.get(name) ?? []), content])
  }
  return places
}
