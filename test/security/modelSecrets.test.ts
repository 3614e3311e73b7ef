/** Keys of models and nodes are shown masked: a mask sent with another address does not bring the stored key back. */
import { SqlClient } from "effect/sql"
import t from "tap"
import * as versions from "#core/agent/AgentVersionStore.ts"
import { AgentId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { drawnFrom, unmasked } from "#core/model/ModelSecrets.ts"
import { find } from "#core/model/ModelConfigurationStore.ts"
import { withSecrets } from "#core/model/ModelConfiguration.ts"
import { graph, openApi } from "#test/gateway/apiTest.ts"

const stored = { provider: "openai", api_key: "sk-0123456789", base_url: "https://api.example.com/v1", model: "m" }
const shown = { ...stored, api_key: "*********6789" }
const check = (sent: JsonObject, from: JsonObject, isKept: boolean) => {
  const what = JSON.stringify(sent)
  t.equal(Object.values(unmasked(sent, from)).includes("sk-0123456789"), isKept, what)
  t.equal(drawnFrom(sent, from).keptBack.length, isKept ? 0 : 1, what)
}

t.test("given a stored key, when its mask comes with another address, then it stays where it is", async () => {
  check(shown, stored, true)
  check({ ...shown, model: "n" }, stored, true)
  check({ ...shown, base_url: "https://evil.example.com/v1" }, stored, false)
  for (const name of ["base_url", "baseUrl", "endpoint", "api_base", "host", "azure_endpoint", "url"]) {
    check(
      { provider: "openai", api_key: shown.api_key, [name]: "https://evil.example.com" },
      { provider: "openai", api_key: stored.api_key },
      false
    )
  }
})

t.test("given keys of several owners in one node, when an address of one changes, then only that one's key is required", async (t) => {
  const node = { qa_api_key: stored.api_key, qa_endpoint: "https://one.example.com", tuner_api_key: "tk-0123456789" }
  const sent = { qa_api_key: shown.api_key, qa_endpoint: "https://evil.example.com", tuner_api_key: "*********6789" }
  t.match(unmasked(sent, node), { qa_api_key: shown.api_key, tuner_api_key: "tk-0123456789" })
})

t.test("given a service, when it is sent with another address and without its key, then the stored key does not go along", async (t) => {
  const { api_key: _, ...rest } = stored
  t.match(withSecrets(rest, stored), stored)
  t.notOk("api_key" in withSecrets({ ...rest, base_url: "https://evil.example.com" }, stored))
  const { api_key: base_token, ...others } = stored
  t.notOk("base_token" in withSecrets({ ...rest, base_url: "https://evil.example.com" }, { ...others, base_token }), "whatever its name")
})

t.test("given stored keys of models and nodes, when masks come with another address or provider, then they are refused", async (t) => {
  const { ask, database, makeAgent, organizationId } = await openApi(t)
  const local = { provider: "flite", voice: "slt" }
  const models = (llm: object) => ({
    version: 2,
    mode: "byok",
    byok: { mode: "pipeline", pipeline: { llm, tts: local, stt: { provider: "none" } } }
  })
  const node = (data: object) => ({
    workflow_definition: { ...graph, nodes: graph.nodes.map((one) => ({ ...one, data: { ...one.data, ...data } })) }
  })
  const override = (llm: object) => ({ workflow_configurations: { model_overrides: { llm } } })
  const { id } = await makeAgent()
  const agent = `/workflow/${id}`
  /** What the database stores, unmasked. */
  const inDatabase = () =>
    database.run(function* () {
      const sql = yield* SqlClient.SqlClient
      const page = { limit: 1, offset: 0 }
      const [version] = yield* versions.list(sql, organizationId, AgentId.make(id), page)
      return JSON.stringify([version, yield* find(sql, organizationId)])
    })
  const places = [
    ["/organizations/model-configurations/v2", models, 422, "body.byok.pipeline.llm.api_key"],
    ["/user/configurations/user", (llm: object) => ({ llm }), 400, undefined],
    [agent, node, 422, "body.workflow_definition.nodes.0.data.api_key"],
    [agent, override, 422, "body.workflow_configurations.model_overrides.llm.api_key"]
  ] as const
  for (const [path, body, status, place] of places) {
    t.equal((await ask("PUT", path, body(stored))).status, 200, path)
    t.equal((await ask("PUT", path, body({ ...shown, model: "n" }))).status, 200, `${path}: the mask alone is the key as it is`)
    t.match(await inDatabase(), /sk-0123456789.*"model":"n"|"model":"n".*sk-0123456789/)
    for (const change of [{ base_url: "https://evil.example.com/v1" }, { provider: "embedded" }]) {
      const before = await inDatabase()
      const refused = await ask("PUT", path, body({ ...shown, ...change }))
      t.equal(refused.status, status, path)
      t.match(refused.text, /The (llm )?api_key appears to be masked\. Please provide the actual value/, path)
      t.equal(Object(refused.json).detail[0]?.loc?.join("."), place, path)
      t.equal(await inDatabase(), before, `${path}: nothing is stored`)
      t.equal(
        (await ask("PUT", path, body({ ...shown, ...change, api_key: "sk-9876543210" }))).status,
        200,
        `${path}: with a key of its own`
      )
      t.equal((await ask("PUT", path, body({ ...stored, model: "n" }))).status, 200)
    }
  }
})
