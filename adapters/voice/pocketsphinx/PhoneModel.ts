/**
 * Debian's acoustic model for the phone: PocketSphinx takes a folder of files, so the files that differ are written beside links to the others.
 * `phoneBand.json` holds what was measured; `test/support/hearing/writePhoneBand.ts` measures it again.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Gaussians, readGaussians, writeGaussians } from "./Gaussians.ts"
import { onThePhone, type PhoneBand } from "./PhoneBand.ts"
import measured from "./phoneBand.json" with { type: "json" }

/** The front end for speech at 8 kHz, with as many filters as the model has in this band. */
export const phoneFeatures = { samprate: 8000, nfft: 256, lowerf: 200, upperf: 3600, nfilt: 18 }
const fromModel = /^-(samprate|nfft|lowerf|upperf|nfilt) /
const features = Object.entries(phoneFeatures).map(([name, value]) => `-${name} ${value}`)

const read = (folder: string, name: string): Gaussians => readGaussians(readFileSync(join(folder, name)))

export const phoneBand: PhoneBand = measured

const filesOf = (acousticModel: string): Readonly<Record<string, string | Uint8Array>> => {
  const { means, variances } = onThePhone(phoneBand, { means: read(acousticModel, "means"), variances: read(acousticModel, "variances") })
  const params = readFileSync(join(acousticModel, "feat.params"), "utf8").split("\n")
  return {
    means: writeGaussians(means),
    variances: writeGaussians(variances),
    "feat.params": [...features, ...params.filter((line) => !fromModel.test(line))].join("\n")
  }
}

export interface PhoneModel {
  /** The folder exists while `use` runs. */
  readonly use: <A>(use: (folder: string) => A) => A
}

/** Fits the model once, which takes 0.1 s; each use writes 1.7 MB. */
export const makePhoneModel = (acousticModel: string): PhoneModel => {
  const written = filesOf(acousticModel)
  const others = readdirSync(acousticModel).filter((name) => !(name in written))
  return {
    use: (use) => {
      const folder = mkdtempSync(join(tmpdir(), "phone-model-"))
      try {
        for (const [name, content] of Object.entries(written)) writeFileSync(join(folder, name), content)
        for (const name of others) symlinkSync(join(acousticModel, name), join(folder, name))
        return use(folder)
      } finally {
        rmSync(folder, { recursive: true })
      }
    }
  }
}
