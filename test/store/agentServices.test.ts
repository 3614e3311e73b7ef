/** The services of calls, from what is stored: when a change takes effect, what a call costs, and what cannot be used. */
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { put } from "#core/model/ModelConfigurationStore.ts"
import type { Sealer } from "#core/Sealer.ts"
import { aRequest } from "#test/adapters/modelScene.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import * as given from "#test/support/given.ts"
import { egress } from "#test/support/egress.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { servicesLayer } from "#test/support/services.ts"

const database = await openDatabase(t)

interface Scene {
  readonly id: OrganizationId
  readonly agents: AgentServices["Service"]
  readonly models: ModelConfigurations["Service"]
  readonly sql: SqlClient.SqlClient
}
/** Runs with a new organization. */
const scene = <A>(
  play: (scene: Scene) => Effect.Effect<A, unknown, Sealer | SqlClient.SqlClient>,
  { isOperators = false }: { readonly isOperators?: boolean } = {}
) =>
  database.run(
    Effect.gen(function* () {
      const id = yield* given.organization({ name: "Ours" })
      const playing = Effect.gen(function* () {
        return yield* play({ id, agents: yield* AgentServices, models: yield* ModelConfigurations, sql: yield* SqlClient.SqlClient })
      })
      return yield* playing.pipe(
        Effect.provide(Layer.fresh(Layer.merge(AgentServices.layer, ModelConfigurations.layer))),
        Effect.provide([servicesLayer, egress(isOperators ? { first: id } : {})])
      )
    }).pipe(Effect.orDie)
  )

const changes = (models: object) => ({ models, preferences: {} })

t.test("given a call that was planned, when the services are changed, then the next call has the new ones, with one query", async (t) => {
  const voices = await scene(({ agents, id, models, sql }) =>
    Effect.gen(function* () {
      const voice = Effect.map(agents.chosenFor(id, {}), (chosen) => chosen.voice.speech.voice)
      const first = yield* voice
      yield* models.update(id, changes({ tts: { provider: "flite", voice: "rms" } }))
      const second = yield* voice
      yield* sql`ALTER TABLE model_configurations RENAME TO out_of_reach`
      const third = yield* voice
      yield* sql`ALTER TABLE out_of_reach RENAME TO model_configurations`
      const pipeline = {
        llm: { provider: "embedded" },
        tts: { provider: "flite", voice: "awb" },
        stt: { provider: "none" },
        embeddings: null
      }
      yield* models.replace(id, { version: 2, mode: "byok", dograh: null, byok: { mode: "pipeline", pipeline, realtime: null } })
      return [first, second, third, yield* voice]
    })
  )
  t.strictSame(voices, ["slt", "rms", "rms", "awb"])
})

t.test("given two organizations, then each has its own services, and an agent's own take precedence", async (t) => {
  const [ours, theirs, own] = await scene(({ agents, id, models }) =>
    Effect.gen(function* () {
      const other = yield* given.organization({ name: "Theirs" })
      yield* models.update(id, changes({ tts: { provider: "flite", voice: "kal" }, stt: { provider: "deepgram", language: "en-GB" } }))
      return [
        yield* agents.chosenFor(id, {}),
        yield* agents.chosenFor(other, {}),
        yield* agents.chosenFor(id, { model_overrides: { tts: { voice: "kal16" }, stt: { provider: "none" } } })
      ]
    })
  )
  t.match(ours, { voice: { speech: { voice: "kal" } }, language: "en-GB", hearing: { provider: "deepgram" } })
  t.match(theirs, { voice: { speech: { voice: "slt" } }, language: "en-US", hearing: undefined })
  t.match(own, { voice: { speech: { voice: "kal16" } }, hearing: undefined })
})

t.test(
  "given an agent that chooses an end-of-turn model, then it gets that or the rules, and an unknown one fails when it is opened",
  async (t) => {
    const [usual, missing] = await scene(({ agents, id }) =>
      Effect.gen(function* () {
        const { endOfTurn } = yield* agents.chosenFor(id, {})
        const other = yield* agents.chosenFor(id, { model_overrides: { end_of_turn: { provider: "oracle" } } })
        return [yield* Effect.scoped(endOfTurn), yield* Effect.flip(Effect.scoped(other.endOfTurn))]
      })
    )
    t.match([usual, missing], [{ model: "rules" }, { message: "This engine has no end_of_turn provider 'oracle'" }])
  }
)

t.test("given no model, then there is no recognizer", async (t) => {
  const chosen = await scene(({ agents, id, models }) =>
    Effect.gen(function* () {
      yield* models.update(id, changes({ llm: { provider: "none" }, stt: { provider: "deepgram" } }))
      const { hearing, model } = yield* agents.chosenFor(id, {})
      return { hearing, error: yield* Effect.flip(Effect.scoped(model)) }
    })
  )
  t.match(chosen, { hearing: undefined, error: { reason: "refused" } })
})

t.test("given stored services that cannot be used, then a call is planned, and opening them fails, without their keys", async (t) => {
  const gone = { provider: "elevenlabs", api_key: "sk-gone-12345678" }
  const incomplete = { provider: "openai", api_key: "sk-incomplete-1" }
  const store = (id: OrganizationId, llm: object) => ({
    version: 2 as const,
    mode: "byok" as const,
    dograh: null,
    byok: { mode: "pipeline" as const, pipeline: { llm: { ...llm }, tts: gone, stt: gone, embeddings: null }, realtime: null },
    id
  })
  for (const [llm, words] of [
    [gone, "This engine has no llm provider 'elevenlabs'"],
    [incomplete, "model is missing or not what it must be"]
  ] as const) {
    const { deafness, muteness, voice } = await scene(({ agents, id, sql }) =>
      Effect.gen(function* () {
        const { id: _, ...document } = store(id, llm)
        yield* put(sql, id, document)
        const { hearing, model, voice } = yield* agents.chosenFor(id, {})
        const opened = hearing?.open({ language: "en-US", keyterms: [], phrases: [] }, () => {}) ?? Effect.die("there is a recognizer")
        return {
          muteness: yield* Effect.flip(Effect.scoped(model)),
          deafness: yield* Effect.flip(Effect.scoped(opened)),
          voice: voice.speech.voice
        }
      })
    )
    t.match(muteness, { _tag: "ModelError", reason: "refused", isRetryable: false, message: words })
    t.match(deafness, { _tag: "ModelError", reason: "refused", message: "This engine has no stt provider 'elevenlabs'" })
    t.notMatch(JSON.stringify([muteness, deafness, String(muteness)]), /sk-/)
    t.equal(voice, "slt")
  }
})

t.test("given a language model on the operator's machine", async (t) => {
  const emulator = await OpenAiEmulator.start({ apiKey: "sk-right-key" })
  t.teardown(() => emulator.stop())
  const llm = { provider: "openai", model: "emulated", api_key: "sk-right-key", base_url: emulator.url }
  const answer = (scene: Scene, configurations: JsonObject) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { model } = yield* scene.agents.chosenFor(scene.id, configurations)
        return yield* Stream.runCollect((yield* model).answer(aRequest))
      })
    )

  t.test("when the operator's organization has chosen it, then its agents speak with it, or with another of its models", async (t) => {
    emulator.script({ text: ["Good ", "morning."] })
    emulator.script({ text: ["Good evening."] })
    const parts = await scene(
      (scene) =>
        Effect.gen(function* () {
          yield* scene.models.update(scene.id, changes({ llm }))
          const general = yield* answer(scene, {})
          return [...general, ...(yield* answer(scene, { model_overrides: { llm: { model: "another" } } }))]
        }),
      { isOperators: true }
    )
    t.equal(parts.flatMap((part) => (part._tag === "Text" ? [part.text] : [])).join("|"), "Good |morning.|Good evening.")
    t.strictSame(
      emulator.requests.map(({ body }) => body?.model),
      ["emulated", "another"]
    )
  })

  t.test("when another organization has it stored, then it is not connected to", async (t) => {
    const before = emulator.requests.length
    const error = await scene((scene) =>
      Effect.gen(function* () {
        const pipeline = { llm, tts: { provider: "flite" }, stt: { provider: "none" }, embeddings: null }
        yield* put(scene.sql, scene.id, {
          version: 2,
          mode: "byok",
          dograh: null,
          byok: { mode: "pipeline", pipeline, realtime: null }
        })
        return yield* Effect.flip(answer(scene, {}))
      })
    )
    t.match(error, { _tag: "ModelError", isRetryable: false })
    t.notMatch(String(error), /sk-/)
    t.equal(emulator.requests.length, before)
  })
})
