/** A telephony secret that is shown masked is not sent elsewhere: whoever names another address has to know it. */
import { Effect } from "effect"
import t from "tap"
import { TelephonyConfigId } from "#core/Id.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { ari, bodyOf, openApi } from "#test/gateway/apiTest.ts"

const { ask, askAsOther, database } = await openApi(t)
const path = "/organizations/telephony-configs"
const config = ari
const { id } = bodyOf(await ask("POST", path, { name: "a", config }))
/** The settings as its trunk gets them. */
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

t.test("given a stored secret, when its mask comes with another host, port or scheme, then it is required again", async (t) => {
  const moved = ["http://127.0.0.2:8088", "http://127.0.0.1:8089", "https://127.0.0.1:8088", "https://pbx.example.com", "pbx"]
  for (const ari_endpoint of moved) {
    t.strictSame(await put({ ari_endpoint }), demanded, ari_endpoint)
  }
  t.match(await stored(), { ari_endpoint: config.ari_endpoint, app_password: config.app_password }, "nothing has changed")
})

t.test("given a stored secret, when its mask comes with the same address in another spelling, then it stays", async (t) => {
  for (const ari_endpoint of ["http://127.0.0.1:8088/", " HTTP://127.1:8088/ari"]) t.match(await put({ ari_endpoint }), { status: 200 })
  t.match(await stored(), { app_password: "password1" })
})

t.test("given a stored secret, when it is sent again with another address, then both are stored", async (t) => {
  const moved = { ari_endpoint: "https://pbx.example.com", app_password: "password2" }
  t.match(await put(moved), { status: 200, json: { credentials: { app_password: "*****ord2" } } })
  t.match(await stored(), moved)
})

t.test("given a list of addresses, when a new one joins it, then the secret is required again; otherwise it stays", async (t) => {
  const list = { ...config, ari_endpoints: ["http://127.0.0.3:8088", "http://127.0.0.4:8088 weight=2"] }
  const made = bodyOf(await ask("POST", path, { name: "several", config: list }))
  t.match(
    made,
    { credentials: { ari_endpoints: list.ari_endpoints, app_password: "*****ord1" } },
    "then it is shown, and the secret masked"
  )
  const change = async (ari_endpoints: ReadonlyArray<string> | null) => {
    const { json, status } = await ask("PUT", `${path}/${made.id}`, { config: { ...list, app_password: "*****ord1", ari_endpoints } })
    return { json, status }
  }
  t.strictSame(await change([...list.ari_endpoints, "http://127.0.0.5:8088"]), demanded)
  t.strictSame(await change(["http://127.0.0.3:8089"]), demanded)
  t.strictSame(await change(["https://127.0.0.3:8088 weight=1"]), demanded)
  t.match(await change(["http://127.0.0.4:8088 weight=0", "http://127.0.0.3:8088"]), { status: 200 }, "then other weights need no secret")
  t.match(await change(["http://127.0.0.4:8088", "http://127.0.0.1:8088 weight=3"]), { status: 200 })
  t.match(await change(null), { status: 200 }, "then leaving them out does not either")
  t.strictSame(await change(["http://127.0.0.4:8088"]), demanded, "then what was left out is new again")
})

t.test("given a list of addresses, when an item is invalid or not allowed, then the refusal says so", async (t) => {
  const refused = async (ari_endpoints: ReadonlyArray<string>, where: ReadonlyArray<unknown>, as = ask) => {
    const { json, status } = await as("POST", path, { name: "several", config: { ...config, ari_endpoints } })
    t.equal(status, 422, ari_endpoints[0] ?? "none")
    t.strictSame((json as { detail: ReadonlyArray<{ loc: unknown }> }).detail[0]?.loc, where) // the shape of a refusal
  }
  const item = ["body", "config", "ari", "ari_endpoints", 0]
  const weights = ["http://pbx weight=", "http://pbx weight=-1", "http://pbx weight=1000", "http://pbx  x"]
  for (const text of ["pbx", "ftp://pbx", "http://", "http://a:b@pbx", ...weights]) await refused([text], item)
  await refused(
    Array.from({ length: 8 }, (_, index) => `http://127.0.0.1:${index + 1}`),
    ["body", "config", "ari", "ari_endpoints"]
  )
  await refused(["http://169.254.169.254"], ["body", "config", "ari", "ari_endpoints"])
  await refused(["http://127.0.0.3:8088"], ["body", "config", "ari", "ari_endpoint"], askAsOther)
})

t.test("given another organization, when it names a private address, then it is told which field is refused", async (t) => {
  t.match(await askAsOther("POST", path, { name: "a", config }), {
    status: 422,
    json: { detail: [{ type: "value_error", loc: ["body", "config", "ari", "ari_endpoint"], input: null }] }
  })
})
