/**
 * Calls through Vobiz: the adapter against an emulated Vobiz over real sockets. What the callees saw is the judge. `B1` and so on are
 * cases of its conformance list.
 */
import t from "tap"
import vobiz from "#adapters/vobiz/vobiz.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { account } from "#test/emulators/vobiz/VobizEmulator.ts"
import { signatureOf, signed } from "#test/emulators/vobiz/signed.ts"
import { refTo } from "#test/support/refTo.ts"
import { callbackOf } from "./callbackOf.ts"
import { newCallId, numberOf } from "./Line.ts"
import { callIn, findsLate, handsOver, places } from "./plivoDialect.ts"
import { config, openWorld } from "./vobizWorld.ts"

const base = `/api/v1/Account/${account.authId}`

t.test("B1: given a call with machine detection, then exactly this request is sent to Vobiz", async (t) => {
  const headers = await places(t, openWorld, base, "", { hangup_on_ring: 30 })
  t.match(headers, { "x-auth-id": account.authId, "x-auth-token": account.authToken, authorization: undefined })
})
t.test("given a record that comes late", (t) => findsLate(t, openWorld))
t.test("given callees to transfer", (t) => handsOver(t, openWorld, base, []))

t.test("B2: given a reply of 200 or 201, then the call was placed, and is named by it", async (t) => {
  for (const placedStatus of [200, 201] as const) {
    const { emulator, hosted } = await openWorld(t, { placedStatus })
    const { callId, failure, to } = await hosted.originate(numberOf("002"))
    t.equal(failure, undefined)
    t.equal(hosted.ref(callId).providerCallId, emulator.callsTo(to)[0]?.uuid)
    await hosted.line.event(callId, "HungUp")
  }
})

t.test("given a forged body with a fresh nonce at the call's own address", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { call, callId, ref, to } = await callIn(world, "ringing")
  const url = hosted.address("ring", callId)
  const other = await callIn(world, "ended")
  const before = hosted.line.story(callId).length
  const told = () => hosted.line.story(callId).slice(before)
  const post = async (address: string, fields: Readonly<Record<string, string>>) => {
    const { body, headers } = signed(address, fields, account.authToken)
    return (await fetch(address, { method: "POST", body, headers })).status
  }
  const end = {
    CallUUID: call.uuid,
    Event: "Hangup",
    HangupCause: "NORMAL_CLEARING",
    AnswerTime: "now",
    BillDuration: "9",
    TotalCost: "500"
  }
  for (const address of [url, hosted.address("hangup", callId)]) t.equal(await post(address, end), 200)
  t.strictSame(told(), ["EndClaimed", "EndClaimed"], "then neither an end, nor an answer, nor a cost is reported")
  t.equal(await post(url, { CallUUID: call.uuid, Event: "StartApp" }), 200)
  t.equal(told().length, 2, "then an answer is reported only by the request for its document")
  t.equal(await post(url, { CallUUID: other.call.uuid, Event: "Ring" }), 200)
  t.equal(ref().providerCallId, call.uuid, "then the call keeps its id")
  t.equal(await hosted.lookup(ref()), "ringing")
  t.notMatch(hosted.line.story(callId).join(), /HungUp|Answered|Billed/)
  t.notOk(
    emulator.log.of(to).some(({ kind }) => kind === "ended"),
    "and the phone continues to ring"
  )
})

t.test("given a call whose id is not known, when its callback names another call, then that is not believed", async (t) => {
  const callback = { ...readOf({ Event: "Hangup" }), call: refTo(newCallId(), { providerCallId: undefined }) }
  t.strictSame(
    vobiz.read?.(config, callback)?.events.map(({ event }) => event),
    [{ _tag: "EndClaimed" }]
  )
})

t.test("given a record that appears two seconds after the end, then the end is still found", async (t) => {
  const { hosted } = await openWorld(t, { recordMillis: 2000 })
  const { callId } = await hosted.originate(numberOf("002"))
  t.equal(await hosted.line.hungUp(callId), "user_busy")
  t.match(hosted.line.story(callId).slice(-3), ["EndClaimed", "HungUp user_busy", "Billed"])
})

t.test("given a request for a media socket, then it needs no signature, but must not have a wrong one", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { callId } = await callIn(world, "up")
  await hosted.media.stream(callId)
  emulator.leaveMediaUnsigned()
  const other = await hosted.originate(numberOf("011"))
  await hosted.media.stream(other.callId)
  t.strictSame(
    hosted.media.upgrades.map(({ status }) => status),
    [101, 101]
  )
  const url = "wss://voice.example.com/media/42"
  const admits = (signedUrl: string, token: string) =>
    vobiz.media?.admit?.(
      config,
      callbackOf("", { method: "GET", url, headers: signatureOf(signedUrl, token), kind: "media", call: refTo(callId) })
    )
  for (const scheme of ["wss", "https", "http"]) t.equal(admits(url.replace("wss", scheme), account.authToken), true, scheme)
  t.equal(admits(url, "another-token"), false)
  t.equal(admits(`${url}3`, account.authToken), false)
})

const uuid = "8a6b3c1e-0d1f-4a2b-9c3d-5e6f7a8b9c0d"
const readOf = (fields: Readonly<Record<string, unknown>>, isJson = false): Callback => {
  const url = "https://voice.example.com/vobiz/hangup/42"
  const all = { CallUUID: uuid, CallStatus: "completed", ...fields }
  const { body, headers } = signed(
    url,
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)])),
    account.authToken
  )
  const call = refTo(newCallId(), { providerCallId: uuid })
  if (isJson)
    return callbackOf(JSON.stringify(all), { url, headers: { ...headers, "content-type": "application/json" }, kind: "hangup", call })
  return callbackOf(body, { url, headers, kind: "hangup", call })
}
const told = (fields: Readonly<Record<string, unknown>>, isJson = false) =>
  vobiz.read?.(config, readOf(fields, isJson))?.events.map(({ event }) => event)

t.test("B4: each record has its cause", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  const causes: ReadonlyArray<readonly [record: Readonly<Record<string, unknown>>, cause: string]> = [
    [{ hangup_cause: "USER_BUSY" }, "user_busy"],
    [{ hangup_cause: "NO_ANSWER" }, "no_answer"],
    [{ hangup_cause: "NO_USER_RESPONSE" }, "no_user_response"],
    [{ hangup_cause: "CALL_REJECTED" }, "call_rejected"],
    [{ hangup_cause: "UNALLOCATED_NUMBER" }, "unallocated_number"],
    [{ hangup_cause: "SWITCH_CONGESTION" }, "congestion"],
    [{ hangup_cause: "ORIGINATOR_CANCEL" }, "ring_timeout"],
    [{ hangup_cause: "NORMAL_CLEARING" }, "no_answer"],
    [{ hangup_cause: "NORMAL_CLEARING", hangup_cause_code: 3130 }, "facility_rejected"],
    [{ hangup_cause_code: 1010 }, "no_credit"],
    [{ hangup_cause_code: 6000, billsec: 600 }, "duration_exceeded"],
    [{ hangup_cause: "SOMETHING_NEW" }, "interworking"]
  ]
  for (const [record, cause] of causes) {
    const call = refTo(newCallId(), { providerCallId: uuid })
    const data = { uuid, billsec: 0, end_time: new Date().toISOString(), ...record }
    emulator.server.fail({ acts: false, reply: { status: 200, body: { data } } }, ({ path }) => path.includes("/cdr/"))
    t.equal(await hosted.lookup(call), "ended")
    t.equal(await hosted.line.hungUp(call.callId), cause, JSON.stringify(record))
  }
})

t.test("B4: a callback reports no cause, in a form or in JSON", async (t) => {
  for (const isJson of [false, true]) t.strictSame(told({ Event: "Hangup", HangupCause: "USER_BUSY" }, isJson), [{ _tag: "EndClaimed" }])
})

t.test("B5: a machine is reported in a form and in JSON", async (t) => {
  const machine = [{ _tag: "Detected", who: "machine" }]
  t.strictSame(told({ Event: "MachineDetection", Machine: "true" }), machine)
  t.strictSame(told({ Event: "MachineDetection", Machine: true }, true), machine)
  t.strictSame(told({ Event: "MachineDetection", Machine: false }, true), [{ _tag: "Detected", who: "human" }])
  t.strictSame(told({ Event: "MachineDetection", Machine: "maybe" }), [])
})

t.test("a record says what the call cost", async (t) => {
  const world = await openWorld(t)
  const { hosted } = world
  const { callId } = await hosted.originate(numberOf("001"))
  await hosted.line.event(callId, "HungUp")
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  t.match(hosted.line.events(callId).at(-1), { _tag: "Billed", amount: "0.0085", currency: "INR" })
})
