/** The state of a Cloudonix trunk, and the test of its configuration. */
import { Effect } from "effect"
import t from "tap"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check } from "#core/provider/Adapter.ts"
import { trunksOf } from "#test/support/egress.ts"
import { configOf, open, start } from "./cloudonixWorld.ts"
import { Hosted } from "./hosted.ts"
import { numberOf } from "./Line.ts"

t.test("when the engine has no public address, then the trunk is down and nothing is sent", async (t) => {
  const emulator = await start(t)
  const hosted = await Hosted.open(cloudonix, configOf(emulator), { apiOrigin: emulator.url, isPublic: false })
  t.teardown(() => hosted.close())
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: /PUBLIC_URL/ })
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable", detail: /PUBLIC_URL/ })
  t.strictSame(emulator.server.requests, [])
})

t.test("when the key or the domain is wrong, then the trunk is down because of it, and calls are refused", async (t) => {
  const emulator = await start(t)
  const cases = [
    [{ bearer_token: "XIwrong" }, /401/, "auth_refused"],
    [{ bearer_token: "XIwrong\nline é" }, /401/, "auth_refused"],
    [{ domain_id: "other" }, /domain/, "misconfigured"]
  ] as const
  for (const [more, detail, reason] of cases) {
    const hosted = await Hosted.open(cloudonix, configOf(emulator, more), { apiOrigin: emulator.url })
    t.match(await hosted.line.status("Down"), { reason: "auth", detail })
    const { failure } = await hosted.originate(numberOf("001"))
    t.match(failure, { _tag: "OriginateRefused", reason })
    t.notMatch(JSON.stringify([failure, ...hosted.line.statuses]), "XIwrong")
    await hosted.close()
  }
  t.equal(emulator.log.count("originate"), 0)
})

t.test("when Cloudonix cannot be reached, then the trunk recovers by itself, or at once when it is told to", async (t) => {
  const { emulator, hosted, line } = await open(t)
  await emulator.server.refuseConnections(true)
  t.match((await hosted.originate(numberOf("011"))).failure, { reason: "unreachable" })
  line.trunk.reconnect?.()
  t.match(await line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
  await emulator.server.refuseConnections(false)
  await line.status("Up")
  for (const reply of [{ status: 200, body: "<html></html>" }, { status: 401 }, { status: 200, body: {} }] as const) {
    emulator.server.fail({ acts: false, reply }, () => true)
    line.trunk.reconnect?.()
    t.match(await line.status("Down"), { reason: "unreachable" }, "when something else answers")
    line.trunk.reconnect?.()
    await line.status("Up")
  }
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
    await Effect.runPromise(Effect.scoped(cloudonix.verify?.(configOf(emulator, more), context) ?? Effect.void))
    t.notMatch(JSON.stringify(checks), "XIwrong")
    return checks.flatMap(({ advice, name, result }) => (result === "failed" && advice !== undefined ? [name] : []))
  }
  t.strictSame(await failedIn({}), [])
  t.strictSame(await failedIn({ bearer_token: "XIwrong" }), ["credentials"])
  t.strictSame(await failedIn({ domain_id: "other" }), ["credentials"])
  await emulator.server.refuseConnections(true)
  t.strictSame(await failedIn({}), ["connection"])
  t.equal(emulator.log.count("originate"), 0)
})
