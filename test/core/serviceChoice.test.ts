/** Which services an agent gets: its organization's, overlaid by its own. */
import { Effect } from "effect"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { type ModelConfiguration, noModels } from "#core/model/ModelConfiguration.ts"
import { choiceOf } from "#core/model/ServiceChoice.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { servicesLayer } from "#test/support/services.ts"

const registry = await Effect.runPromise(Effect.provide(ServiceRegistry, servicesLayer))
const chosen = (organization: Partial<ModelConfiguration>, configurations: JsonObject = {}) =>
  choiceOf(registry, { ...noModels, ...organization }, configurations)
const openai = { provider: "openai", model: "m", api_key: "sk-ours", base_url: "https://models.example.com/v1" }

t.test("given no configuration, then the engine's own services are used", async (t) => {
  const services = {
    llm: { provider: "embedded" },
    tts: { provider: "flite" },
    stt: { provider: "none" },
    end_of_turn: { provider: "rules" }
  }
  t.strictSame(chosen({}), { ...services, language: "en-US" })
})

t.test("given an agent that chooses some services itself", async (t) => {
  const llm = (own: JsonObject) => chosen({ llm: openai }, { model_overrides: { llm: own } }).llm

  t.test("when it names no other provider and address, then the rest is the organization's", async (t) => {
    t.strictSame(llm({ model: "n" }), { ...openai, model: "n" })
    t.strictSame(llm({ provider: "openai", model: "n", api_key: null }), { ...openai, model: "n" })
    t.strictSame(llm({}), openai)
    const { tts } = chosen({}, { model_overrides: { tts: { voice: "rms" } } })
    t.strictSame(tts, { provider: "flite", voice: "rms" })
  })

  t.test("when it names another, then nothing of the organization's is sent there", async (t) => {
    for (const own of [
      { provider: "openai", model: "m", base_url: "https://evil.example.com/v1" },
      { base_url: "https://evil.example.com/v1" },
      { api_host: "evil.example.com" },
      { provider: "embedded" }
    ])
      t.strictSame(llm(own), own)
  })

  t.test("when it has a whole configuration, then that replaces the organization's", async (t) => {
    const own = (byok: JsonObject) => ({ model_configuration_v2_override: { version: 2, mode: "byok", byok } })
    const pipeline = { llm: { provider: "embedded" }, tts: { provider: "flite", voice: "awb" }, stt: { provider: "none" } }
    const { language: _, ...services } = chosen({ llm: openai }, own({ mode: "pipeline", pipeline }))
    t.strictSame(services, { ...pipeline, end_of_turn: { provider: "rules" } })
    t.match(chosen({ llm: openai }, own({ mode: "pipeline", pipeline: "x" })), { llm: { provider: "embedded" } })
    t.match(chosen({ llm: openai }, own({ mode: "realtime", realtime: { llm: openai } })), { llm: openai, stt: { provider: "none" } })
  })
})

t.test("given languages that are set, then the agent's own comes before that of its recognizer", async (t) => {
  const stt = { provider: "earshot", language: "de" }
  t.equal(chosen({ stt }).language, "de")
  t.equal(chosen({ stt }, { model_overrides: { stt: { language: "fr" } } }).language, "fr")
  t.equal(chosen({ stt }, { embedded: { language: "en-GB" }, model_overrides: { stt: { language: "fr" } } }).language, "en-GB")
})
