/**
 * A model of the operator's own, in a folder as sherpa-onnx' models are published: https://github.com/k2-fsa/sherpa-onnx/releases/tag/asr-models. Whisper,
 * transducers (Zipformer, Parakeet) and Moonshine are recognized by their files. For any other, and to name its languages, the folder has a file
 * `recognizer.json`, such as `{ "languages": ["zh", "en"], "modelConfig": { "senseVoice": { "model": "model.int8.onnx" }, "tokens": "tokens.txt" } }`.
 */
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { TranscriptionModel } from "./TranscriptionModel.ts"

interface OwnModel {
  readonly model: TranscriptionModel
  /** ISO 639 codes. Undefined: any. */
  readonly languages: ReadonlyArray<string> | undefined
}

const description = "recognizer.json"

/** Values that name files of the folder become paths. */
const located = (folder: string, files: ReadonlyArray<string>, value: unknown): unknown => {
  if (typeof value === "string") return files.includes(value) ? join(folder, value) : value
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, located(folder, files, part)])) : value
}

/** The smaller of several files comes first: those of eight bits. */
const fileIn = (files: ReadonlyArray<string>, pattern: RegExp): string | undefined => {
  const fitting = files.filter((name) => pattern.test(name)).toSorted()
  return fitting.find((name) => name.includes("int8")) ?? fitting[0]
}

const configIn = (files: ReadonlyArray<string>): JsonObject | undefined => {
  const [encoder, decoder] = [fileIn(files, /encoder.*\.onnx$/), fileIn(files, /decoder.*\.onnx$/)]
  const [joiner, tokens] = [fileIn(files, /joiner.*\.onnx$/), fileIn(files, /tokens\.txt$/)]
  if (encoder === undefined || decoder === undefined || tokens === undefined) return undefined
  if (joiner !== undefined) return { transducer: { encoder, decoder, joiner }, tokens }
  return decoder.includes("merged") ? { moonshine: { encoder, mergedDecoder: decoder }, tokens } : { whisper: { encoder, decoder }, tokens }
}

/** Returns what is wrong with the folder, if there is no model in it. */
export const findOwnModel = (folder: string): OwnModel | string => {
  const named = (modelConfig: JsonObject, files: ReadonlyArray<string>): TranscriptionModel => ({
    name: basename(folder),
    // The cast holds because only strings in it were replaced.
    modelConfig: located(folder, files, modelConfig) as JsonObject,
    leadIn: undefined
  })
  try {
    const files = readdirSync(folder)
    if (!files.includes(description)) {
      const found = configIn(files)
      return found === undefined
        ? `it has neither ${description} nor the files of a model that is known`
        : { model: named(found, files), languages: undefined }
    }
    const described: unknown = JSON.parse(readFileSync(join(folder, description), "utf8"))
    const { languages, modelConfig } = isObject(described) ? described : {}
    if (!isObject(modelConfig)) return `its ${description} has no modelConfig`
    const codes = Array.isArray(languages) ? languages.filter((code) => typeof code === "string") : undefined
    return { model: named(modelConfig, files), languages: codes }
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be read"
  }
}
