/** Flite speaks again and again in the same memory, and what it has said before must not be heard. */
import { createHash } from "node:crypto"
import t from "tap"
import { type Flite, type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { lastDataAt } from "#runtime/voice/wasmData.ts"

const fingerprint = (flite: Flite, voice: FliteVoice, text: string): string => {
  const { rate, samples } = synthesize(flite, voice, text)
  return `${rate} ${samples.length} ${createHash("sha256").update(samples).digest("hex").slice(0, 16)}`
}

const loaded = loadFlite()
const texts = ["Hello Malona.", "It is 40 dollars.", "Dr. Smith owes $44.50, on March 3rd.", "a", "word ".repeat(150), "Good bye."]
const said = (["slt", "kal16", "kal"] as const).flatMap((voice) => texts.map((text) => ({ voice, text })))

t.test("given a voice that has spoken before, when it speaks, then it sounds like a new one", async (t) => {
  const fresh = said.map(({ text, voice }) => fingerprint({ ...loaded, speaker: undefined }, voice, text))
  const again = [...said.entries()].toSorted(([a], [b]) => ((a * 7) % 18) - ((b * 7) % 18))
  for (const [index, { text, voice }] of again) t.equal(fingerprint(loaded, voice, text), fresh[index], `${voice}: ${text.slice(0, 20)}`)
})

t.test("given a voice that is kept, then a short text leaves it unchanged, and a long one does not stay in memory", async (t) => {
  synthesize(loaded, "slt", "Hello.")
  const kept = loaded.speaker
  synthesize(loaded, "slt", "Hello again.")
  t.equal(loaded.speaker, kept)
  synthesize(loaded, "slt", "word ".repeat(300))
  synthesize(loaded, "slt", "Hello.")
  t.not(loaded.speaker, kept)
})

t.test("given a program whose data is missing, or in an order that linkers do not produce, then it is not trusted", async (t) => {
  const program = (...data: ReadonlyArray<number>) => Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...data])
  const at = (address: number) => [0, 0x41, address, 0x0b, 1, 7]
  t.equal(lastDataAt(program(0, 2, 1, 1, 11, 13, 2, ...at(8), ...at(16))), 16)
  t.throws(() => lastDataAt(program()))
  t.throws(() => lastDataAt(program(11, 13, 2, ...at(16), ...at(8))))
  t.throws(() => lastDataAt(program(11, 7, 1, 1, 0x41, 8, 0x0b, 1, 7)))
})
