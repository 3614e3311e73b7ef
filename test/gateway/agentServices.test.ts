/** The speech and language services that agents choose themselves, as the API accepts them. */
import t from "tap"
import { openApi } from "./apiTest.ts"

const { ask, makeAgent } = await openApi(t)
const agent = `/workflow/${(await makeAgent()).id}`
const put = (workflow_configurations: object) => ask("PUT", agent, { workflow_configurations })
const of = (model_overrides: object) => put({ model_overrides })
const organization = { llm: { provider: "openai", model: "m", api_key: "sk-ours-12345678", base_url: "https://models.example.com/v1" } }
await ask("PUT", "/user/configurations/user", organization)

const refused = async (answer: ReturnType<typeof put>, ...problems: ReadonlyArray<readonly [at: string, words: RegExp]>) => {
  const { json, status, text } = await answer
  const detail = problems.map(([at, msg]) => ({ loc: ["body", "workflow_configurations", ...at.split(".")], msg }))
  t.match([status, json], [422, { detail }])
  t.notMatch(text, /sk-/)
}

t.test("given services that an agent chooses, when the engine does not have them, then they are refused at their places", async () => {
  await refused(
    of({ llm: { provider: "elevenlabs" }, tts: { provider: "flite", voice: "anna" } }),
    ["model_overrides.llm.provider", /This engine has no llm provider 'elevenlabs', only anthropic, atlascloud, azure, embedded, google/],
    ["model_overrides.tts.voice", /'slt' or 'rms'/]
  )
  await refused(of({ end_of_turn: { provider: "oracle" } }), [
    "model_overrides.end_of_turn.provider",
    /no end_of_turn provider 'oracle', only rules/
  ])
  await refused(of({ tts: { voice: "anna" } }), ["model_overrides.tts.voice", /'slt' or 'rms'/])
  await refused(of({ llm: { base_url: "https://other.example.com/v1" } }), ["model_overrides.llm.provider", /Field required/])
  await refused(of({ llm: { provider: "openai", base_url: "https://other.example.com/v1" } }), [
    "model_overrides.llm.model",
    /Field required/
  ])
  const byok = { mode: "pipeline", pipeline: { llm: { provider: "openai" }, tts: { provider: "flite" }, stt: { provider: "none" } } }
  await refused(put({ model_configuration_v2_override: { version: 2, mode: "byok", byok } }), [
    "model_configuration_v2_override.byok.pipeline.llm.model",
    /Field required/
  ])
  await refused(put({ model_configuration_v2_override: { version: 2, mode: "dograh", dograh: { api_key: "sk-hosted-1" } } }), [
    "model_configuration_v2_override.mode",
    /hosts no models/
  ])
})

t.test("given a language that one of the agent's services does not support, then it is refused where it is set", async () => {
  await refused(put({ embedded: { language: "de" } }), ["embedded.language", /Flite has no 'de', only en/])
  await refused(of({ stt: { provider: "earshot", language: "fr-FR" } }), ["model_overrides", /Flite has no 'fr-FR', only en/])
  await refused(put({ embedded: { language: "de" }, model_overrides: { tts: { provider: "polyglot" }, llm: { provider: "embedded" } } }), [
    "embedded.language",
    /Built in has no 'de', only en/
  ])
})

t.test("given services that can be used, then they are stored, and what they omit comes from the organization", async (t) => {
  const all: ReadonlyArray<object> = [
    { llm: { provider: "openai", temperature: 0.2 } },
    { llm: { temperature: 0.2 }, tts: { voice: "kal16" } },
    { llm: { ...organization.llm, api_key: null, model: "n" }, stt: { provider: "none" } }
  ]
  for (const model_overrides of all)
    t.match(await of(model_overrides), { status: 200, json: { workflow_configurations: { model_overrides } } })
  t.equal((await put({ embedded: { language: "de" }, model_overrides: { tts: { provider: "polyglot" } } })).status, 200)
  t.equal((await put({ embedded: { language: "en-GB" } })).status, 200)
})
