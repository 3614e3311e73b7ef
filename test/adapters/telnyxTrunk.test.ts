/** The state of a Telnyx trunk, and the test of its configuration. */
import { Effect } from "effect"
import t from "tap"
import telnyx from "#adapters/telnyx/telnyx.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check, TrunkStatus } from "#core/provider/Adapter.ts"
import { trunksOf } from "#test/support/egress.ts"
import { numberOf } from "./Line.ts"
import { Hosted } from "./hosted.ts"
import { configOf, open, start } from "./telnyxWorld.ts"

t.test("without an address, an application or a key that proves webhooks, nothing is dialed", async (t) => {
  const emulator = await start(t)
  const cases = [
    [{}, false, "unreachable", /PUBLIC_URL/],
    [{ connection_id: "" }, true, "misconfigured", /connection_id/],
    [{ webhook_public_key: "A6EHv" }, true, "misconfigured", /webhook_public_key/]
  ] as const
  for (const [more, isPublic, reason, detail] of cases) {
    const hosted = await Hosted.open(telnyx, configOf(emulator, more), { apiOrigin: emulator.url, isPublic })
    t.match(await hosted.line.status("Down"), { reason: "unreachable", detail })
    hosted.line.trunk.reconnect?.()
    t.match((await hosted.originate(numberOf("11"))).failure, { _tag: "OriginateRefused", reason, detail })
    t.match(hosted.line.statuses.at(-1), { _tag: "Down" })
    await hosted.close()
  }
  t.strictSame(emulator.server.requests, [])
})

t.test("the status distinguishes a wrong key, a wrong application and an outage, and `reconnect` hurries the check", async (t) => {
  const emulator = await start(t)
  const down = async (more: object): Promise<TrunkStatus> => {
    const hosted = await Hosted.open(telnyx, configOf(emulator, more), { apiOrigin: emulator.url })
    const status = await hosted.line.status("Down")
    await hosted.close()
    t.match(hosted.line.statuses[0], { _tag: "Connecting" })
    t.notMatch(JSON.stringify(status), "KEYwrong")
    return status
  }
  t.match(await down({ api_key: "KEYwrong" }), { reason: "auth" })
  t.match(await down({ api_key: "KEYwrong\nline é" }), { reason: "auth" })
  t.match(await down({ connection_id: "17" }), { reason: "auth", detail: /connection_id/ })
  await emulator.server.refuseConnections(true)
  const hosted = await Hosted.open(telnyx, configOf(emulator), { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "unreachable" })
  await emulator.server.refuseConnections(false)
  hosted.line.trunk.reconnect?.()
  await hosted.line.status("Up")
  t.equal((await hosted.originate(numberOf("11"))).failure, undefined)
})

t.test("an outage ends without help", async (t) => {
  const { emulator, hosted, line } = await open(t)
  await emulator.server.refuseConnections(true)
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "unreachable" })
  line.trunk.reconnect?.()
  await line.status("Down")
  await emulator.server.refuseConnections(false)
  await line.status("Up")
  t.strictSame(
    line.statuses.map(({ _tag }) => _tag),
    ["Connecting", "Up", "Down", "Up"]
  )
})

t.test("a configuration is tested without placing a call", async (t) => {
  const emulator = await start(t)
  const failedIn = async (more: object): Promise<ReadonlyArray<string>> => {
    const checks: Array<Check> = []
    const context = {
      configurationId: TelephonyConfigId.make(1),
      apiOrigin: new URL(emulator.url),
      egress: trunksOf(OrganizationId.make(1), { first: OrganizationId.make(1) }),
      node: "verify",
      report: (check: Check) => void checks.push(check)
    }
    await Effect.runPromise(Effect.scoped(telnyx.verify?.(configOf(emulator, more), context) ?? Effect.void))
    t.notMatch(JSON.stringify(checks), "KEYwrong")
    return checks.flatMap(({ advice, name, result }) => (result === "failed" && advice !== undefined ? [name] : []))
  }
  t.strictSame(await failedIn({}), [])
  t.strictSame(await failedIn({ api_key: "KEYwrong" }), ["credentials"])
  t.strictSame(await failedIn({ connection_id: "", webhook_public_key: "" }), ["configuration"])
  emulator.server.fail({ acts: false, reply: { status: 200, body: "<html>" } }, () => true)
  t.strictSame(await failedIn({}), ["connection"])
  await emulator.server.refuseConnections(true)
  t.strictSame(await failedIn({}), ["connection"])
  t.equal(emulator.log.count("originate"), 0)
})
