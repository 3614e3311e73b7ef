import { Effect } from "effect"
import t from "tap"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther } = api

const bearer = { name: "CRM", credential_type: "bearer_token", credential_data: { token: "very-secret-1" } }
const create = async (more: object = {}) => bodyOf(await ask("POST", "/credentials/", { ...bearer, ...more }))
const storedData = (uuid: string) =>
  api.database.run(
    CredentialSecrets.use((secrets) => secrets.find(api.organizationId, uuid)).pipe(
      Effect.map((found) => found?.data),
      Effect.provide(CredentialSecrets.layer)
    )
  )

t.test("given a credential", async (t) => {
  const made = await create({ description: "For the CRM" })
  const uuid = String(made["uuid"])

  t.test("when it is read on any route, then the secret is not in the answer", async (t) => {
    t.match(made, { name: "CRM", description: "For the CRM", credential_type: "bearer_token", updated_at: null })
    t.strictSame(Object.keys(made), ["uuid", "name", "description", "credential_type", "allowed_hosts", "created_at", "updated_at"])
    t.strictSame((await ask("GET", `/credentials/${uuid}`)).json, made)
    t.strictSame((await ask("GET", "/credentials/")).json, [made])
    t.strictSame(await storedData(uuid), { token: "very-secret-1" })
  })

  t.test("when it is changed, then omitted fields stay", async (t) => {
    const renamed = await ask("PUT", `/credentials/${uuid}`, { name: "CRM 2", description: null })
    t.match(renamed.json, { uuid, name: "CRM 2", description: "For the CRM", updated_at: String })
    t.strictSame(await storedData(uuid), { token: "very-secret-1" })
    t.match((await ask("PUT", `/credentials/${uuid}`, { credential_data: { token: "other" } })).json, { name: "CRM 2" })
    t.strictSame(await storedData(uuid), { token: "other" })
  })

  t.test("when it becomes one of another type, then it needs data of that type", async (t) => {
    t.match(await ask("PUT", `/credentials/${uuid}`, { credential_type: "basic_auth" }), {
      status: 400,
      json: { detail: "Missing required field 'username' for credential type 'basic_auth'" }
    })
    t.match((await ask("PUT", `/credentials/${uuid}`, { credential_type: "none" })).json, { credential_type: "none" })
    t.strictSame(await storedData(uuid), {}, "then a secret of the type before is gone")
  })

  t.test("when another has its name, then 409", async (t) => {
    const other = await create({ name: "Second" })
    const detail = "A credential with the name 'CRM 2' already exists"
    t.match(await ask("POST", "/credentials/", { ...bearer, name: "CRM 2" }), { status: 409, json: { detail } })
    t.match(await ask("PUT", `/credentials/${other["uuid"]}`, { name: "CRM 2" }), { status: 409, json: { detail } })
    t.equal((await askAsOther("POST", "/credentials/", { ...bearer, name: "CRM 2" })).status, 200, "another organization may")
  })

  t.test("when it is deleted, then it is gone", async (t) => {
    t.strictSame((await ask("DELETE", `/credentials/${uuid}`)).json, { status: "deleted", uuid })
    t.equal((await ask("GET", `/credentials/${uuid}`)).status, 404)
    for (const path of [`/credentials/${uuid}`, "/credentials/no-uuid"])
      t.match(await ask("DELETE", path), { status: 404, json: { detail: "Credential not found" } })
  })
})

t.test("given data that its type requires", async (t) => {
  const refused = async (credential_type: string, credential_data: object, field: string) =>
    t.match(await ask("POST", "/credentials/", { name: "x", credential_type, credential_data }), {
      status: 400,
      json: { detail: `Missing required field '${field}' for credential type '${credential_type}'` }
    })
  t.test("when it is missing, empty or not text, then 400 names it", async () => {
    await refused("api_key", { header_name: "X-Key" }, "api_key")
    await refused("bearer_token", { token: "" }, "token")
    await refused("basic_auth", { username: "ada", password: 12 }, "password")
    await refused("custom_header", {}, "header_name")
  })
  t.test("when the shape itself is wrong, then 422", async (t) => {
    t.equal((await ask("POST", "/credentials/", { name: "x", credential_type: "magic", credential_data: {} })).status, 422)
    t.equal((await ask("POST", "/credentials/", { name: "", credential_type: "none", credential_data: {} })).status, 422)
    t.equal((await ask("POST", "/credentials/", { name: "x", credential_type: "none", credential_data: [] })).status, 422)
  })
  t.test("when anything is wrong, then no secret is repeated", async (t) => {
    const services = { llm: { provider: 1, api_key: "very-secret-1" } }
    const models = "/organizations/model-configurations/v2"
    const byok = { mode: "byok", byok: { mode: "pipeline", pipeline: services } }
    const answers = [
      await ask("POST", "/credentials/", { ...bearer, name: undefined }),
      await ask("POST", "/credentials/", { ...bearer, credential_data: ["very-secret-1"] }),
      await ask("PUT", models, { ...byok, mode: "nothing" }),
      await ask("PUT", models, { mode: "byok", byok: { ...byok.byok, mode: "nothing" } }),
      await ask("PUT", models, { mode: "byok", byok: { mode: "realtime", realtime: { ...services, realtime: "very-secret-1" } } })
    ]
    for (const { json, status } of answers) {
      t.equal(status, 422)
      t.notMatch(JSON.stringify(json), "very-secret-1")
    }
  })
})
