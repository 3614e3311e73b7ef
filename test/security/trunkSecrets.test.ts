/** A telephony secret that is shown masked stays where it is: whoever names another address has to know it. */
import { Effect } from "effect"
import t from "tap"
import { TelephonyConfigId } from "#core/Id.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"

const { ask, askAsOther, database } = await openApi(t)
const path = "/organizations/telephony-configs"
const config = { provider: "ari", ari_endpoint: "http://127.0.0.1:8088", app_name: "a", app_password: "password1" }
const { id } = bodyOf(await ask("POST", path, { name: "a", config }))
/** As its trunk gets it. */
const stored = async () => {
  const setting = TrunkSettings.use((_) => _.find(TelephonyConfigId.make(id)))
  return (await database.run(Effect.provide(setting, TrunkSettings.layer)))?.credentials
}
const put = async (more: object) => {
  const { json, status } = await ask("PUT", `${path}/${id}`, { config: { ...config, app_password: "*****ord1", ...more } })
  return { json, status }
}
const demanded = {
  status: 400,
  json: { detail: "The app_password appears to be masked. Please provide the actual value, not the masked value." }
}

t.test("given a stored secret, when its mask comes with another host, port or scheme, then it is demanded anew", async (t) => {
  for (const ari_endpoint of [
    "http://127.0.0.2:8088",
    "http://127.0.0.1:8089",
    "https://127.0.0.1:8088",
    "https://pbx.example.com",
    "pbx"
  ]) {
    t.strictSame(await put({ ari_endpoint }), demanded, ari_endpoint)
  }
  t.match(await stored(), { ari_endpoint: config.ari_endpoint, app_password: config.app_password }, "nothing has changed")
})

t.test("given a stored secret, when its mask comes with the same address in other words, then it stays", async (t) => {
  for (const ari_endpoint of ["http://127.0.0.1:8088/", " HTTP://127.1:8088/ari"]) t.match(await put({ ari_endpoint }), { status: 200 })
  t.match(await stored(), { app_password: "password1" })
})

t.test("given a stored secret, when it comes anew with another address, then both are stored", async (t) => {
  const moved = { ari_endpoint: "https://pbx.example.com", app_password: "password2" }
  t.match(await put(moved), { status: 200, json: { credentials: { app_password: "*****ord2" } } })
  t.match(await stored(), moved)
})

t.test("given another organization, when it names an address inside, then it is told which field is refused", async (t) => {
  t.match(await askAsOther("POST", path, { name: "a", config }), {
    status: 422,
    json: { detail: [{ type: "value_error", loc: ["body", "config", "ari", "ari_endpoint"], input: null }] }
  })
})
