/** Whether Twilio's trunk is up, and what testing its configuration says. */
import { Effect, Schema } from "effect"
import t, { type Test } from "tap"
import twilio from "#adapters/twilio/twilio.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check } from "#core/provider/Adapter.ts"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { trunksOf } from "#test/support/egress.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

const openWorld = async (t: Test, more: object = {}, isPublic = true) => {
  const emulator = await TwilioEmulator.start({ numbers: [OUR_NUMBER], callsPerSecond: 1000 })
  const config = { account_sid: emulator.accountSid, auth_token: emulator.authToken, ...more }
  const hosted = await Hosted.open(twilio, config, { apiOrigin: emulator.server.url, isPublic })
  t.teardown(async () => {
    await hosted.close()
    await emulator.stop()
  })
  return { config, emulator, hosted }
}
const wrong = { auth_token: "ffffffffffffffffffffffffffffffff" }
const isAccount = ({ path }: { readonly path: string }) => path.endsWith("1.json")

t.test("when the credentials are wrong, then the trunk is down for them, and calls are refused", async (t) => {
  const { hosted } = await openWorld(t, wrong)
  t.match(await hosted.line.status("Down"), { reason: "auth", detail: /20003/ })
  const { failure } = await hosted.originate(numberOf("001"))
  t.match(failure, { _tag: "OriginateRefused", reason: "auth_refused" })
  t.notMatch(JSON.stringify([failure, ...hosted.line.statuses]), wrong.auth_token)
})

t.test("when the account is suspended while the trunk is up, then a refused call shows it", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  await hosted.line.status("Up")
  emulator.standing = "suspended"
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "auth_refused" })
  t.match(await hosted.line.status("Down"), { reason: "auth" })
})

t.test("when Twilio cannot be reached, then the trunk comes back by itself, or at once when it is told to", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  await hosted.line.status("Up")
  await emulator.server.refuseConnections(true)
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
  hosted.line.trunk.reconnect?.()
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
  await emulator.server.refuseConnections(false)
  await hosted.line.status("Up")
  for (const reply of [{ status: 200, body: "<html></html>" }, { status: 401 }, { status: 200, body: { status: "active" } }] as const) {
    emulator.server.fail({ acts: false, reply }, isAccount)
    hosted.line.trunk.reconnect?.()
    t.match(await hosted.line.status("Down"), { reason: "unreachable" }, "when something else answers")
    hosted.line.trunk.reconnect?.()
    await hosted.line.status("Up")
  }
})

t.test("when the engine has no public address, then the trunk is down and nothing is sent", async (t) => {
  const { emulator, hosted } = await openWorld(t, {}, false)
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: /PUBLIC_URL/ })
  const { failure } = await hosted.originate(numberOf("001"))
  t.match(failure, { _tag: "OriginateRefused", reason: "unreachable", detail: /PUBLIC_URL/ })
  t.strictSame(emulator.server.requests, [])
})

t.test("when a configuration is tested, then it is said what is wrong, if anything is", async (t) => {
  const { config, emulator } = await openWorld(t)
  const first = Schema.decodeSync(OrganizationId)(1)
  const checksOf = async (given: object) => {
    const checks: Array<Check> = []
    const context = {
      configurationId: Schema.decodeSync(TelephonyConfigId)(1),
      apiOrigin: new URL(emulator.server.url),
      egress: trunksOf(first, { first }),
      node: "verify",
      report: (check: Check) => void checks.push(check)
    }
    await Effect.runPromise(Effect.scoped(twilio.verify?.({ ...config, ...given }, context) ?? Effect.void))
    t.notMatch(JSON.stringify(checks), wrong.auth_token)
    return checks.map(({ name, result }) => `${name} ${result}`)
  }
  t.strictSame(await checksOf({}), ["connection passed", "credentials passed"])
  t.strictSame(await checksOf(wrong), ["connection passed", "credentials failed"])
  await emulator.server.refuseConnections(true)
  t.strictSame(await checksOf({}), ["connection failed"])
})
