/** Moonshine's models, fetched from npm into the cache folder. */
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { fetchMoonshine } from "#adapters/voice/moonshine/fetchMoonshine.ts"
import { leadInOf, leadInText } from "#adapters/voice/moonshine/LeadIn.ts"
import { findMoonshine, type MoonshineSize } from "#adapters/voice/moonshine/MoonshineFiles.ts"
import type { TranscriptionModel } from "#adapters/voice/moonshine/TranscriptionModel.ts"
import { encode } from "#core/audio/Mulaw.ts"
import { keptSpeech } from "./keptSpeech.ts"

/** The folder that they are in. */
export const moonshineRoot = process.env["MOONSHINE_CACHE"] ?? fileURLToPath(new URL("../../.cache/moonshine", import.meta.url))

const sizes: ReadonlyArray<MoonshineSize> = ["tiny", "base"]

const leadIn = () => leadInOf(encode(keptSpeech("slt", leadInText)))

/** Why they cannot be had, as the reason to skip a test; undefined once they are there. With `CI` set to "true", that is an error. */
export const moonshineUnavailable = async (): Promise<string | undefined> => {
  if (sizes.every((size) => findMoonshine(moonshineRoot, size, leadIn()) !== undefined)) return undefined
  // The process that fetches them does not keep this one alive.
  const alive = setInterval(() => {}, 1000)
  const why = await Effect.runPromise(
    Effect.match(fetchMoonshine({ root: moonshineRoot, sizes }, process.env), {
      onSuccess: () => undefined,
      onFailure: ({ message }) => message
    })
  )
  clearInterval(alive)
  if (why !== undefined && process.env["CI"] === "true") throw new Error(why)
  return why
}

/** It must have been fetched. */
export const moonshineModel = (size: MoonshineSize): TranscriptionModel => {
  const model = findMoonshine(moonshineRoot, size, leadIn())
  if (model === undefined) throw new Error(`Moonshine is not in ${moonshineRoot}`)
  return model
}
