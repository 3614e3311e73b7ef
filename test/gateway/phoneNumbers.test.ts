/** /organizations/telephony-configs/{id}/phone-numbers over HTTP. */
import t from "tap"
import { ari, bodyOf, openApi } from "./apiTest.ts"

const { ask, makeAgent } = await openApi(t)
const made = bodyOf(await ask("POST", "/organizations/telephony-configs", { name: "main", config: ari }))
const path = `/organizations/telephony-configs/${made.id}/phone-numbers`
const numbers = async () =>
  (await ask("GET", path)).json as { phone_numbers: ReadonlyArray<{ id: number; address: string; is_default_caller_id: boolean }> }
const noNumber = { status: 404, json: { detail: "Phone number not found" } }

t.test("given a configuration, when a number is added, then it is shown as it was written and as it is dialed", async (t) => {
  const agent = await makeAgent()
  const added = await ask("POST", path, {
    address: "(030) 123456",
    country_code: "de",
    label: "Berlin",
    inbound_workflow_id: agent.id,
    extra_metadata: { site: 1 },
    unknown: true
  })
  t.match(added, {
    status: 200,
    json: {
      telephony_configuration_id: made.id,
      address: "(030) 123456",
      address_normalized: "+4930123456",
      address_type: "pstn",
      country_code: "DE",
      label: "Berlin",
      inbound_workflow_id: agent.id,
      inbound_workflow_name: "Reminder",
      is_active: true,
      is_default_caller_id: false,
      extra_metadata: { site: 1 },
      provider_sync: null
    }
  })
  const { id } = bodyOf(added)
  t.strictSame((await ask("GET", `${path}/${id}`)).json, added.json)
  t.strictSame((await numbers()).phone_numbers, [added.json])
  t.match((await ask("GET", "/organizations/telephony-configs")).json, { configurations: [{ phone_number_count: 1 }] })
})

t.test("given an invalid number, then 422 says why", async (t) => {
  const refused = async (json: unknown) => {
    const { json: answer, status } = await ask("POST", path, json)
    return { status, ...(answer as object) }
  }
  t.match(await refused({ address: "5550100001" }), {
    status: 422,
    detail: [{ type: "value_error", loc: ["body"], msg: /^Value error, PSTN addresses without a leading '\+' need a country_code/ }]
  })
  t.match(await refused({ address: "" }), { status: 422, detail: [{ type: "string_too_short", loc: ["body", "address"] }] })
  t.match(await refused({ address: "  " }), { status: 422, detail: [{ type: "value_error" }] })
  t.match(await refused({ address: "+15550100001", country_code: "USA", label: "x".repeat(65) }), {
    status: 422,
    detail: [{ loc: ["body", "country_code"] }, { loc: ["body", "label"] }]
  })
  t.match(await refused({}), { status: 422, detail: [{ type: "missing", loc: ["body", "address"] }] })
})

t.test("given a number, when its line is added again, then 409", async (t) => {
  t.match(await ask("POST", path, { address: "+1 555 010 0100" }), { status: 200 })
  t.match(await ask("POST", path, { address: "+15550100100" }), {
    status: 409,
    json: { detail: "A phone number with this address already exists in the org." }
  })
  t.match(await ask("POST", path, { address: "+15550100101", inbound_workflow_id: 999_999 }), {
    status: 404,
    json: { detail: "Workflow not found" }
  })
})

t.test("given a number, when it is changed, then null fields stay, except those that null clears", async (t) => {
  const agent = await makeAgent()
  const { id } = bodyOf(await ask("POST", path, { address: "1001", label: "desk", inbound_workflow_id: agent.id }))
  const put = (json: unknown) => ask("PUT", `${path}/${id}`, json)
  t.match(await put({ label: null, is_active: false, address: "1002" }), {
    status: 200,
    json: {
      address: "1001",
      address_type: "sip_extension",
      label: "desk",
      is_active: false,
      inbound_workflow_id: agent.id,
      provider_sync: null
    }
  })
  t.match(await put({ label: "front", extra_metadata: { a: [1] }, country_code: "us" }), {
    json: { label: "front", extra_metadata: { a: [1] }, country_code: "US", is_active: false }
  })
  t.match(await put({ clear_inbound_workflow: true }), { json: { inbound_workflow_id: null, inbound_workflow_name: null, label: "front" } })
  t.match(await put({ inbound_workflow_id: 999_999 }), { status: 404, json: { detail: "Workflow not found" } })
})

t.test("given a default caller id, when another becomes it, then there is one", async (t) => {
  await ask("POST", path, { address: "+15550100201", is_default_caller_id: true })
  const second = bodyOf(await ask("POST", path, { address: "+15550100202" }))
  const defaults = async () => (await numbers()).phone_numbers.filter((one) => one.is_default_caller_id).map(({ address }) => address)
  t.strictSame(await defaults(), ["+15550100201"])
  t.match(await ask("POST", `${path}/${second.id}/set-default-caller`), { status: 200, json: { is_default_caller_id: true } })
  t.strictSame(await defaults(), ["+15550100202"])
  const uri = bodyOf(await ask("POST", path, { address: "sip:Sales@Example.com" }))
  const refused = { status: 400, json: { detail: "The caller ID must consist of digits" } }
  t.match(await ask("POST", `${path}/${uri.id}/set-default-caller`), refused)
  t.match(await ask("POST", path, { address: "sip:other@example.com", is_default_caller_id: true }), refused)
  t.strictSame(await defaults(), ["+15550100202"])
})

t.test("given a number, when it is deleted, then it is gone, and can be added again", async (t) => {
  const { id } = bodyOf(await ask("POST", path, { address: "+15550100301" }))
  const deleted = await ask("DELETE", `${path}/${id}`)
  t.strictSame([deleted.status, deleted.json], [200, { message: "Phone number deleted", provider_sync: null }])
  t.match(await ask("GET", `${path}/${id}`), noNumber)
  t.match(await ask("DELETE", `${path}/${id}`), noNumber)
  t.match(await ask("POST", path, { address: "+15550100301" }), { status: 200 })
  const elsewhere = "/organizations/telephony-configs/999999/phone-numbers"
  t.match(await ask("GET", elsewhere), { status: 404, json: { detail: "Telephony configuration not found" } })
  t.match(await ask("GET", `${elsewhere}/${id}`), noNumber)
})
