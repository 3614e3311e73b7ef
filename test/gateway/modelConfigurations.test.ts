/** The organization's speech and language services as one document, next to the other routes that show the same. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { put as store } from "#core/model/ModelConfigurationStore.ts"
import { openApi } from "./apiTest.ts"
import { said } from "./gatewayTest.ts"
import { llm, noServices, servicesPath, shownLlm, storedIn } from "./modelServices.ts"
import { fliteVoices } from "#runtime/voice/FliteWasm.ts"

const api = await openApi(t)
const { ask, askAsOther } = api

const path = "/organizations/model-configurations/v2"
const read = async (asking = ask) => (await asking("GET", path)).json
const put = (json: unknown) => ask("PUT", path, json)
const services = async () => (await ask("GET", servicesPath)).json
const putServices = (json: unknown) => ask("PUT", servicesPath, json)
const context = async (asking = ask) => (await asking("GET", "/organizations/context")).json

const stored = () => storedIn(api)

const tts = { provider: "flite", voice: "slt" }
const stt = { provider: "deepgram", api_key: "sk-stt-55556666" }
const shownStt = { ...stt, api_key: "***********6666" }
const byok = (mode: string, section: object) => ({ version: 2, mode: "byok", byok: { mode, [mode]: section } })
const pipeline = byok("pipeline", { llm, tts, stt })
const shownPipeline = byok("pipeline", { llm: shownLlm, tts, stt: shownStt })
const nothing = { configuration: null, effective_configuration: noServices, source: "empty", warnings: [] }

t.test("given nothing that is configured, when it is read, then there is no configuration, and all routes say so", async (t) => {
  t.strictSame(await read(), nothing)
  t.match(await context(), { model_services: { config_source: "empty", has_model_configuration_v2: false } })
})

t.test("given a configuration", async (t) => {
  t.test("when it is written, then it is read as it was sent, except for its secrets, and other routes agree", async (t) => {
    const answer = await put(pipeline)
    const effective = { ...noServices, llm: shownLlm, tts, stt: shownStt }
    t.match(said(answer), [200, { configuration: shownPipeline, effective_configuration: effective, source: "organization_v2" }])
    t.strictSame(await read(), answer.json)
    t.notMatch(answer.text, /sk-/)
    t.match(await stored(), [{ configuration: pipeline }])
    t.strictSame(await services(), { ...effective, organization_pricing: null, warnings: [] })
    t.match(await context(), {
      model_services: {
        config_source: "organization_v2",
        has_model_configuration_v2: true,
        managed_service_version: null,
        uses_managed_service_v2: false
      }
    })
  })

  t.test("when what was read is sent back, by either route, then nothing changes", async (t) => {
    const before = await stored()
    await put(shownPipeline)
    await put(((await read()) as { readonly configuration: object }).configuration)
    await putServices(await services())
    t.strictSame(await stored(), before)
  })

  t.test("when a service is set by itself, then the configuration has it", async (t) => {
    await putServices({ stt, embeddings: { provider: "openai", api_key: "sk-emb-77778888" } })
    t.match(await read(), {
      configuration: byok("pipeline", { llm: shownLlm, tts, stt: shownStt, embeddings: { api_key: "***********8888" } }),
      source: "organization_v2"
    })
  })

  t.test("when the other mode is set, then only its own services are in effect", async (t) => {
    const realtime = { provider: "live", api_key: "sk-live-99990000" }
    const answer = await put(byok("realtime", { realtime, llm: shownLlm }))
    const shown = { ...realtime, api_key: "************0000" }
    t.match(said(answer), [
      200,
      {
        configuration: byok("realtime", { realtime: shown, llm: shownLlm }),
        effective_configuration: { ...noServices, realtime: shown, llm: shownLlm, is_realtime: true }
      }
    ])
    await putServices({ tts })
    t.match(await read(), { configuration: { byok: { mode: "realtime", pipeline: { tts } } }, effective_configuration: { tts: null } })
    t.match(await services(), { tts, stt: null, is_realtime: true })
  })

  t.test("when a service that its mode needs is removed, then the rest is shown service by service", async (t) => {
    await putServices({ llm: {} })
    t.match(await read(), { configuration: null, effective_configuration: { llm: null, is_realtime: true }, source: "legacy_user_v1" })
    t.match(await context(), { model_services: { config_source: "legacy_user_v1", has_model_configuration_v2: false } })
    await putServices({ llm: {}, tts: {}, realtime: {}, is_realtime: false })
    t.strictSame(await read(), nothing)
    t.strictSame(await stored(), [])
  })
})

t.test("given services that were set one by one", async (t) => {
  t.test("when they are all that a configuration needs, then there is one, and their masks may be sent in it", async (t) => {
    await putServices({ llm, tts })
    t.match(await read(), { configuration: null, effective_configuration: { llm: shownLlm }, source: "legacy_user_v1" })
    t.match(await put(byok("realtime", { realtime: { provider: "live" }, llm: shownLlm })), { status: 200 })
    t.match(await stored(), [{ configuration: byok("realtime", { realtime: { provider: "live" }, llm }) }])
    await putServices({ is_realtime: false, tts, stt })
    t.match(await read(), { configuration: shownPipeline, source: "organization_v2" })
  })

  t.test("when both routes write at the same time, then neither loses what the other wrote", async (t) => {
    await put(pipeline)
    await Promise.all([
      putServices({ embeddings: { provider: "one" } }),
      putServices({ realtime: { provider: "two" } }),
      putServices({ tts: { ...tts, voice: "rms" } }),
      ask("PUT", "/organizations/preferences", { timezone: "Asia/Tokyo" })
    ])
    t.match(await read(), {
      configuration: {
        byok: {
          pipeline: { llm: shownLlm, tts: { voice: "rms" }, embeddings: { provider: "one" } },
          realtime: { realtime: { provider: "two" } }
        }
      },
      effective_configuration: { embeddings: { provider: "one" }, realtime: null, timezone: "Asia/Tokyo" }
    })
  })
})

/** As the existing product stores them, with all members that it knows. */
const storedModels: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  { provider: "openai", model: "gpt-4.1", base_url: "https://api.openai.com/v1" },
  { provider: "groq", model: "llama-3.3-70b-versatile" },
  { provider: "openrouter", model: "openai/gpt-4.1", base_url: "https://openrouter.ai/api/v1" },
  { provider: "google", model: "gemini-3.5-flash" },
  { provider: "azure", model: "gpt-4.1-mini", endpoint: "https://acme.openai.azure.com" },
  { provider: "speaches", model: "llama3", base_url: "http://localhost:11434/v1" },
  { provider: "huggingface", model: "openai/gpt-oss-120b:cerebras", base_url: "https://router.huggingface.co/v1", bill_to: null },
  { provider: "minimax", model: "MiniMax-M2.7", base_url: "https://api.minimax.io/v1", temperature: 1 },
  { provider: "sarvam", model: "sarvam-105b", temperature: 0.5 },
  { provider: "atlascloud", model: "qwen/qwen3.5-flash", base_url: "https://api.atlascloud.ai/v1" }
]
const storedRecognizers: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  { provider: "elevenlabs", model: "scribe_v2_realtime", language: "auto", base_url: "https://api.elevenlabs.io" },
  { provider: "cartesia", model: "ink-2", language: "en" },
  { provider: "deepgram", model: "nova-3-general", language: "multi" },
  { provider: "openai", model: "gpt-4o-transcribe", base_url: "https://api.openai.com/v1" },
  { provider: "speaches", model: "Systran/faster-distil-whisper-small.en", language: "en", base_url: "http://localhost:8000/v1" }
]

t.test(
  "given a document as the existing product stores it, when it is sent, then it is taken unchanged, and nothing is lacking",
  async (t) => {
    const elevenlabs = {
      provider: "elevenlabs",
      api_key: "sk-voice-12345678",
      voice: "21m00Tcm4TlvDq8ikWAM",
      speed: 1,
      model: "eleven_flash_v2_5"
    }
    const documents = storedModels.map((model, at) => ({ model, recognizer: storedRecognizers[at % storedRecognizers.length] }))
    for (const { model, recognizer } of documents) {
      const heard = { ...recognizer, api_key: ["sk-one-11111111", "sk-two-22222222"] }
      const document = {
        ...byok("pipeline", { llm: { ...model, api_key: ["sk-llm-11111111"] }, tts: elevenlabs, stt: heard, embeddings: null }),
        dograh: null
      }
      const answer = await put(document)
      t.strictSame(said(answer)[0], 200, `${String(model["provider"])}, ${String(recognizer?.["provider"])}`)
      t.match(answer.json, { warnings: [] })
      t.match(await stored(), [{ configuration: document }])
    }
    await put(pipeline)
  }
)

t.test("given models that the existing product hosts", async (t) => {
  const hosted = { api_key: "sk-hosted-12345678", voice: "nova", speed: 1.2, language: "de" }

  t.test("when they are sent, then they are refused, because no call could use them", async (t) => {
    const before = await stored()
    const answer = await put({ version: 2, mode: "dograh", dograh: hosted })
    t.match(said(answer), [422, { detail: [{ loc: ["body", "mode"], msg: "This engine hosts no models: use the mode 'byok'" }] }])
    t.notMatch(answer.text, /sk-/)
    t.strictSame(await stored(), before)
  })

  t.test("when they were stored earlier, then each service names them, and the engine says that it does not have them", async (t) => {
    await api.database.run(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        store(sql, api.organizationId, { version: 2, mode: "dograh", dograh: hosted, byok: null })
      )
    )
    t.match(await services(), {
      llm: { provider: "dograh", api_key: "**************5678" },
      tts: { provider: "dograh", voice: "nova", speed: 1.2 },
      stt: { provider: "dograh", language: "de" }
    })
    t.match(await context(), { model_services: { config_source: "organization_v2", uses_managed_service_v2: false } })
    const checked = await ask("GET", `${servicesPath}/validate`)
    t.match(said(checked), [422, { detail: [{ loc: ["llm"], msg: /^llm: This engine has no llm provider 'dograh'/ }, {}, {}] }])
    await putServices({ timezone: "UTC" })
    t.match(await stored(), [{ configuration: { mode: "dograh", dograh: hosted } }])
    await putServices({ llm })
    t.match(await stored(), [
      { configuration: { mode: "byok", dograh: hosted, byok: { pipeline: { llm, tts: { provider: "dograh", voice: "nova" } } } } }
    ])
  })
})

t.test("given an invalid configuration, when it is sent, then 422 at its place, and nothing is stored", async (t) => {
  const before = await stored()
  const check = async (json: unknown, detail: ReadonlyArray<object>) => t.match(said(await put(json)), [422, { detail }])
  await check({ version: 1, mode: "own", byok: [] }, [
    { loc: ["body", "version"], type: "literal_error" },
    { loc: ["body", "mode"], type: "literal_error" },
    { loc: ["body", "byok"], type: "model_attributes_type" }
  ])
  await check({ mode: "dograh" }, [{ loc: ["body", "dograh"], type: "missing" }, { loc: ["body", "mode"] }])
  await check({ mode: "dograh", dograh: { api_key: 5, speed: 3 } }, [
    { loc: ["body", "dograh", "api_key"] },
    { loc: ["body", "dograh", "speed"] }
  ])
  await check({ mode: "byok", byok: { mode: "pipeline", realtime: {} } }, [{ loc: ["body", "byok", "pipeline"], type: "missing" }])
  await check(byok("pipeline", { llm, tts: "flite" }), [{ loc: ["body", "byok", "pipeline", "tts"], type: "dict_type" }])
  await check(byok("pipeline", { llm, tts }), [{ loc: ["body", "byok", "pipeline", "stt"], type: "missing", msg: "Field required" }])
  const elsewhere = { llm: { provider: "elevenlabs" }, tts: { provider: "flite", voice: "anna" }, stt: { provider: "none" } }
  await check(
    { ...byok("pipeline", elsewhere), byok: { mode: "pipeline", pipeline: elsewhere, realtime: { llm: { provider: "openai" } } } },
    [{ loc: ["body", "byok", "pipeline", "tts", "voice"] }, { loc: ["body", "byok", "realtime", "llm", "model"], type: "missing" }]
  )
  await check(byok("pipeline", { llm: { text: "x".repeat(65_536) }, tts, stt }), [{ loc: ["body"], msg: /at most 65536 bytes/ }])
  t.strictSame(await stored(), before)
})

t.test("given another organization, when it reads, or sends a mask of ours, then it gets nothing of ours", async (t) => {
  await put(pipeline)
  t.strictSame(await read(askAsOther), nothing)
  t.equal((await askAsOther("PUT", path, shownPipeline)).status, 422)
  t.match(await askAsOther("PUT", path, byok("pipeline", { llm: { provider: "embedded" }, tts, stt: { provider: "none" } })), {
    status: 200
  })
  t.match(await context(askAsOther), { model_services: { config_source: "organization_v2" } })
  t.match(await read(), { configuration: shownPipeline })
})

t.test("given a viewer, when the configuration is read, then it is masked", async (t) => {
  t.match(await ask("GET", path, undefined, { key: await api.makeKey({ role: "viewer" }) }), { json: { configuration: shownPipeline } })
})

t.test("given the engine, when the available services are requested, then it lists its own, without a price", async (t) => {
  const { json } = await ask("GET", `${path}/defaults`)
  const flite = { type: "object", properties: { provider: { const: "flite" }, voice: { enum: [...fliteVoices] } } }
  t.match(json, {
    dograh: { voices: [], languages: [], speeds: [], defaults: { voice: "default", speed: 1, language: "multi" } },
    byok: { pipeline: { tts: { flite }, default_providers: { tts: "flite" } }, realtime: { default_providers: { tts: "flite" } } }
  })
  const { pipeline, realtime } = (json as { readonly byok: { readonly pipeline: object; readonly realtime: object } }).byok
  const none = { title: "None", properties: { provider: { const: "none" } }, required: ["provider"] }
  const default_providers = { llm: "embedded", tts: "flite", stt: "none" }
  const openai = { required: ["provider", "model"] }
  t.match(
    pipeline,
    { llm: { none, openai }, stt: { none }, default_providers },
    "and what stands for no recognizer, so that a form can be saved"
  )
  t.match(realtime, { llm: { none, openai }, default_providers })
  const chosen = { llm: { provider: "none" }, tts: { provider: "flite" }, stt: { provider: "none" } }
  const saved = await askAsOther("PUT", path, { version: 2, mode: "byok", byok: { mode: "pipeline", pipeline: chosen } })
  t.match(saved, { status: 200, json: { effective_configuration: chosen } })
  t.strictSame((await ask("GET", `${path}/pricing`)).json, { platform_usage: null, dograh_model: null })
})
