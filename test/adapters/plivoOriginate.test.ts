/** The requests to Plivo, its refusals, and the state of its trunk. `P1` and so on are cases of its conformance list. */
import { Effect, Schema } from "effect"
import t from "tap"
import plivo from "#adapters/plivo/plivo.ts"
import { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check, OriginateRequest } from "#core/provider/Adapter.ts"
import { account } from "#test/emulators/plivo/PlivoEmulator.ts"
import { trunksOf } from "#test/support/egress.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"
import { placesCall } from "./plivoDialect.ts"
import { config, openWorld, start } from "./plivoWorld.ts"

t.test("P1: given a call with machine detection, then exactly this request is sent to Plivo", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  const to = numberOf("011")
  const { callId } = await hosted.originate(to, { ringTimeoutSeconds: 29.5, maxDurationSeconds: 600, detect: "who" })
  const ask = emulator.server.requests.find(placesCall)
  t.equal(ask?.path, `/v1/Account/${account.authId}/Call/`, "with a slash at its end")
  t.equal(ask?.headers["authorization"], `Basic ${Buffer.from(`${account.authId}:${account.authToken}`).toString("base64")}`)
  t.equal(ask?.headers["content-type"], "application/json")
  const retries = "#rc=5&rp=5xx,ct,rt"
  t.strictSame(JSON.parse(ask?.body ?? ""), {
    from: OUR_NUMBER.slice(1),
    to: to.slice(1),
    answer_url: hosted.address("answer", callId) + retries,
    answer_method: "POST",
    ring_url: hosted.address("ring", callId) + retries,
    ring_method: "POST",
    hangup_url: hosted.address("hangup", callId) + retries,
    hangup_method: "POST",
    ring_timeout: 30,
    time_limit: 630,
    machine_detection: "true",
    machine_detection_url: hosted.address("machine", callId) + retries,
    machine_detection_method: "POST"
  })
  await hosted.originate(numberOf("002"), { ringTimeoutSeconds: 0.2, maxDurationSeconds: 86_400 })
  t.match(JSON.parse(emulator.server.requests.findLast(placesCall)?.body ?? ""), { ring_timeout: 1, time_limit: 14_400 })
})

t.test("P12: given requests that Plivo refuses, then nobody is called", async (t) => {
  const world = await openWorld(t, { mostCalls: 3 })
  const { emulator, hosted } = world
  const refused = (reason: string, more: object = {}) => ({ _tag: "OriginateRefused", reason, ...more })
  const refusedWith = async (status: number, error: unknown, headers = {}) => {
    emulator.server.fail({ acts: false, reply: { status, body: { api_id: "a-1", error }, headers } }, placesCall)
    const { failure, to } = await hosted.originate(numberOf("001"))
    t.notMatch(JSON.stringify(failure), /5551234567|MAXX/, "without a number or the account")
    t.strictSame([world.dials(to), world.asked(to)], [0, 1])
    return failure
  }
  const invalid = refused("number_refused", { cause: "invalid_number_format" })
  const barred = refused("number_refused", { cause: "facility_rejected" })
  t.match((await hosted.originate("+99155500011")).failure, barred, "a country that is not permitted")
  t.match((await hosted.originate("+99255500011")).failure, refused("no_credit"))
  t.match((await hosted.originate("+99355500011")).failure, invalid)
  const foreign = await hosted.originate(numberOf("001"), { from: "+15550009999" })
  t.match(foreign.failure, refused("caller_id_refused"), "somebody else's caller id")
  t.match(await refusedWith(400, "15551234567 is not a valid destination number"), invalid)
  t.match(await refusedWith(400, { to: "not a valid number: +15551234567" }), invalid, "an error that is an object")
  t.match(
    await refusedWith(400, "answer_url is not valid: unable to connect to https://voice.example.com/15551234567"),
    refused("misconfigured")
  )
  t.match(await refusedWith(400, "something else"), refused("misconfigured"))
  t.match(await refusedWith(401, "authentication failed"), refused("auth_refused"))
  t.match(await refusedWith(403, "your account is not verified"), refused("misconfigured"))
  t.match(await refusedWith(404, "not found"), refused("misconfigured"))
  t.match(await refusedWith(405, "method not allowed"), refused("misconfigured"))
  t.match(await refusedWith(429, "too many requests"), refused("rate_limited", { retryAfterMillis: 5000 }))
  t.match(await refusedWith(429, "too many requests", { "retry-after": "7" }), refused("rate_limited", { retryAfterMillis: 7000 }))

  await Promise.all([1, 2, 3].map(() => hosted.originate(numberOf("003"))))
  t.match((await hosted.originate(numberOf("001"))).failure, refused("rate_limited"), "a 403 for too many calls at once")

  const requests = emulator.server.requests.filter(placesCall).length
  for (const to of ["+0555", "+1555;/@x", "+15551234567<15551234568", "15551234567", "1000"])
    t.match((await hosted.originate(to)).failure, invalid, to)
  let asked = 0
  const lapse: Partial<OriginateRequest> = { leave: () => ++asked > 1 }
  t.match((await hosted.originate(numberOf("001"), lapse)).failure, refused("permit_lapsed"))
  t.equal(asked, 1, "then the permit is asked for once")
  t.equal(emulator.server.requests.filter(placesCall).length, requests, "then nothing is sent")
})

t.test("given two calls a second, when more are requested, then they wait at Plivo, and that is reported", async (t) => {
  const { emulator, hosted } = await openWorld(t, { callsPerSecond: 2 })
  const calls = await Promise.all([1, 2].map(() => hosted.originate(numberOf("002"))))
  for (const { callId } of calls) t.equal(await hosted.line.hungUp(callId), "user_busy")
  const [first, second] = emulator.log.entries.filter(({ kind }) => kind === "originate")
  t.ok((second?.at ?? 0) - (first?.at ?? 0) > 450)
})

t.test("given the state of the trunk", async (t) => {
  const wrong = { auth_token: "a-wrong-token" }
  const open = async (more: object = {}, isPublic = true) => {
    const emulator = await start()
    const hosted = await Hosted.open(plivo, { ...config, ...more }, { apiOrigin: emulator.url, isPublic })
    t.teardown(async () => {
      await hosted.close()
      await emulator.stop()
    })
    return { emulator, hosted }
  }
  await t.test("P12: when the credentials are wrong, then the trunk is down because of them, and calls are refused", async (t) => {
    const { hosted } = await open(wrong)
    t.match(await hosted.line.status("Down"), { reason: "auth" })
    const { failure } = await hosted.originate(numberOf("001"))
    t.match(failure, { _tag: "OriginateRefused", reason: "auth_refused" })
    t.notMatch(JSON.stringify([failure, ...hosted.line.statuses]), wrong.auth_token)
  })
  await t.test("when Plivo cannot be reached, or something else answers, then the trunk recovers", async (t) => {
    const { emulator, hosted } = await open()
    await hosted.line.status("Up")
    await emulator.server.refuseConnections(true)
    t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
    hosted.line.trunk.reconnect?.()
    t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
    await emulator.server.refuseConnections(false)
    await hosted.line.status("Up")
    for (const reply of [{ status: 200, body: "<html></html>" }, { status: 401 }, { status: 200, body: { objects: {} } }] as const) {
      emulator.server.fail({ acts: false, reply }, ({ path }) => path.endsWith("/Number/"))
      hosted.line.trunk.reconnect?.()
      t.match(await hosted.line.status("Down"), { reason: "unreachable" })
      hosted.line.trunk.reconnect?.()
      await hosted.line.status("Up")
    }
  })
  await t.test("when the engine has no public address, then nothing is sent", async (t) => {
    const { emulator, hosted } = await open({}, false)
    t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: /PUBLIC_URL/ })
    t.match((await hosted.originate(numberOf("001"))).failure, { reason: "unreachable", detail: /PUBLIC_URL/ })
    t.strictSame(emulator.server.requests, [])
  })
  await t.test("when a configuration is tested, then any faults are named", async (t) => {
    const { emulator } = await open()
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
      await Effect.runPromise(Effect.scoped(plivo.verify?.({ ...config, ...given }, context) ?? Effect.void))
      t.notMatch(JSON.stringify(checks), wrong.auth_token)
      return checks.map(({ name, result }) => `${name} ${result}`)
    }
    t.strictSame(await checksOf({}), ["connection passed", "credentials passed"])
    t.strictSame(await checksOf(wrong), ["connection passed", "credentials failed"])
    await emulator.server.refuseConnections(true)
    t.strictSame(await checksOf({}), ["connection failed"])
  })
})

t.test("the account's numbers are listed, however many there are", async (t) => {
  const many = [...Array(41).keys()].map((n) => `+1555000${String(1000 + n)}`)
  const { emulator, hosted } = await openWorld(t, { numbers: many })
  const list = () => Effect.runPromise(Effect.result(hosted.line.trunk.numbers ?? Effect.die("no list")))
  t.match(await list(), { success: many })
  for (const body of ["<html></html>", { objects: 5 }]) {
    emulator.server.fail({ acts: false, reply: { status: 200, body } }, ({ path }) => path.endsWith("/Number/"))
    t.match(await list(), { failure: { _tag: "ProviderError" } })
  }
})

t.test("two configurations of one account share its limits", async (t) => {
  const keyOf = (more: object) => plivo.rateKey?.({ ...config, ...more })
  t.equal(keyOf({}), keyOf({ auth_token: "another", from_numbers: [OUR_NUMBER] }))
  t.not(keyOf({}), keyOf({ auth_id: "MAYYYYYYYYYYYYYYYYYY" }))
})
