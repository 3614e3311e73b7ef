/** The services of calls, from what is stored: when a change takes effect, what a call costs, and what cannot be used. */
import { Effect, Layer, type Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import t, { type Test } from "tap"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { put } from "#core/model/ModelConfigurationStore.ts"
import type { ModelDocument } from "#core/model/ModelDocument.ts"
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { deaf, defineRecognizer } from "#core/model/RecognizerProvider.ts"
import type { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import type { Sealer } from "#core/Sealer.ts"
import { aRequest } from "#test/adapters/modelScene.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import * as given from "#test/support/given.ts"
import { egress } from "#test/support/egress.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { servicesLayer, servicesWith } from "#test/support/services.ts"

const database = await openDatabase(t)

type Pipeline = NonNullable<NonNullable<ModelDocument["byok"]>["pipeline"]>
interface Scene {
  readonly id: OrganizationId
  readonly agents: AgentServices["Service"]
  readonly models: ModelConfigurations["Service"]
  readonly sql: SqlClient.SqlClient
}
/** A test with a new organization. */
const test = (
  t: Test,
  title: string,
  body: (t: Test, scene: Scene) => Generator<Effect.Effect<unknown, unknown, Sealer | SqlClient.SqlClient | Scope.Scope>, void, never>,
  {
    isOperators = false,
    services = servicesLayer
  }: { readonly isOperators?: boolean; readonly services?: Layer.Layer<ServiceRegistry> } = {}
) =>
  t.test(title, (t) =>
    database.run(function* () {
      const id = yield* given.organization({ name: "Ours" })
      const sql = yield* SqlClient.SqlClient
      const [agents, models] = yield* Effect.all([AgentServices, ModelConfigurations]).pipe(
        Effect.provide(Layer.fresh(Layer.merge(AgentServices.layer, ModelConfigurations.layer))),
        Effect.provide([services, egress(isOperators ? { first: id } : {})])
      )
      yield* Effect.gen(() => body(t, { agents, id, models, sql }))
    })
  )

const changes = (models: object) => ({ models, preferences: {} })
const documentOf = (pipeline: Pipeline): ModelDocument => ({
  version: 2,
  mode: "byok",
  dograh: null,
  byok: { mode: "pipeline", pipeline, realtime: null }
})

test(
  t,
  "given a call that was planned, when the services change, then the next one has the new ones, with one query",
  function* (t, scene) {
    const { agents, id, models, sql } = scene
    const voice = Effect.map(agents.chosenFor(id, {}), (chosen) => chosen.voice.speech.voice)
    t.equal(yield* voice, "slt")
    yield* models.update(id, changes({ tts: { provider: "flite", voice: "rms" } }))
    t.equal(yield* voice, "rms")
    yield* sql`ALTER TABLE model_configurations RENAME TO out_of_reach`
    t.equal(yield* voice, "rms")
    yield* sql`ALTER TABLE out_of_reach RENAME TO model_configurations`
    const pipeline = {
      llm: { provider: "embedded" },
      tts: { provider: "flite", voice: "awb" },
      stt: { provider: "none" },
      embeddings: null
    }
    yield* models.replace(id, documentOf(pipeline))
    t.equal(yield* voice, "awb")
  }
)

test(
  t,
  "given two organizations, then each has its own services, and an agent's own take precedence",
  function* (t, { agents, id, models }) {
    const other = yield* given.organization({ name: "Theirs" })
    yield* models.update(id, changes({ tts: { provider: "flite", voice: "kal" }, stt: { provider: "earshot", language: "en-GB" } }))
    const own = { model_overrides: { tts: { voice: "kal16" }, stt: { provider: "none" } } }
    const [voice, hearing] = [{ speech: { voice: "kal" } }, { provider: "earshot" }]
    t.match(yield* agents.chosenFor(id, {}), { voice, language: "en-GB", hearing })
    t.match(yield* agents.chosenFor(other, {}), { voice: { speech: { voice: "slt" } }, language: "en-US", hearing: undefined })
    t.match(yield* agents.chosenFor(id, own), { voice: { speech: { voice: "kal16" } }, hearing: undefined })
  }
)

test(
  t,
  "given an agent's end-of-turn model, then it has that or the rules, and an unknown one cannot be opened",
  function* (t, { agents, id }) {
    const { endOfTurn } = yield* agents.chosenFor(id, {})
    const other = yield* agents.chosenFor(id, { model_overrides: { end_of_turn: { provider: "oracle" } } })
    t.match(yield* endOfTurn, { model: "rules" })
    t.match(yield* Effect.flip(other.endOfTurn), { message: "This engine has no end_of_turn provider 'oracle'" })
  }
)

test(t, "given no model, then there is no recognizer", function* (t, { agents, id, models }) {
  yield* models.update(id, changes({ llm: { provider: "none" }, stt: { provider: "earshot" } }))
  const { hearing, model } = yield* agents.chosenFor(id, {})
  t.equal(hearing, undefined)
  t.match(yield* Effect.flip(model), { reason: "refused" })
})

/** A recognizer of that name, which works or is not there yet. */
const ears = (provider: string, why?: string) =>
  defineRecognizer({
    manifest: { contract: 1, kind: "stt", provider, title: provider, description: "" },
    fields: {},
    unready: () => why,
    recognizer: () => deaf(provider, new ModelError({ reason: "broken", isRetryable: true, message: "not opened" }))
  })
const hearingWith = (...recognizers: ReadonlyArray<ReturnType<typeof ears>>) => ({
  services: servicesWith(...recognizers)
})
const hosted = changes({ stt: { provider: "hosted" } })

test(
  t,
  "given a hosted recognizer, then the usual one takes over when it fails",
  function* (t, { agents, id, models }) {
    const substitutes = [{ provider: "moonshine" }]
    t.match(yield* agents.chosenFor(id, {}), { hearing: { provider: "moonshine" }, substitutes: [] })
    yield* models.update(id, hosted)
    t.match(yield* agents.chosenFor(id, {}), { hearing: { provider: "hosted" }, substitutes })
  },
  hearingWith(ears("hosted"), ears("moonshine"))
)

test(
  t,
  "given a usual recognizer that is not there yet, then agents greet and accept keys, or hear by another one alone",
  function* (t, { agents, id, models }) {
    t.match(yield* agents.chosenFor(id, {}), { hearing: undefined, substitutes: [] })
    yield* models.update(id, hosted)
    t.match(yield* agents.chosenFor(id, {}), { hearing: { provider: "hosted" }, substitutes: [] })
  },
  hearingWith(ears("hosted"), ears("moonshine", "it is being fetched"))
)

/** A model that reads back what it is told. */
const acme = defineLanguageModel({
  manifest: { contract: 1, kind: "llm", provider: "acme", title: "Acme", description: "" },
  fields: {},
  open: (_config, _host, told) => Effect.succeed({ provider: "acme", model: JSON.stringify(told), answer: () => Stream.empty })
})

test(
  t,
  "given what an agent's author tells a model, then the model gets it as it is, and others do not",
  function* (t, { agents, id }) {
    const modelFor = (configurations: JsonObject) =>
      Effect.flatMap(agents.chosenFor(id, { ...configurations, model_overrides: { llm: { provider: "acme" } } }), ({ model }) => model)
    t.match(yield* modelFor({ acme: { tone: ["dry"] }, embedded: { introduction: "Ann." } }), { model: '{"tone":["dry"]}' })
    t.match(yield* modelFor({ acme: "dry" }), { model: "{}" })
  },
  { services: servicesWith(acme) }
)

const gone = { provider: "rime", api_key: "sk-gone-12345678" }
for (const [llm, words] of [
  [gone, "This engine has no llm provider 'rime'"],
  [{ provider: "openai", api_key: "sk-incomplete-1" }, "model is missing or not what it must be"]
] as const)
  test(t, `given stored services that cannot be used, then calls are planned, and they fail without keys: ${words}`, function* (t, scene) {
    const { agents, id, sql } = scene
    yield* put(sql, id, documentOf({ llm, tts: gone, stt: gone, embeddings: null }))
    const { hearing, model, voice } = yield* agents.chosenFor(id, {})
    const opened = hearing?.open({ language: "en-US", keyterms: [], phrases: [] }, () => {}) ?? Effect.die("there is a recognizer")
    const muteness = yield* Effect.flip(model)
    const deafness = yield* Effect.flip(opened)
    t.match(muteness, { _tag: "ModelError", reason: "refused", isRetryable: false, message: words })
    t.match(deafness, { _tag: "ModelError", reason: "refused", message: "This engine has no stt provider 'rime'" })
    t.notMatch(JSON.stringify([muteness, deafness, String(muteness)]), /sk-/)
    t.equal(voice.speech.voice, "slt")
  })

t.test("given a language model on the operator's machine", async (t) => {
  const emulator = await OpenAiEmulator.start({ apiKey: "sk-right-key" })
  t.teardown(() => emulator.stop())
  const llm = { provider: "openai", model: "emulated", api_key: "sk-right-key", base_url: emulator.url }
  const answer = Effect.fnUntraced(function* ({ agents, id }: Scene, configurations: JsonObject) {
    const { model } = yield* agents.chosenFor(id, configurations)
    return yield* Stream.runCollect((yield* model).answer(aRequest))
  })

  const speak = function* (t: Test, scene: Scene) {
    emulator.script({ text: ["Good ", "morning."] })
    emulator.script({ text: ["Good evening."] })
    yield* scene.models.update(scene.id, changes({ llm }))
    const parts = [...(yield* answer(scene, {})), ...(yield* answer(scene, { model_overrides: { llm: { model: "another" } } }))]
    t.equal(parts.flatMap((part) => (part._tag === "Text" ? [part.text] : [])).join("|"), "Good |morning.|Good evening.")
    t.equal(emulator.requests.map(({ body }) => body?.model).join(), "emulated,another")
  }
  const title = "when the operator's organization has chosen it, then its agents speak with it, or with another of its models"
  test(t, title, speak, { isOperators: true })

  test(t, "when another organization has it stored, then it is not connected to", function* (t, scene) {
    const before = emulator.requests.length
    const pipeline = { llm, tts: { provider: "flite" }, stt: { provider: "none" }, embeddings: null }
    yield* put(scene.sql, scene.id, documentOf(pipeline))
    const error = yield* Effect.flip(answer(scene, {}))
    t.match(error, { _tag: "ModelError", isRetryable: false })
    t.notMatch(String(error), /sk-/)
    t.equal(emulator.requests.length, before)
  })
})
