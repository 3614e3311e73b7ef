/** Whether Vonage's trunk is up, what testing its configuration says, and the account's numbers. */
import { generateKeyPairSync } from "node:crypto"
import { Effect, Schema } from "effect"
import t, { type Test } from "tap"
import vonage from "#adapters/vonage/vonage.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check } from "#core/provider/Adapter.ts"
import { trunksOf } from "#test/support/egress.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"
import { configOf, openWorld, start } from "./vonageWorld.ts"

const open = async (t: Test, more: object = {}, isPublic = true) => {
  const emulator = await start(t)
  const hosted = await Hosted.open(vonage, configOf(emulator, more), { apiOrigin: emulator.url, isPublic })
  t.teardown(() => hosted.close())
  return { emulator, hosted }
}
const pairOf = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
const wrongKey = pairOf().export({ format: "pem", type: "pkcs8" }).toString()
const listsCalls = ({ method, path }: { readonly method: string; readonly path: string }) => method === "GET" && path === "/v1/calls"

t.test("when the key belongs to another application, then the trunk is down because of it, and calls are refused", async (t) => {
  const { hosted } = await open(t, { private_key: wrongKey })
  t.match(await hosted.line.status("Down"), { reason: "auth", detail: "HTTP 401 unauthorized" })
  const { failure } = await hosted.originate(numberOf("001"))
  t.match(failure, { _tag: "OriginateRefused", reason: "auth_refused" })
  t.notMatch(JSON.stringify([failure, ...hosted.line.statuses]), /PRIVATE/)
})

t.test("when the key is replaced while the trunk is up, then a refused call shows it", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  emulator.replaceKey()
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "auth_refused" })
  t.match(await hosted.line.status("Down"), { reason: "auth" })
})

t.test("the key is understood, however it was pasted", async (t) => {
  const emulator = await start(t)
  const { privateKey } = emulator
  for (const private_key of [privateKey.replaceAll("\n", "\\n"), privateKey.replaceAll("\n", "\r\n"), `\n  ${privateKey.trim()} \n\n`]) {
    const hosted = await Hosted.open(vonage, configOf(emulator, { private_key }), { apiOrigin: emulator.url })
    t.match(await hosted.line.status("Up"), { _tag: "Up" })
    await hosted.close()
  }
})

t.test("when Vonage cannot be reached, then the trunk recovers by itself, or at once when it is told to", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  await emulator.server.refuseConnections(true)
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
  hosted.line.trunk.reconnect?.()
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
  await emulator.server.refuseConnections(false)
  await hosted.line.status("Up")
  for (const reply of [{ status: 200, body: "<html></html>" }, { status: 401 }, { status: 200, body: { count: 0 } }] as const) {
    emulator.server.fail({ acts: false, reply }, listsCalls)
    hosted.line.trunk.reconnect?.()
    t.match(await hosted.line.status("Down"), { reason: "unreachable" }, "when something else answers")
    hosted.line.trunk.reconnect?.()
    await hosted.line.status("Up")
  }
})

t.test("without an address, a key or a secret that proves webhooks, nothing is dialed", async (t) => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "pem", type: "pkcs8" }).toString()
  const cases = [
    [{}, false, "unreachable", /PUBLIC_URL/],
    [{ private_key: "MIIEvQ" }, true, "misconfigured", /private_key/],
    [{ private_key: ec }, true, "misconfigured", /private_key/],
    [{ signature_secret: "" }, true, "misconfigured", /signature_secret/]
  ] as const
  for (const [more, isPublic, reason, detail] of cases) {
    const { emulator, hosted } = await open(t, more, isPublic)
    const publicUrl = isPublic ? "https://voice.example.com" : undefined
    const missing = vonage.setup?.(configOf(emulator, more), { callbackUrl: undefined, publicUrl }).filter(({ isComplete }) => !isComplete)
    t.match(missing, [{ blocksOutbound: true, description: detail }])
    t.match(await hosted.line.status("Down"), { reason: "unreachable", detail })
    t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason, detail })
    t.strictSame(emulator.server.requests, [])
  }
})

t.test("when a configuration is tested, then any faults are named", async (t) => {
  const emulator = await start(t)
  const first = Schema.decodeSync(OrganizationId)(1)
  const checksOf = async (given: object) => {
    const checks: Array<Check> = []
    const context = {
      configurationId: Schema.decodeSync(TelephonyConfigId)(1),
      apiOrigin: new URL(emulator.url),
      egress: trunksOf(first, { first }),
      node: "verify",
      report: (check: Check) => void checks.push(check)
    }
    await Effect.runPromise(Effect.scoped(vonage.verify?.(configOf(emulator, given), context) ?? Effect.void))
    t.notMatch(JSON.stringify(checks), /BEGIN|wrong secret/)
    return checks.map(({ name, result }) => `${name} ${result}`)
  }
  const good = ["connection passed", "credentials passed"]
  t.strictSame(await checksOf({}), [...good, "application passed"])
  t.strictSame(await checksOf({ private_key: wrongKey }), ["connection passed", "credentials failed", "application passed"])
  t.strictSame(await checksOf({ api_secret: "wrong secret" }), [...good, "application failed"])
  t.strictSame(await checksOf({ signature_secret: "" }), [...good, "configuration failed", "application passed"])
  emulator.signsCallbacks = false
  t.strictSame(await checksOf({}), [...good, "application failed"])
  emulator.server.fail({ acts: false, reply: { status: 200, body: "<html>" } }, () => true, 2)
  t.strictSame(await checksOf({}), ["connection failed"])
  await emulator.server.refuseConnections(true)
  t.strictSame(await checksOf({}), ["connection failed"])
  t.equal(emulator.log.count("originate"), 0)
})

t.test("the account's numbers that can call are listed, however many pages there are", async (t) => {
  const numbers = [OUR_NUMBER, "+15550009001", "+15550009002", "+442071838750"]
  const { emulator, hosted } = await openWorld(t, { numbers, pageSize: 2 })
  const listed = () => Effect.runPromise(Effect.result(hosted.line.trunk.numbers ?? Effect.die("it cannot list numbers")))
  t.match(await listed(), { _tag: "Success", success: numbers })
  const isNumbers = ({ path }: { readonly path: string }) => path === "/account/numbers"
  t.match(
    emulator.server.requests.filter(isNumbers).map(({ query }) => query.get("index")),
    ["1", "2", "3"]
  )
  for (const reply of [
    { status: 401, body: "<html>" },
    { status: 200, body: "<html>" },
    { status: 200, body: { count: 1 } },
    "reset"
  ] as const) {
    emulator.server.fail({ acts: false, reply }, isNumbers)
    t.match(await listed(), { _tag: "Failure", failure: { _tag: "ProviderError", operation: "numbers" } })
  }
})
