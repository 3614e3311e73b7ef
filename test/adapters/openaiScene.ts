/** The client of chat completions at an emulator that answers as scripted. */
import { Effect } from "effect"
import type { Test } from "tap"
import { openaiWith } from "#adapters/voice/openai/openai.ts"
import type { Egress } from "#core/egress/Egress.ts"
import type { LanguageModel, ModelRequest } from "#core/model/LanguageModel.ts"
import { chunk, type Completion, event } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { aRequest, answered } from "./modelScene.ts"

export const apiKey = "sk-emulated-k3y"
const generous = { firstToken: 120_000, betweenTokens: 120_000, total: 240_000 }
export const open = webhooksOf({ privateWebhooks: true })

interface Scene {
  readonly config?: Readonly<Record<string, unknown>>
  readonly egress?: Egress
  readonly limits?: typeof generous
}
/** Runs `use` with a model and its emulator. */
export const withModel = async <A>(
  t: Test,
  scene: Scene,
  use: (model: LanguageModel, emulator: OpenAiEmulator) => Effect.Effect<A>
): Promise<A> => {
  const { config, egress = open, limits = generous } = scene
  const emulator = await OpenAiEmulator.start({ apiKey })
  t.teardown(() => emulator.stop())
  const settings = { provider: "openai", api_key: apiKey, base_url: emulator.url, model: "emulated", ...config }
  return runLive(Effect.flatMap(openaiWith(limits).open(settings, { egress }), (model) => use(model, emulator)).pipe(Effect.orDie))
}
export const answerTo = (t: Test, reply: Completion | RawReply, request: ModelRequest = aRequest, scene: Scene = {}) =>
  withModel(t, scene, (model, emulator) => {
    emulator.script(reply)
    return Effect.map(answered(model, request), (answer) => ({ ...answer, asked: emulator.requests }))
  })

export const delta = (text: string) => event(chunk({ content: text }))
export const stopped = event(chunk({}, "stop"))
export const fragment = (call: object) => event(chunk({ tool_calls: [call] }))
export const raw = (...pieces: RawReply["pieces"]): RawReply => ({ pieces })
