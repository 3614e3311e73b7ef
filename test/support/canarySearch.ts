/** Where words and sounds stand: in every file below some folders, however they are written there. */
import { globSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fromMulaw, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { wholeFormsOf } from "./canaryTalk.ts"

type Bytes = Buffer<ArrayBufferLike>

/** What is looked for, by the name under which it is told: a text, or frames of mu-law of which any one is enough. */
type Canary = string | ReadonlyArray<Bytes>

/** By the name of a place: what is there. */
type Places = ReadonlyMap<string, ReadonlyArray<Bytes>>

/** How many frames of a sound are looked for. */
const fewFrames = 12

/** Loud frames from all over the sound: silence is everywhere. */
export const someOf = (frames: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> => {
  const loud = frames.filter((frame) => isLoud(frame))
  return Array.from({ length: fewFrames }, (_, at) => loud[Math.floor((at * loud.length) / fewFrames)]).filter(
    (frame) => frame !== undefined
  )
}

/** A code for each 16-bit sample. Mu-law has two zeros, which become one. */
const codes = Uint8Array.from({ length: 65_536 }, (_, at) => toMulaw(at < 32_768 ? at : at - 65_536))
const withOneZero = (frame: Bytes) => Buffer.from(frame.map((code) => toMulaw(fromMulaw(code))))

/** The samples of 16 bits that begin at each byte, or of one channel of two, as mu-law. */
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

/** Whether it is in one of them. */
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

/** By the name of each canary: the places in which it is. */
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

/** The files below the folder, each with its name, by what `nameOf` makes of their path, which may be nothing; otherwise by the folder in which they are. */
export const filesBelow = (folder: string, nameOf: (path: string) => string | undefined = dirname): Places => {
  const places = new Map<string, Array<Bytes>>()
  for (const path of globSync("**", { cwd: folder })) {
    const name = nameOf(path)
    // Postgres removes some of its own meanwhile.
    if (name === undefined || statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() !== true) continue
    const content = Buffer.concat([Buffer.from(`${path}\n\0`), readFileSync(join(folder, path))])
    places.set(name, [...(places.get(name) ?? []), content])
  }
  return places
}
