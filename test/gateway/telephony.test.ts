/** /organizations/telephony-configs over HTTP: change, default, limits, deletion, warnings. */
import t from "tap"
import { ari, bodyOf, openApi } from "./apiTest.ts"

const { ask, makeCampaign } = await openApi(t)
const path = "/organizations/telephony-configs"
const config = { ...ari, from_numbers: ["+1"] }
const make = async (name: string, more: object = {}) => bodyOf(await ask("POST", path, { name, config, ...more }))
const gone = { status: 404, json: { detail: "Telephony configuration not found" } }

t.test("given a configuration, when it is created, then secrets are masked and unknown fields are dropped", async (t) => {
  const created = bodyOf(await ask("POST", path, { name: "made", config: { ...config, more: 1 } }))
  t.match(created, { name: "made", provider: "ari", is_default_outbound: false })
  t.strictSame(created["credentials"], {
    ari_endpoint: "http://127.0.0.1:8088",
    app_name: "trunkline",
    app_password: "*****ord1",
    ws_client_name: "",
    dial_string: "PJSIP/{number}@trunk",
    context: "",
    extension: "{number}",
    priority: "1",
    account_code: "",
    caller_name: "",
    transfer_dial_string: "",
    transfer_context: ""
  })
  t.strictSame((await ask("GET", `${path}/${created.id}`)).json, created)
  const again = await ask("POST", path, { name: "made", config: { ...config, more: 1 } })
  t.match([again.status, again.json], [409, { detail: /^A telephony configuration named 'made' already exists/ }])
  const { configurations } = bodyOf(await ask("GET", path))
  t.match(configurations, [{ name: "made", phone_number_count: 0 }])
})

t.test("given the providers, when they are requested, then their fields are listed", async (t) => {
  const fields = [{ name: "ari_endpoint", type: "text", required: true, sensitive: false }]
  const providers = [{ provider: "ari", display_name: "Asterisk ARI", fields }]
  t.match((await ask("GET", "/organizations/telephony-providers/metadata")).json, { providers })
})

t.test("given a configuration, when it is changed", async (t) => {
  const { id } = await make("a")
  const put = async (json: unknown) => {
    const { json: answer, status } = await ask("PUT", `${path}/${id}`, json)
    return { json: answer, status }
  }
  t.test("in its name alone, then the rest stays", async (t) => {
    t.match(await put({ name: "b" }), { status: 200, json: { id, name: "b", credentials: { app_password: "*****ord1" } } })
  })
  t.test("with its secret as it was shown, then it reads the same", async (t) => {
    const changed = await put({ config: { ...config, app_password: "*****ord1", app_name: "other" }, name: null })
    t.match(changed, { status: 200, json: { name: "b", credentials: { app_name: "other", app_password: "*****ord1" } } })
    t.strictSame((await ask("GET", `${path}/${id}`)).json, changed.json)
  })
  t.test("in its limit of calls, then null removes the limit, and omitting it keeps it", async (t) => {
    t.match(await put({ max_concurrent_calls: 5 }), { json: { max_concurrent_calls: 5 } })
    t.match(await put({}), { status: 200, json: { max_concurrent_calls: 5 } })
    t.match(await put({ max_concurrent_calls: null }), { json: { max_concurrent_calls: null } })
    t.match(await put({ max_concurrent_calls: 0 }), { status: 422, json: { detail: [{ type: "greater_than_equal" }] } })
  })
  t.test("to a name that is taken, then 409, and its own is not", async (t) => {
    await make("taken")
    t.match(await put({ name: "taken" }), { status: 409, json: { detail: /^A telephony configuration named 'taken' already exists/ } })
    t.match(await put({ name: "b" }), { status: 200 })
  })
  t.test("to something invalid, then the answer says where", async (t) => {
    const [endpoint, name] = ["ari_endpoint", "app_name"].map((field) => ({ type: "string_type", loc: ["body", "config", "ari", field] }))
    const wrong = { ...config, ari_endpoint: 1 }
    t.match(await put({ name: "", config: wrong }), { status: 422, json: { detail: [{ type: "string_too_short" }, endpoint] } })
    const unknown = [{ type: "union_tag_invalid", ctx: { expected_tags: "'ari'" } }]
    t.match(await put({ config: { provider: "zzz" } }), { status: 422, json: { detail: unknown } })
    const refused = async (config: object) => bodyOf(await ask("POST", path, { name: "x", config }))["detail"]
    t.match(await refused({}), [{ type: "union_tag_not_found", loc: ["body", "config"] }])
    const missing = [{ type: "missing", loc: ["body", "config", "ari", "app_password"] }]
    t.match(await refused({ provider: "ari", ari_endpoint: "", app_name: "" }), missing)
    const made = await ask("POST", path, { name: "typed", config: { ...wrong, app_name: null } })
    t.match(made, { status: 422, json: { detail: [endpoint, name] } })
  })
  t.test("or created with any mistake, then its secret is not repeated", async (t) => {
    const { app_name: _, ...nameless } = config
    const wrong = [{ ...config, provider: "zzz" }, { ...config, provider: undefined }, nameless, { ...config, app_password: ["password1"] }]
    for (const given of wrong) {
      for (const answer of [
        await ask("POST", path, { name: "wrong", config: given }),
        await ask("PUT", `${path}/${id}`, { config: given })
      ]) {
        t.equal(answer.status, 422)
        t.notMatch(JSON.stringify(answer.json), "password1")
      }
    }
  })
  t.test("in what calls carry, then nothing is accepted that could refer to more than it says", async (t) => {
    const extras = {
      channel_variables: ["customer_id", "a1"],
      account_code: "sales.7",
      sip_headers: ["X-Customer: {customer_id}", "X-Note: a; b"],
      caller_name: "Dr. Ödön & Co",
      transfer_dial_string: "Local/{digits}@from-internal/n",
      transfer_context: "from-internal"
    }
    t.match(await put({ config: { ...config, ...extras } }), { status: 200, json: { credentials: extras } })
    const evil: Readonly<Record<string, ReadonlyArray<string>>> = {
      channel_variables: ["", "EXTEN", "CALLERID(num)", "SHELL(id)", "__x", "first name", "Name", "a\n", `a${"b".repeat(64)}`],
      sip_headers: [
        ...["", "X-A", "X-A:b", "From: a", "P-Asserted-Identity: a", "X-A,B: c", "X-A): c"],
        ...["X-A: b\r\nVia: c", "X-A: b\n", "X-A: ü"]
      ],
      account_code: ["a b", "a,b", "a\n", "a".repeat(41)],
      caller_name: ['a"b', "<a>", "a\\", "a\r\nb", "a".repeat(65)],
      transfer_dial_string: ["PJSIP/1000@trunk", "{number}", "PJSIP/{number} @trunk", "PJSIP/{number}\n", "PJSIP/{name}"],
      transfer_context: ["a,b", "a b", "a)", "a".repeat(80)]
    }
    for (const [field, values] of Object.entries(evil)) {
      for (const value of values) {
        const answer = await put({ config: { ...config, [field]: field.endsWith("s") ? [value] : value } })
        t.match(
          answer,
          { status: 422, json: { detail: [{ loc: ["body", "config", "ari", field] }] } },
          `${field}: ${JSON.stringify(value)}`
        )
      }
    }
    const many = Array.from({ length: 25 }, (_, at) => `v${at}`)
    t.match(await put({ config: { ...config, channel_variables: many } }), { status: 422 })
    t.match(await put({ config: { ...config, channel_variables: ["a1"] } }), { json: { credentials: { channel_variables: ["a1"] } } })
    const cleared = await put({ config: { ...config, channel_variables: [] } })
    t.match(cleared, { status: 200, json: { credentials: { account_code: "" } } })
    t.notOk("channel_variables" in Object(bodyOf(cleared)["credentials"]), "a list that is not set is not there")
    t.match(
      await put({ config: { ...config, ...Object(bodyOf(cleared)["credentials"]) } }),
      { status: 200 },
      "and what was read can be sent back"
    )
  })
  t.test("but does not exist, then 404", async (t) => {
    t.match(await ask("PUT", `${path}/999999`, { name: "x" }), gone)
  })
})

t.test("given a default configuration, when another becomes it, then there is one default, and deleting it leaves none", async (t) => {
  const first = await make("first", { is_default_outbound: true, max_concurrent_calls: 3 })
  const second = await make("second")
  t.match(await ask("POST", `${path}/${second.id}/set-default-outbound`), {
    status: 200,
    json: { id: second.id, is_default_outbound: true }
  })
  const defaults = async () => {
    const { configurations } = bodyOf(await ask("GET", path)) as unknown as {
      configurations: Array<{ id: number; is_default_outbound: boolean }>
    }
    return configurations.filter((one) => one.is_default_outbound).map((one) => one.id)
  }
  t.strictSame(await defaults(), [second.id])
  t.match(await ask("GET", `${path}/${first.id}`), {
    json: { max_concurrent_calls: 3, is_ready_for_outbound: true, outbound_blocked_reason: null }
  })
  const deleted = await ask("DELETE", `${path}/${second.id}`)
  t.strictSame([deleted.status, deleted.json], [200, { message: "Telephony configuration deleted" }])
  t.strictSame(await defaults(), [])
  t.match(await ask("GET", `${path}/${second.id}`), gone)
})

t.test("given a campaign that names a configuration, when that is deleted, then 409", async (t) => {
  const { id } = await make("used")
  await makeCampaign({ telephony_configuration_id: id })
  t.match(await ask("DELETE", `${path}/${id}`), {
    status: 409,
    json: { detail: `Telephony configuration ${id} is referenced by one or more campaigns and cannot be deleted.` }
  })
})

t.test("given no configuration of those providers, then nothing is missing", async (t) => {
  const { json, status } = await ask("GET", "/organizations/telephony-config-warnings")
  t.strictSame([status, json], [200, { telnyx_missing_webhook_public_key_count: 0, vonage_missing_signature_secret_count: 0 }])
})
