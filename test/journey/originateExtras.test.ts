/**
 * What a call carries for the dialplan, for billing and for the far end: judged by the dialplan and the records of a real Asterisk, and by
 * another real Asterisk behind it, which acts as the provider.
 */
import { parse } from "csv-parse/sync"
import t, { type Test } from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { until, World } from "#test/support/engine.ts"
import { type GeneratedAsterisk, recordsOf, startGenerated } from "#test/support/generatedAsterisk.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

/** How the dialplan refers to the value of an expression. */
const value = (expression: string) => `\${${expression}}`
const modules = "load = func_cdr.so\nload = app_echo.so\nload = func_callerid.so\n"
const withUserfield = { "cdr.conf": "loguserfield = yes\n", "modules.conf": modules }
const told = ["X-Customer", "X-Note", "X-Evil"].map((name) => value(`PJSIP_HEADER(read,${name})`))
const callerId = [value("CALLERID(name)"), value("CALLERID(num)")]

/** An Asterisk that writes what it is sent into its call records, and answers. */
const startProvider = async (t: Test) => {
  const place = await startAsterisk()
  t.teardown(() => place.stop())
  const steps = [`Set(CDR(userfield)=${[...told, ...callerId].join("|")})`, "Answer()", "Wait(1)", "Hangup(16)"]
  const provider = await startGenerated(place, {
    without: ["extensions.conf"],
    added: {
      ...withUserfield,
      "extensions.conf": `\n[trunkline-inbound]\n${steps.map((step, at) => `exten => _[+0-9]!,${at + 1},${step}`).join("\n")}\n`
    }
  })
  t.teardown(() => provider.stop())
  return { provider, address: `127.0.0.1:${Number(new URL(place.ariUrl).port) + 6}` }
}

const given = async (t: Test, account: Readonly<Record<string, unknown>>, added: Readonly<Record<string, string>> = {}) => {
  const { address, provider } = await startProvider(t)
  const callee = await startAsterisk()
  t.teardown(() => callee.stop())
  const asterisk = await startGenerated(callee, { arguments: ["--provider", address], added: { ...withUserfield, ...added } })
  t.teardown(() => asterisk.stop())
  const world = await World.open(t)
  const config = { provider: "ari", ...asterisk.telephonyConfig.config, ...account }
  const made = await world.api.ask("POST", "/organizations/telephony-configs", { name: "pbx", is_default_outbound: true, config })
  t.equal(made.status, 200, "then the configuration is accepted")
  return { asterisk, provider, world, configId: idOf(made.body) }
}
const idOf = (body: unknown): number => (body instanceof Object && "id" in body ? Number(body.id) : Number.NaN)

const call = async (t: Test, world: World, initial_context: object): Promise<string> => {
  const placed = await world.api.ask("POST", `/public/agent/workflow/${world.agentUuid}`, { phone_number: "+15550100001", initial_context })
  t.equal(placed.status, 200)
  return await until("end of the call", async () => {
    const [run] = await world.sql<Array<{ id: string }>>`SELECT gathered_context->>'call_id' AS id FROM runs WHERE is_completed`
    return run?.id
  })
}
/** The fields of a record, the last of which was set by the dialplan. */
const recordWith = (asterisk: GeneratedAsterisk, isIt: (fields: ReadonlyArray<string>) => boolean) =>
  until("record of the call", async () => {
    const rows: ReadonlyArray<ReadonlyArray<string>> = parse((await recordsOf(asterisk, "cdr-csv/Master.csv")).join("\n"))
    return rows.find(isIt)
  })

t.test("given an account code, headers and a name, when a contact tries to add a header", { skip, buffered: true }, async (t) => {
  const { asterisk, configId, provider, world } = await given(t, {
    account_code: "sales.7",
    caller_name: "Dr. O'Neill & Co",
    sip_headers: ["X-Customer: id {customer_id}", "X-Note: {note}; {missing}"]
  })
  const number = await world.api.ask("POST", `/organizations/telephony-configs/${configId}/phone-numbers`, { address: "+15559990000" })
  t.equal(number.status, 200)
  const id = await call(t, world, { customer_id: "4711", note: "one\r\nX-Evil: two", secret: "not for anybody" })
  const far = await recordWith(provider, (fields) => fields[2] === "+15550100001")
  t.strictSame(
    far.at(-1)?.split("|"),
    ["id 4711", "one X-Evil: two;", "", "Dr. O'Neill & Co", "+15559990000"],
    "then the provider is sent what the configuration names, in one line each, and the name"
  )
  const own = await recordWith(asterisk, (fields) => fields.includes(id))
  t.equal(own[0], "sales.7", "and Asterisk's own record has the account code")
})

t.test("given channel variables, when a call runs through a dialplan", { skip, buffered: true }, async (t) => {
  const noted = ["customer_id", "secret", "odd"].map(value).join("|")
  const steps = [`Set(CDR(userfield)=${noted})`, `Dial(PJSIP/${value("EXTEN")}@trunk)`, `Hangup(${value("HANGUPCAUSE")})`]
  const { asterisk, world } = await given(
    t,
    { account_code: "sales.7", channel_variables: ["customer_id", "odd", "missing"], dial_string: "Local/{number}@own/n" },
    { "extensions.conf": `\n[own]\n${steps.map((step, at) => `exten => _[+0-9]!,${at + 1},${step}`).join("\n")}\n` }
  )
  const odd = `${value("SHELL(id)")}, "a"`
  const id = await call(t, world, { customer_id: "4711", secret: "not for anybody", odd })
  const half = await recordWith(asterisk, (fields) => fields.includes(`${id};2`))
  t.equal(half.at(-1), `4711||${odd}`, "then the dialplan has exactly the configured ones, unchanged")
  const own = await recordWith(asterisk, (fields) => fields.includes(id))
  t.strictSame([own[0], half[0]], ["sales.7", ""], "and the engine's half has the account code, the dialplan's its own")
})
