/** What an originate carries: whatever a contact's column contains stays one value. */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { callerIdOf, mostHeaders, mostVariables, type OriginateExtras, variablesOf } from "#adapters/ari/AriVariables.ts"
import { complete, masked } from "#core/provider/Credential.ts"

const none: OriginateExtras = { accountCode: "", callerName: "", channelVariables: [], sipHeaders: [] }

t.test("given nothing to carry, then nothing is carried", async (t) => {
  t.equal(variablesOf(none, { customer_id: "4711" }), undefined)
  t.equal(variablesOf({ ...none, channelVariables: ["missing"] }, { customer_id: "4711" }), undefined)
  t.equal(callerIdOf(none, "+15550100"), "+15550100")
})

t.test("given names and a contact, then the named values are carried, each in one line", async (t) => {
  const check = (extras: Partial<OriginateExtras>, context: Readonly<Record<string, unknown>>, expected: object) =>
    t.strictSame(variablesOf({ ...none, ...extras }, context), expected)
  check(
    { channelVariables: ["id", "n", "ok", "list"] },
    { id: "a", n: 0, ok: false, list: [1], other: "x" },
    { id: "a", n: "0", ok: "false" }
  )
  check({ channelVariables: ["constructor", "id"] }, { id: "a\r\nb\u2028c\u0000" }, { id: "a b c " })
  check({ accountCode: "x" }, {}, { "CHANNEL(accountcode)": "x" })
  const header = { "PJSIP_HEADER(add,X-A)": "b: 1 Via: c " }
  check({ sipHeaders: ["X-A: b: {id} {missing}"] }, { id: "1\r\nVia: c" }, header)
  check({ sipHeaders: ["X-A: {id}"] }, { id: "{other}", other: "secret" }, { "PJSIP_HEADER(add,X-A)": "{other}" })
})

t.test("given long values, then all of them together stay below Asterisk's limit", async (t) => {
  const channelVariables = Array.from({ length: mostVariables }, (_, at) => `v${at}`)
  const sipHeaders = Array.from({ length: mostHeaders }, (_, at) => `X-${at}: {v${at}}{v${at}}`)
  const context = Object.fromEntries(channelVariables.map((name) => [name, "\u{1F600}".repeat(4_000)]))
  const variables = variablesOf({ ...none, channelVariables, sipHeaders }, context)
  t.ok(Buffer.byteLength(JSON.stringify({ variables })) < 40_000)
})

t.test("given a name, then it stands before the number", async (t) => {
  t.equal(callerIdOf({ ...none, callerName: "Dr. O'Neill" }, "+15550100"), `"Dr. O'Neill" <+15550100>`)
})

t.test("given a configuration that is older than these fields, then each of them is empty", async (t) => {
  const old = { ari_endpoint: "http://127.0.0.1:8088", app_name: "a", app_password: "password1", dial_string: "SIP/{digits}" }
  const younger = { channel_variables: [], account_code: "", sip_headers: [], caller_name: "" }
  t.match(complete(ari.fields, old), { ...old, ...younger })
  // A configuration that was read can be sent back.
  t.match(masked(ari.fields, old), { ...old, ...younger, app_password: "*****ord1" })
})
