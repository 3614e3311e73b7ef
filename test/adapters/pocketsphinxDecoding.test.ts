/** How an utterance goes through a decoder that records its input, and how words are looked up. PocketSphinx is not needed. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { makeDecoders } from "#adapters/voice/pocketsphinx/Decoders.ts"
import { makeDecoding } from "#adapters/voice/pocketsphinx/Decoding.ts"
import { makePronunciations } from "#adapters/voice/pocketsphinx/Pronunciations.ts"
import { cepstrumSize } from "#adapters/voice/pocketsphinx/SphinxLibrary.ts"
import { encode } from "#core/audio/Mulaw.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"

interface Search {
  readonly frames: number
  /** The energy of the first frame. */
  readonly energy: number
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Each frame of 10 ms, 80 samples, has the next energy in the list; the last one is repeated. */
const noting = (energies: ReadonlyArray<number> = [0]) => {
  const searches: Array<Search> = []
  let samples = 0
  let frames = 0
  const frame = () => {
    const energy = energies[Math.min(frames, energies.length - 1)] ?? 0
    frames++
    return Float32Array.from({ length: cepstrumSize }, (_, index) => (index === 0 ? energy : 0))
  }
  const frontEnd = {
    begin: () => {},
    push: (some: Int16Array) => {
      samples += some.length
      const all: Array<number> = []
      for (; samples >= 80; samples -= 80) all.push(...frame())
      return Float32Array.from(all)
    },
    flush: () => frame()
  }
  const decoder = {
    frontEnd,
    search: (cepstra: Float32Array, place: Pick<Search, "isFirst" | "isLast">) =>
      void searches.push({ frames: cepstra.length / cepstrumSize, energy: cepstra[0] ?? Number.NaN, ...place }),
    end: () => ({ text: "yes", scorePerFrame: -50 })
  }
  return { searches, decoder }
}
/** Silence at 8 kHz. */
const audio = (millis: number): Uint8Array => encode(new Int16Array(8 * millis))
const worked = (step: () => boolean): number => {
  let steps = 0
  while (step()) steps++
  return steps
}

t.test("given an utterance that is still being spoken", async (t) => {
  const { decoder, searches } = noting()
  const { close, end, hear, step } = makeDecoding(decoder, false)
  hear(audio(400))
  t.equal(worked(step), 0, "then it has to be half a second long")
  hear(audio(400))
  t.ok(worked(step) >= 6, "then all but its end is searched")
  const areEqual = searches.every(({ frames, isFirst, isLast }, at) => frames === 10 && isFirst === (at === 0) && !isLast)
  t.ok(areEqual, "in equal steps")
  const before = searches.length
  close()
  worked(step)
  t.ok(searches.length - before <= 2 && searches.at(-1)?.isLast, "then only its end is left when it is over")
  t.match(end(), { text: "yes" })
})

t.test("given a whole utterance", async (t) => {
  const { decoder, searches } = noting([10, 30])
  const { close, hear, step } = makeDecoding(decoder, true)
  hear(audio(1000))
  t.equal(worked(step), 0, "then nothing is done before all of it has been heard")
  close()
  worked(step)
  t.ok(searches[0]?.isFirst && searches.at(-1)?.isLast, "then it is searched from its beginning to its end")
  const energy = searches[0]?.energy ?? 0
  t.ok(energy < -19 && energy > -20, `then the mean of the whole is subtracted: ${energy}`)
})

t.test("given a voice that grows louder", async (t) => {
  const rising = Array.from({ length: 200 }, (_, frame) => frame)
  const means = (...pieces: ReadonlyArray<number>) => {
    const { decoder, searches } = noting(rising)
    const { close, hear, step } = makeDecoding(decoder, false)
    for (const piece of pieces) {
      hear(audio(piece))
      worked(step)
    }
    close()
    worked(step)
    return searches
  }
  const whole = means(1600)
  t.equal(whole[0]?.energy, -24.5, "then the mean of its first half second is subtracted from that")
  t.equal(whole[6]?.energy, 60 - 34.5, "then that of what has been said so far")
  t.strictSame(means(100, 700, 300, 500), whole, "whenever the audio arrives")
})

t.test("given silence", async (t) => {
  const { decoder, searches } = noting([-5])
  const { close, hear, step } = makeDecoding(decoder, true)
  hear(audio(200))
  close()
  worked(step)
  t.equal(searches[0]?.energy, -5, "then there is no mean")
  const nothing = noting()
  const none = makeDecoding(nothing.decoder, true)
  none.close()
  worked(none.step)
  t.ok((nothing.searches[0]?.frames ?? 0) <= 1, "given no sound at all, then there is hardly anything to search")
})

t.test("given a dictionary", async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, "dictionary")
  writeFileSync(file, "either IY DH ER\neither(2) AY DH ER\neitherside IY DH ER S AY D\nyes Y EH S")
  const { lookUp, of } = makePronunciations(file)
  lookUp(["yes", "either", "trunkline"])
  t.strictSame(of("either"), ["IY DH ER", "AY DH ER"], "then each pronunciation of a word is found")
  t.strictSame(of("yes"), ["Y EH S"], "and the last line")
  t.strictSame(of("trunkline"), [], "then it lacks others")
  writeFileSync(file, "trunkline T R AH NG K L AY N")
  lookUp(["trunkline", "either"])
  t.strictSame(of("trunkline"), [], "then nothing is looked up twice")
})

t.test("given several decoders that are needed at the same time", async (t) => {
  let now = 0
  const opened: Array<string> = []
  const closed: Array<string> = []
  const open = () => {
    const name = `decoder ${opened.length + 1}`
    opened.push(name)
    const decoder = {
      name,
      count: 0,
      knows: (grammar: string) => grammar === name,
      words: () => decoder.count,
      close: () => void closed.push(name)
    }
    return decoder
  }
  const { giveBack, take, tidy } = makeDecoders(open, () => now)
  const [first, second, third] = [take("any"), take("any"), take("any")]
  t.strictSame(opened, ["decoder 1", "decoder 2", "decoder 3"], "then there are as many")
  for (const decoder of [first, second, third]) giveBack(decoder)
  t.equal(take("decoder 2"), second, "then a grammar gets the one that knows it")
  giveBack(second)
  now += 50_000
  giveBack(take("any"))
  now += 20_000
  tidy()
  t.strictSame(closed, ["decoder 3", "decoder 1"], "then those that were unused for a minute are closed")
  now += 70_000
  tidy()
  t.equal(closed.length, 2, "but for the last one")
  second.count = 6000
  giveBack(take("any"))
  t.strictSame(closed.at(-1), "decoder 2", "when it has learned too many words, then it is closed")
  t.equal(take("any").name, "decoder 4", "and replaced when one is needed")
})
