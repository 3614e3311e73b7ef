/** The recognizer that the engine brings: as the setting asks for it, and ready once its model is there. */
import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import t from "tap"
import { OrganizationId } from "#core/Id.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { Config } from "#runtime/config/config.ts"
import { layer } from "#runtime/plugins.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { trunksOfAll } from "#test/support/egress.ts"
import { heardIn, open } from "#test/support/hearing/openTrial.ts"
import { keptSpeech } from "#test/support/keptSpeech.ts"
import { moonshineRoot, moonshineUnavailable } from "#test/support/moonshine.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const skip = (await moonshineUnavailable()) ?? false

t.test("given the models in the data folder, when the engine starts, then agents hear, with nothing else", { skip }, async (t) => {
  const folder = temporaryFolder(t)
  await mkdir(folder, { recursive: true })
  await symlink(moonshineRoot, join(folder, "models"))
  const settings = Config.layerOf({ ADAPTERS: "ari", DATA_DIR: folder, HEARING: "moonshine-tiny", POCKETSPHINX_DIR: "off" })
  const heard = Effect.gen(function* () {
    const { defaults, find } = yield* ServiceRegistry
    const provider = find("stt", defaults.stt)
    yield* Effect.promise(() => untilTrue("the model", () => provider?.unready?.() === undefined))
    const recognizer = provider?.recognizer({}, { egress: trunksOfAll()(OrganizationId.make(1)) })
    if (recognizer === undefined) return ""
    const said = heardIn(recognizer, { ...open, phrases: ["yes", "no"] }, keptSpeech("slt", "yes"))
    // On a busy machine, an utterance may take longer than a callee waits.
    return yield* Effect.repeat(said, { until: (text) => text !== "", times: 20 })
  })
  const text = await runLive(heard.pipe(Effect.provide(Layer.provide(layer, [settings, FliteVoices.layer()]))))
  t.match(text, /^yes/i)
})
