/** The acoustic model as it is made for the phone: the files that PocketSphinx reads, and the measurement behind it. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { type Gaussians, readGaussians, writeGaussians } from "#adapters/voice/pocketsphinx/Gaussians.ts"
import { meanOn, onThePhone, type PhoneBand } from "#adapters/voice/pocketsphinx/PhoneBand.ts"
import { makePhoneModel, phoneBand } from "#adapters/voice/pocketsphinx/PhoneModel.ts"
import { measure, measurePhoneBand } from "#test/support/hearing/phoneBand.ts"
import { pocketsphinx, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"

const skip = (await pocketsphinxUnavailable()) ?? false

/** One codebook of two Gaussians, with two streams of two features. */
const gaussians = (...values: ReadonlyArray<number>): Gaussians => ({
  codebooks: 1,
  streams: 2,
  densities: 2,
  width: 2,
  values: Float32Array.from(values)
})

t.test("given Gaussians", async (t) => {
  const written = writeGaussians(gaussians(1, 2, 3, 4, 5, 6, 7, 8.5))
  t.strictSame(readGaussians(written), gaussians(1, 2, 3, 4, 5, 6, 7, 8.5), "when they are written, then they are read unchanged")
  t.throws(() => readGaussians(written.subarray(0, written.length - 4)), "when the file is cut off, then it is refused")
})

t.test("given a line that swaps the features of one stream, and halves those of the other", async (t) => {
  const band: PhoneBand = [
    {
      rows: [
        [0, 1],
        [1, 0]
      ],
      spread: [1, 2]
    },
    {
      rows: [
        [0.5, 0],
        [0, 0.5]
      ],
      spread: [0, 0]
    }
  ]
  const { means, variances } = onThePhone(band, {
    means: gaussians(1, 2, 3, 4, 5, 6, 7, 8),
    variances: gaussians(1, 2, 3, 4, 4, 8, 12, 16)
  })
  t.strictSame([...means.values], [2, 1, 4, 3, 2.5, 3, 3.5, 4], "then each Gaussian moves as the features of its stream do")
  t.strictSame([...variances.values], [3, 3, 5, 5, 1, 2, 3, 4], "and it is as wide as the line makes it, plus what the line adds")
})

t.test("given speech that the line was measured with, spoken by a voice that has other words", { skip }, async (t) => {
  const texts = ["please send the parcel to my office", "twelve of these shirts are far too small"]
  const missed = phoneBand.map(() => 0)
  const spread = phoneBand.map(() => 0)
  measure(["slt", "rms"], texts, (stream, heard, carried) => {
    const map = phoneBand[stream]
    if (map === undefined) return
    const told = meanOn(map, heard)
    for (const [at, value] of carried.entries()) {
      missed[stream] = (missed[stream] ?? 0) + (value - (told[at] ?? 0)) ** 2
      spread[stream] = (spread[stream] ?? 0) + (map.spread[at] ?? 0)
    }
  })
  const shares = missed.map((sum, stream) => sum / (spread[stream] ?? 1))
  const areClose = shares.every((share) => share < 1.5)
  t.ok(areClose, `then it is as close to the measurement as that was: ${shares.map((share) => share.toFixed(2)).join(", ")}`)
  const again = measurePhoneBand(["slt", "rms"], texts)
  const [first, known] = [again[0]?.rows[0]?.[0] ?? 0, phoneBand[0]?.rows[0]?.[0] ?? 0]
  t.ok(
    Math.abs(first - known) < 0.1,
    `and a measurement with it alone agrees about loudness with the other: ${first.toFixed(3)}, ${known.toFixed(3)}`
  )
})

t.test("given Debian's model", { skip }, async (t) => {
  const { acousticModel } = pocketsphinx()
  const folders: Array<string> = []
  const model = makePhoneModel(acousticModel)
  model.use((folder) => {
    folders.push(folder)
    t.strictSame(
      readdirSync(folder).toSorted(),
      readdirSync(acousticModel).toSorted(),
      "when it is made for the phone, then no file is missing"
    )
    t.match(readFileSync(join(folder, "feat.params"), "utf8"), /^-samprate 8000$/m, "and it is for 8 kHz")
    const [before, after] = [acousticModel, folder].map((one) => readGaussians(readFileSync(join(one, "means"))))
    t.equal(after?.values.length, before?.values.length, "and has as many Gaussians")
  })
  t.throws(() =>
    model.use((folder) => {
      folders.push(folder)
      throw new Error("no memory")
    })
  )
  t.notOk(folders.some(existsSync), "then nothing is left of it afterwards, even if it could not be used")
})
