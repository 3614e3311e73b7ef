/** The client of chat completions at an emulator that answers as scripted. */
import { openaiWith } from "#adapters/voice/openai/openai.ts"
import { chunk, event } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { modelOf } from "./modelScene.ts"

export const apiKey = "sk-emulated-k3y"
export const { answerTo, withModel } = modelOf({
  start: () => OpenAiEmulator.start({ apiKey }),
  providerWith: openaiWith,
  configOf: ({ url }: OpenAiEmulator) => ({ provider: "openai", api_key: apiKey, base_url: url, model: "emulated" })
})

export const delta = (text: string) => event(chunk({ content: text }))
export const stopped = event(chunk({}, "stop"))
export const fragment = (call: object) => event(chunk({ tool_calls: [call] }))
export const raw = (...pieces: RawReply["pieces"]): RawReply => ({ pieces })
