/** /organizations/telephony-configs/{id}/carrier-numbers over HTTP: the numbers of the provider's account, and their import. */
import t from "tap"
import { bodyOf, type Json, openApi, pagesOf } from "./apiTest.ts"
import { Layer } from "effect"
import twilio from "#adapters/twilio/twilio.ts"

const { ask, askAsOther, carrierNumbers } = await openApi(t, Layer.empty, { adapters: [twilio] })
const configs = "/organizations/telephony-configs"
let made = 0
/** Creates a configuration of an account that has these numbers. */
const make = async (numbers: ReadonlyArray<string> | undefined, asking = ask, digit = String(++made % 10)) => {
  const config = { provider: "twilio", account_sid: `AC${digit.repeat(32)}`, auth_token: "0".repeat(32) }
  const made = bodyOf(await asking("POST", configs, { name: `account ${Math.random()}`, config }))
  carrierNumbers.set(made.id, numbers)
  return { id: made.id, path: `${configs}/${made.id}/carrier-numbers`, own: `${configs}/${made.id}/phone-numbers` }
}
const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `+1${prefix}${String(index).padStart(10 - prefix.length, "0")}`)
const addressesOf = async (path: string, asking = ask) => {
  const { phone_numbers } = (await asking("GET", path)).json as { phone_numbers: ReadonlyArray<{ address: string }> } // This is an answer of ours.
  return phone_numbers.map(({ address }) => address)
}
// The cast holds because the answer was checked against its schema.
const rowsIn = (answer: { readonly json: unknown }) =>
  bodyOf(answer)["numbers"] as unknown as ReadonlyArray<{ address: string; result: string }>
const numbersIn = (answer: { readonly json: unknown }) => rowsIn(answer).map(({ address }) => address)
const resultsOf = (answer: { readonly json: unknown }) => rowsIn(answer).map(({ address, result }) => `${address} ${result}`)

t.test("given an account with numbers, when they are listed, then each says whether the organization has it, and where", async (t) => {
  const [one = "", two = "", three = ""] = numbered("55501", 3)
  const [account, other] = [await make([one, two, three]), await make([])]
  const here = bodyOf(await ask("POST", account.own, { address: one }))
  const there = bodyOf(await ask("POST", other.own, { address: two }))
  t.match(await ask("GET", account.path), {
    status: 200,
    json: {
      numbers: [
        { address: one, imported: true, phone_number_id: here.id, telephony_configuration_id: account.id },
        { address: two, imported: true, phone_number_id: there.id, telephony_configuration_id: other.id },
        { address: three, imported: false, phone_number_id: null, telephony_configuration_id: null }
      ]
    }
  })
})

t.test("given thousands of numbers, then they come in pages, each once", async (t) => {
  const all = numbered("5552", 2500)
  const { path } = await make(all)
  const pages = await pagesOf(ask, path)
  t.ok(pages.length > 1)
  t.strictSame(pages.flatMap(numbersIn), all)
})

t.test("given chosen numbers, when they are imported, then they are there, and repeating that changes nothing", async (t) => {
  const [one = "", two = "", three = ""] = numbered("55503", 3)
  const account = await make([one, two, three])
  await ask("POST", account.own, { address: two, label: "desk" })
  const choose = () => ask("POST", `${account.path}/import`, { addresses: [`${one.slice(0, 5)} ${one.slice(5)}`, two, one] })
  const first = await choose()
  t.match(first, { status: 200, json: { imported: 1 } })
  t.strictSame(resultsOf(first), [`${one} imported`, `${two} already_imported`])
  const again = await choose()
  t.match(again, { status: 200, json: { imported: 0 } })
  t.strictSame(resultsOf(again), [`${one} already_imported`, `${two} already_imported`])
  t.match((await ask("GET", account.own)).json, {
    phone_numbers: [
      { address: two, label: "desk" },
      { address: one, address_normalized: one, address_type: "pstn", is_active: true, is_default_caller_id: false, extra_metadata: {} }
    ]
  })
  const [{ id = 0 } = {}] = ((await ask("GET", account.own)).json as { phone_numbers: ReadonlyArray<Json> }).phone_numbers // This is an answer of ours.
  t.match(await ask("PUT", `${account.own}/${id}`, { is_active: false }), { status: 200 })
  await choose()
  t.match((await ask("GET", `${account.own}/${id}`)).json, { is_active: false, label: "desk" }, "what a person has set stays")
})

t.test("given a request for all numbers, then all are there", async (t) => {
  const all = numbered("55504", 40)
  const account = await make(all)
  t.match(await ask("POST", `${account.path}/import`, { all: true }), { status: 200, json: { imported: 40 } })
  t.strictSame(await addressesOf(account.own), all)
})

t.test("given imports at the same time, then each number is there once, and each request has its answer", async (t) => {
  const all = numbered("55505", 50)
  const [one, two] = [await make(all), await make([...all].reverse())]
  const answers = await Promise.all([one, two, one, two].map(({ path }) => ask("POST", `${path}/import`, { all: true })))
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
  const imported = answers.reduce((sum, answer) => sum + Number(bodyOf(answer)["imported"]), 0)
  t.equal(imported, 50)
  t.strictSame([...(await addressesOf(one.own)), ...(await addressesOf(two.own))].sort(), all)
})

t.test("given a number that another organization has under this account, then it stays theirs, and others are imported", async (t) => {
  const [one = "", two = ""] = numbered("55506", 2)
  const theirs = await make([one, two], askAsOther, "a")
  const ours = await make([one, two], ask, "a")
  t.match(await askAsOther("POST", `${theirs.path}/import`, { addresses: [two] }), { status: 200, json: { imported: 1 } })
  const imported = await ask("POST", `${ours.path}/import`, { all: true })
  t.match(imported, { status: 200, json: { imported: 1 } })
  t.strictSame(resultsOf(imported), [`${one} imported`, `${two} taken`])
  t.match(imported.json, { numbers: [{}, { phone_number_id: null, telephony_configuration_id: null }] })
  t.strictSame(await addressesOf(theirs.own, askAsOther), [two])
  t.match(await askAsOther("GET", ours.path), { status: 404, json: { detail: "Telephony configuration not found" } })
  t.match(await askAsOther("POST", `${ours.path}/import`, { all: true }), { status: 404 })
})

t.test("given numbers that cannot be imported, then none is, and the answer says why", async (t) => {
  const all = numbered("555", 1001)
  const account = await make(all)
  const nothing = async (json: unknown, expected: object) => {
    t.match(await ask("POST", `${account.path}/import`, json), expected)
    t.strictSame(await addressesOf(account.own), [])
  }
  await nothing({ all: true }, { status: 409, json: { detail: "A telephony configuration holds at most 1000 phone numbers." } })
  await nothing(
    { addresses: [all[0], "+15559999999"] },
    { status: 400, json: { detail: /^Phone number is not owned by this provider account/ } }
  )
  await nothing({ addresses: [all[0], "5551234567"] }, { status: 422, json: { detail: [{ loc: ["body"], msg: /country_code/ }] } })
  for (const json of [{}, { addresses: [] }, { addresses: [all[0]], all: true }])
    await nothing(json, { status: 422, json: { detail: [{ loc: ["body"], msg: "Value error, Either addresses or all must be given" }] } })
})

t.test("given a provider that fails, or cannot list numbers, then nothing is imported", async (t) => {
  const failing = await make(undefined)
  const failed = { status: 502, json: { detail: "Asterisk ARI did not list its numbers: HTTP 500" } }
  t.match(await ask("GET", failing.path), failed)
  t.match(await ask("POST", `${failing.path}/import`, { all: true }), failed)
  const unable = await make([])
  carrierNumbers.delete(unable.id)
  t.match(await ask("GET", unable.path), { status: 400, json: { detail: /^The numbers of an account cannot be listed/ } })
  t.strictSame([await addressesOf(failing.own), await addressesOf(unable.own)], [[], []])
})
