import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { put as store } from "#core/model/ModelConfigurationStore.ts"
import { fliteVoices } from "#runtime/voice/FliteWasm.ts"
import { openApi } from "./apiTest.ts"
import { said } from "./gatewayTest.ts"
import { llm, noServices, servicesPath as path, shownLlm, storedIn } from "./modelServices.ts"

const api = await openApi(t)
const { ask, askAsOther } = api

const read = async () => (await ask("GET", path)).json
const put = (json: unknown) => ask("PUT", path, json)
const source = async (asking = ask) => (await asking("GET", "/organizations/context")).json

const stored = () => storedIn(api)
const nothing = { ...noServices, organization_pricing: null, warnings: [] }

t.test("given nothing that is configured, when only preferences are changed, then no service is configured", async (t) => {
  t.strictSame(await read(), nothing)
  const preferences = { test_phone_number: "+15550100001", timezone: "Europe/Berlin" }
  t.strictSame(said(await put(preferences)), [200, { ...nothing, ...preferences }])
  t.strictSame(await stored(), [])
  t.match(await source(), { model_services: { config_source: "empty", managed_service_version: null, uses_managed_service_v2: false } })
})

t.test("given configured services", async (t) => {
  t.test("when they are read, then they are as they were sent, except for their secrets", async (t) => {
    const answer = await put({ llm, tts: { provider: "flite", voice: "slt" } })
    t.match(said(answer), [200, { llm: shownLlm, tts: { provider: "flite", voice: "slt" }, stt: null, is_realtime: false }])
    t.strictSame(await read(), answer.json)
    t.notMatch(answer.text, /sk-/)
    t.match(await stored(), [{ configuration: { byok: { pipeline: { llm } } } }])
    t.match(await source(), { model_services: { config_source: "legacy_user_v1", has_model_configuration_v2: false } })
  })

  t.test("when some are omitted or null, then they stay", async (t) => {
    const answer = await put({ llm: null, stt: { provider: "earshot" }, is_realtime: true, test_phone_number: null })
    t.match(answer.json, { llm: shownLlm, stt: { provider: "earshot" }, is_realtime: true, test_phone_number: "+15550100001" })
    t.match(await put({ is_realtime: false }), { json: { is_realtime: false, stt: { provider: "earshot" } } })
  })

  t.test("when they are too large or not objects, then 422 says so", async (t) => {
    const large = await put({ realtime: { text: "x".repeat(65_536) } })
    t.match(said(large), [422, { detail: [{ loc: ["body"], msg: /at most 65536 bytes/ }] }])
    t.match(said(await put({ llm: "openai", tts: [], is_realtime: "maybe", timezone: "Mars/Base" })), [
      422,
      {
        detail: [
          { loc: ["body", "llm"], type: "dict_type" },
          { loc: ["body", "tts"], type: "dict_type" },
          { loc: ["body", "is_realtime"], type: "bool_parsing" },
          { loc: ["body", "timezone"], msg: "Value error, Invalid timezone: Mars/Base" }
        ]
      }
    ])
  })

  t.test("when they are removed, then nothing is left of them", async (t) => {
    const empty = { llm: {}, tts: {}, stt: {}, embeddings: {}, realtime: {} }
    t.match(said(await put(empty)), [200, { ...nothing, test_phone_number: "+15550100001", timezone: "Europe/Berlin" }])
    t.strictSame(await stored(), [])
    t.match(await source(), { model_services: { config_source: "empty" } })
  })
})

t.test("given preferences, when they are changed on either route, then both show it, and the others stay", async (t) => {
  const preferences = { test_phone_number: "+15550100002", timezone: "Asia/Tokyo" }
  await ask("PUT", "/organizations/preferences", { ...preferences, external_pbx_integrations_enabled: true })
  t.match(await read(), preferences)
  await put({ timezone: "UTC" })
  const changed = { ...preferences, timezone: "UTC", external_pbx_integrations_enabled: true }
  t.strictSame((await ask("GET", "/organizations/preferences")).json, changed)
})

t.test("given another organization, when it reads or changes its own, then ours is neither seen nor changed", async (t) => {
  await put({ llm })
  t.strictSame((await askAsOther("GET", path)).json, nothing)
  t.match(await source(askAsOther), { model_services: { config_source: "empty" } })
  const theirs = await askAsOther("PUT", path, { llm: { provider: "openai", api_key: "************2222" }, timezone: "Asia/Tokyo" })
  t.equal(theirs.status, 400)
  t.match(await askAsOther("PUT", path, { llm: {}, timezone: "Asia/Tokyo" }), { status: 200, json: { llm: null } })
  t.match(await read(), { llm: shownLlm, timezone: "UTC" })
})

t.test("given a viewer, when the services are read, then they are masked", async (t) => {
  t.match(await ask("GET", path, undefined, { key: await api.makeKey({ role: "viewer" }) }), { json: { llm: shownLlm } })
})

const addressRefused = "there is no address here that this engine may connect to"

t.test("given invalid services, when they are sent, then 422 at their places, and nothing is changed", async (t) => {
  const before = await stored()
  const check = async (json: unknown, detail: ReadonlyArray<object>, asking: typeof askAsOther = ask) => {
    const answer = await asking("PUT", path, json)
    t.match(said(answer), [422, { detail }])
    t.notMatch(answer.text, /sk-/)
  }
  const at = (...loc: ReadonlyArray<string>) => ["body", ...loc]
  await check({ tts: { voice: "slt" } }, [{ loc: at("tts", "provider"), type: "missing", msg: "Field required" }])
  await check({ llm: { provider: "openai" } }, [{ loc: at("llm", "model"), type: "missing" }])
  await check({ llm: { provider: "openai", model: " ", api_key: "sk-secret" } }, [{ loc: at("llm", "model"), type: "missing" }])
  await check(
    { llm: { ...llm, model: { name: "gpt" }, temperature: "warm", whole_with_tools: "yes", base_url: ["x"] } },
    ["model", "base_url", "temperature", "whole_with_tools"].map((field) => ({ loc: at("llm", field) }))
  )
  await check({ llm: { ...llm, base_url: "file:///etc/passwd", extra_body: "[]" } }, [
    { loc: at("llm", "base_url"), msg: "Input should be an http:// or https:// address" },
    { loc: at("llm", "extra_body"), msg: "Input should be a JSON object" }
  ])
  await check({ tts: { provider: "flite", voice: "anna" } }, [
    { loc: at("tts", "voice"), msg: "Input should be 'slt' or 'rms' or 'awb' or 'kal16' or 'kal'" }
  ])
  await check({ tts: { provider: "flite", language: "de-DE" } }, [{ loc: at("tts", "language"), msg: "Flite has no 'de-DE', only en" }])
  await check({ stt: { provider: "earshot", language: "de" } }, [{ loc: at("stt", "language"), msg: /Flite has no 'de', only en/ }])
  t.strictSame(await stored(), before)
  const inside = { llm: { ...llm, base_url: "http://127.0.0.1:11434/v1" } }
  await check(inside, [{ loc: at("llm", "base_url"), msg: addressRefused }], askAsOther)
  t.equal((await put(inside)).status, 200, "the organization of the operator may have its model beside the engine")
})

t.test(
  "given a service that the engine does not have, when it is sent, then it is kept with a warning, and the others are used",
  async (t) => {
    const own = { llm: { provider: "aws_bedrock", model: "nova", region: "us-east-1" }, tts: { provider: "flite", voice: "rms" } }
    const answer = await put(own)
    const warnings = ["llm: This engine has no llm provider 'aws_bedrock', only anthropic, atlascloud, azure, embedded"]
    t.match(said(answer), [200, { ...own, warnings: warnings.map((one) => new RegExp(`^${one}`)) }])
    t.match(await read(), { warnings: [/^llm: /] }, "and whenever it is read")
    t.match(said(await put({ llm: { provider: "constructor" } })), [200, { warnings: [/no llm provider 'constructor'/] }])
    t.match(said(await put({ llm: {} })), [200, { warnings: [] }])
  }
)

t.test("given a language that all services support, or are told to detect, then it can be set", async (t) => {
  const asked = { tts: { provider: "polyglot" }, llm: { provider: "openai", model: "m" } }
  t.equal((await put({ ...asked, stt: { provider: "earshot", language: "de" } })).status, 200)
  t.equal((await put({ tts: { provider: "flite" }, stt: { provider: "earshot", language: "en-GB" } })).status, 200)
  t.equal((await put({ stt: { provider: "earshot", language: "multi" } })).status, 200)
})

t.test("given stored services that the engine no longer has", async (t) => {
  const validate = () => ask("GET", `${path}/validate?validity_ttl_seconds=86400`)
  const gone = { provider: "rime", api_key: "sk-voice" }
  const pipeline = { llm: gone, tts: gone, stt: { provider: "earshot" }, embeddings: null }
  await api.database.run(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      store(sql, api.organizationId, { version: 2, mode: "byok", dograh: null, byok: { mode: "pipeline", pipeline, realtime: null } })
    )
  )

  t.test("when they are validated, then each is named, and nothing else is wrong", async (t) => {
    const answer = await validate()
    t.match(said(answer), [
      422,
      {
        detail: [
          { loc: ["llm"], msg: /^llm: This engine has no llm provider 'rime'/, ctx: { model: "llm" } },
          { loc: ["tts"], msg: /^tts: This engine has no tts provider 'rime'/, ctx: { model: "tts" } }
        ]
      }
    ])
    t.notMatch(answer.text, /sk-/)
  })

  t.test("when others are changed, then they do not stand in the way", async (t) => {
    t.match(await put({ stt: {}, llm: { provider: "embedded" } }), { status: 200, json: { tts: { provider: "rime" } } })
    await put({ tts: { provider: "flite" } })
    t.strictSame(said(await validate()), [200, { status: [{ model: "all", message: "ok" }] }])
    t.match(said(await ask("GET", `${path}/validate?validity_ttl_seconds=86401`)), [
      422,
      { detail: [{ loc: ["query", "validity_ttl_seconds"] }] }
    ])
  })
})

t.test("given a client without a login, when the defaults are requested, then they describe the services of the engine", async (t) => {
  const answer = await ask("GET", "/user/configurations/defaults", undefined, { key: null })
  const flite = { type: "object", properties: { provider: { const: "flite" }, voice: { enum: [...fliteVoices], default: "slt" } } }
  const properties = { model: { type: "string" }, api_key: { format: "password" }, base_url: { default: "https://api.openai.com/v1" } }
  const none = { title: "None", properties: { provider: { const: "none" } }, required: ["provider"] }
  t.match(said(answer), [
    200,
    {
      llm: { embedded: { title: "Built in", required: ["provider"] }, none, openai: { properties, required: ["provider", "model"] } },
      tts: { flite },
      stt: { none },
      default_providers: { llm: "embedded", tts: "flite", stt: "none" },
      workflow_configurations: { max_call_duration: 300, ambient_noise_configuration: { enabled: false, volume: 0.3 }, dictionary: "" }
    }
  ])
  const { llm, tts } = answer.json as { readonly llm: object; readonly tts: object }
  t.strictSame(
    [Object.keys(llm), Object.keys(tts)],
    [
      [
        "anthropic",
        "atlascloud",
        "azure",
        "embedded",
        "google",
        "groq",
        "huggingface",
        "minimax",
        "none",
        "openai",
        "openrouter",
        "sarvam",
        "speaches"
      ],
      ["cartesia", "deepgram", "elevenlabs", "flite", "openai", "polyglot", "speaches"]
    ]
  )
})

t.test("given the defaults, when an agent is given them as its settings, then it can be stored", async (t) => {
  const { json } = await ask("GET", "/user/configurations/defaults", undefined, { key: null })
  const { id } = await api.makeAgent()
  const { workflow_configurations } = json as { readonly workflow_configurations: object }
  t.match(await ask("PUT", `/workflow/${id}`, { workflow_configurations }), { status: 200, json: { workflow_configurations } })
})
