/** The trunks of hosted carriers: whether they are up, what their configurations lack, and what testing one reports. */
import { generateKeyPairSync } from "node:crypto"
import { Effect } from "effect"
import t, { type Test } from "tap"
import type { Adapter } from "#core/provider/Adapter.ts"
import { blockedBy } from "#core/provider/Setup.ts"
import { type CarrierName, carrierNames } from "#test/emulators/hostedCarriers.ts"
import { checksOf } from "./checksOf.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"
import { adapters, openCarrier, startCarrier } from "./hostedScene.ts"
import { numberOf } from "./Line.ts"

t.jobs = 4

const start = (t: Test, name: CarrierName) => startCarrier(t, name, { ringMillis: 100, talkMillis: 300 })
const open = async (t: Test, name: CarrierName, more: object = {}, isPublic = true) => {
  const { account, log, places, server } = await start(t, name)
  const config = { ...account, ...more }
  const hosted = await Hosted.open(adapters[name], config, { apiOrigin: server.url, isPublic })
  t.teardown(() => hosted.close())
  return { config, hosted, log, places, server }
}

const strangersKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }).toString()
const otherKind = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "pem", type: "pkcs8" }).toString()
const page = { status: 200, body: "<html></html>" }

t.test("with wrong credentials, the trunk is down for them, calls are refused, and no secret is shown", { buffered: true }, async (t) => {
  const cases: ReadonlyArray<readonly [CarrierName, object, reason: string, detail: RegExp]> = [
    ["cloudonix", { bearer_token: "XIwrong\nline é" }, "auth_refused", /401/],
    ["cloudonix", { domain_id: "other" }, "misconfigured", /domain/],
    ["telnyx", { api_key: "KEYwrong\nline é" }, "auth_refused", /401/],
    ["telnyx", { connection_id: "17" }, "misconfigured", /connection_id/],
    ["vonage", { private_key: strangersKey }, "auth_refused", /^HTTP 401 unauthorized: Unauthorized/]
  ]
  for (const [name, more, reason, detail] of cases) {
    const { hosted, log } = await open(t, name, more)
    t.match(await hosted.line.status("Down"), { reason: "auth", detail }, name)
    const { failure } = await hosted.originate(numberOf("001"))
    t.match(failure, { _tag: "OriginateRefused", reason }, name)
    t.match(hosted.line.statuses[0], { _tag: "Connecting" })
    t.notMatch(JSON.stringify([failure, ...hosted.line.statuses]), /XIwrong|KEYwrong|PRIVATE/)
    t.equal(log.count("originate"), 0)
  }
})

t.test("given credentials that are revoked while the trunk is up, then a refused call shows it", { buffered: true }, async (t) => {
  const [revoked, suspended, replaced] = [await openCarrier(t, "telnyx"), await openCarrier(t, "twilio"), await openCarrier(t, "vonage")]
  revoked.emulator.apiKey = "KEY-of-tomorrow"
  suspended.emulator.standing = "suspended"
  replaced.emulator.replaceKey()
  for (const { hosted } of [revoked, suspended, replaced]) {
    t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "auth_refused" })
    t.match(await hosted.line.status("Down"), { reason: "auth" })
  }
})

t.test("without an address, or what places calls or proves callbacks, nothing is sent", { buffered: true }, async (t) => {
  const cases: ReadonlyArray<readonly [CarrierName, object, isPublic: boolean, reason: string, detail: RegExp]> = [
    ["plivo", {}, false, "unreachable", /PUBLIC_URL/],
    ["telnyx", { connection_id: "" }, true, "misconfigured", /connection_id/],
    ["telnyx", { webhook_public_key: "A6EHv" }, true, "misconfigured", /webhook_public_key/],
    ["vonage", { private_key: "MIIEvQ" }, true, "misconfigured", /private_key/],
    ["vonage", { private_key: otherKind }, true, "misconfigured", /private_key/],
    ["vonage", { signature_secret: "" }, true, "misconfigured", /signature_secret/]
  ]
  for (const [name, more, isPublic, reason, detail] of cases) {
    const { config, hosted, server } = await open(t, name, more, isPublic)
    const publicUrl = isPublic ? "https://voice.example.com" : undefined
    const steps = adapters[name].setup?.(config, { callbackUrl: undefined, publicUrl }) ?? []
    const incomplete = steps.filter(({ isComplete }) => !isComplete)
    t.match(incomplete, [{ blocksOutbound: true, description: detail }], name)
    t.match(await hosted.line.status("Down"), { reason: "unreachable", detail }, name)
    hosted.line.trunk.reconnect?.()
    t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason, detail }, name)
    t.match(hosted.line.statuses.at(-1), { _tag: "Down" })
    t.strictSame(server.requests, [])
  }
})

t.test("setup shows which address must be entered at the carrier, and which address the carrier does not accept", async (t) => {
  const stepsOf = ({ setup }: Adapter, publicUrl: string | undefined) =>
    setup?.({}, { publicUrl, callbackUrl: publicUrl === undefined ? undefined : (kind) => `${publicUrl}/callbacks/${kind}` }) ?? []
  const addresses = (publicUrl: string | undefined) => stepsOf(adapters.telnyx, publicUrl).filter(({ key }) => key === "webhook_url")
  t.strictSame(addresses(undefined), [])
  t.match(addresses("https://voice.example.com"), [
    { blocksOutbound: false, description: /https:\/\/voice\.example\.com\/callbacks\/event$/, isComplete: true }
  ])
  t.equal(blockedBy(stepsOf(adapters.twilio, "https://voice.example.com")), undefined)
  t.match(blockedBy(stepsOf(adapters.twilio, "https://voice_1.example.com")), /underscore/)
})

for (const name of carrierNames) {
  t.test(`when ${name} cannot be reached, then the trunk recovers by itself, or at once when told to`, { buffered: true }, async (t) => {
    const { hosted, server } = await open(t, name)
    const { line } = hosted
    await line.status("Up")
    await server.refuseConnections(true)
    t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
    line.trunk.reconnect?.()
    t.match(await line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
    await server.refuseConnections(false)
    await line.status("Up")
    const tags = line.statuses.map(({ _tag }) => _tag)
    t.strictSame(tags, ["Connecting", "Up", "Down", "Up"])
    server.fail({ acts: false, reply: page }, () => true)
    line.trunk.reconnect?.()
    t.match(await line.status("Down"), { reason: "unreachable" }, "when something else answers")
    line.trunk.reconnect?.()
    await line.status("Up")
  })
}

t.test("a configuration is tested without placing a call, and any faults are named", { buffered: true }, async (t) => {
  const cases: ReadonlyArray<readonly [CarrierName, object, checks: ReadonlyArray<string>]> = [
    ["cloudonix", {}, ["credentials passed"]],
    ["cloudonix", { domain_id: "other" }, ["credentials failed"]],
    ["telnyx", { connection_id: "", webhook_public_key: "" }, ["credentials passed", "configuration failed"]],
    ["vonage", {}, ["credentials passed", "application passed"]],
    ["vonage", { private_key: strangersKey }, ["credentials failed", "application passed"]],
    ["vonage", { api_secret: "wrong secret" }, ["credentials passed", "application failed"]],
    ["vonage", { signature_secret: "" }, ["credentials passed", "configuration failed", "application passed"]]
  ]
  for (const [name, more, expected] of cases) {
    const { account, log, server } = await start(t, name)
    const checks = await checksOf(adapters[name], { ...account, ...more }, server.url)
    const results = checks.map(({ name, result }) => `${name} ${result}`)
    t.strictSame(results, ["connection passed", ...expected], name)
    t.ok(checks.every(({ advice, result }) => result !== "failed" || advice !== undefined))
    t.notMatch(JSON.stringify(checks), /BEGIN|wrong secret/)
    server.fail({ acts: false, reply: page }, () => true, 2)
    t.match(await checksOf(adapters[name], account, server.url), [{ name: "connection", result: "failed" }], "when something else answers")
    t.equal(log.count("originate"), 0)
  }
  const emulator = await startCarrier(t, "vonage")
  emulator.signsCallbacks = false
  t.match((await checksOf(adapters.vonage, emulator.account, emulator.url)).at(-1), { name: "application", result: "failed" })
})

t.test("Vonage's key is understood, however it was pasted", { buffered: true }, async (t) => {
  const emulator = await startCarrier(t, "vonage")
  const { privateKey } = emulator
  for (const private_key of [privateKey.replaceAll("\n", "\\n"), privateKey.replaceAll("\n", "\r\n"), `\n  ${privateKey.trim()} \n\n`]) {
    const hosted = await Hosted.open(adapters.vonage, { ...emulator.account, private_key }, { apiOrigin: emulator.url })
    t.match(await hosted.line.status("Up"), { _tag: "Up" })
    await hosted.close()
  }
})

t.test("the account's numbers are listed, however many pages there are", { buffered: true }, async (t) => {
  const many = (count: number) => [OUR_NUMBER, ...[...Array(count).keys()].map((n) => `+9180000${String(1000 + n)}`)]
  const [fortyOne, hundreds, four] = [many(40), many(200), many(3)]
  const cases = [
    [await openCarrier(t, "plivo", { numbers: fortyOne }), fortyOne, [page, { status: 200, body: { objects: 5 } }]],
    [await openCarrier(t, "vobiz", { numbers: hundreds }), hundreds, [page]],
    [
      await openCarrier(t, "vonage", { numbers: four, pageSize: 2 }),
      four,
      ["reset", page, { status: 401, body: "<html>" }, { status: 200, body: { count: 1 } }]
    ]
  ] as const
  for (const [{ emulator, hosted }, numbers, faults] of cases) {
    const list = () => Effect.runPromise(Effect.result(hosted.line.trunk.numbers ?? Effect.die("it cannot list numbers")))
    t.match(await list(), { _tag: "Success", success: numbers })
    for (const reply of faults) {
      emulator.server.fail({ acts: false, reply }, ({ path }) => /number/i.test(path))
      t.match(await list(), { _tag: "Failure", failure: { _tag: "ProviderError", operation: "numbers" } }, JSON.stringify(reply))
    }
  }
  const asked = cases[2][0].emulator.server.requests.flatMap(({ path, query }) => (path === "/account/numbers" ? [query.get("index")] : []))
  t.strictSame(asked.slice(0, 3), ["1", "2", "3"])
})

t.test("a call that cannot be placed is never requested", { buffered: true }, async (t) => {
  const { hosted, log, places, server } = await open(t, "plivo")
  const invalid = { _tag: "OriginateRefused", reason: "number_refused", cause: "invalid_number_format" }
  for (const to of [
    "+0555",
    "+1555;/@x",
    "+15551234567<15551234568",
    "15551234567",
    "1000",
    "sip:a@example.com",
    "+1415555 0111",
    "+14155550111\n"
  ])
    t.match((await hosted.originate(to)).failure, invalid, to)
  t.match((await hosted.originate(numberOf("001"), { from: "anonymous" })).failure, { reason: "caller_id_refused" })
  t.match((await hosted.originate(numberOf("001"), { from: undefined })).failure, { reason: "misconfigured" })
  let asked = 0
  t.match((await hosted.originate(numberOf("001"), { leave: () => ++asked > 1 })).failure, { reason: "permit_lapsed" })
  t.equal(asked, 1, "then the permit is asked for once")
  t.strictSame([server.requests.filter(places), log.count("originate")], [[], 0])
})

t.test("the configurations of one account share its limits, however its name is spelled", async (t) => {
  const keys: ReadonlyArray<readonly [CarrierName, object, expected: string]> = [
    ["plivo", { auth_id: "MAXXXXXXXXXXXXXXXXXX", auth_token: "one" }, "MAXXXXXXXXXXXXXXXXXX"],
    ["plivo", { auth_id: "MAXXXXXXXXXXXXXXXXXX", auth_token: "another", from_numbers: [OUR_NUMBER] }, "MAXXXXXXXXXXXXXXXXXX"],
    ["cloudonix", { domain_id: "Acme." }, "acme.cloudonix.net"],
    ["cloudonix", { domain_id: " acme.cloudonix.net " }, "acme.cloudonix.net"],
    ["cloudonix", { domain_id: "https://Acme.cloudonix.net/" }, "acme.cloudonix.net"],
    ["cloudonix", { domain_id: "Voice.Example.com.." }, "voice.example.com"]
  ]
  for (const [name, config, expected] of keys) t.equal(adapters[name].rateKey?.({ ...config }), expected)
})
