/**
 * `sounds.ts FROM TO` writes the far ends' audio to the folder TO as raw 8 kHz mu-law, which both Asterisk and SIPp can play. Speech is
 * converted from Asterisk's own English recordings in the folder FROM.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const [from = "", to = ""] = process.argv.slice(2)
const sampleRate = 8_000

/** Encodes a 16-bit sample as ITU-T G.711 mu-law. */
const toMuLaw = (sample: number): number => {
  const magnitude = Math.min(Math.abs(Math.round(sample)), 32_635) + 132
  const exponent = 24 - Math.clz32(magnitude)
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff
}

const tone = (hertz: number, seconds: number) =>
  Array.from({ length: sampleRate * seconds }, (_, index) => 8_000 * Math.sin((2 * Math.PI * hertz * index) / sampleRate))

const silence = (seconds: number) => Array.from({ length: sampleRate * seconds }, () => 0)

/** Reads the samples of a 16-bit mono WAV file. */
const recording = (name: string): ReadonlyArray<number> => {
  const bytes = readFileSync(join(from, `${name}.wav`))
  const data = bytes.indexOf("data") + 8
  return Array.from({ length: Math.floor((bytes.length - data) / 2) }, (_, index) => bytes.readInt16LE(data + 2 * index))
}

const sounds: Record<string, ReadonlyArray<number>> = {
  greeting: [...recording("vm-intro"), ...silence(0.3), ...tone(1_000, 0.4), ...silence(30)],
  hello: [...silence(0.3), ...recording("hello-world"), ...silence(60)],
  silence: silence(10),
  tone440: tone(440, 10)
}
mkdirSync(to, { recursive: true })
for (const [name, samples] of Object.entries(sounds)) writeFileSync(join(to, `${name}.ulaw`), Uint8Array.from(samples, toMuLaw))
