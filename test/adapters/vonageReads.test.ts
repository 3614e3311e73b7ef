/** How Vonage's adapter reads webhooks, records and lists. `V2` and so on are cases of its conformance list. */
import fc from "fast-check"
import t from "tap"
import vonage from "#adapters/vonage/vonage.ts"
import { lookOf } from "#adapters/vonage/VonageCallback.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { signatureOf } from "#test/emulators/vonage/tokens.ts"
import { forAll } from "#test/support/forAll.ts"
import { refTo } from "#test/support/refTo.ts"
import { callbackOf } from "./callbackOf.ts"
import { newCallId } from "./Line.ts"
import { openCarrier } from "./hostedScene.ts"

const uuid = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"
const keys = { apiKey: "a1b2c3d4", applicationId: uuid, signatureSecret: "vonage-signature-secret-0000000000000001" }
const config = { api_key: keys.apiKey, signature_secret: keys.signatureSecret }
const call = refTo(newCallId(), { providerCallId: uuid, to: "+14155550100", from: "+15005550006" })
const now = 1_760_000_000_000

const signedOf = (body: string, more: Partial<Callback> = {}) =>
  callbackOf(body, { headers: signatureOf(body, keys, { at: now, jti: "j-1" }), at: now, call, ...more })
const timestamp = "2025-10-09T08:53:20.250Z"
const at = Date.parse(timestamp)
const ids = { from: "15005550006", to: "14155550100", uuid, conversation_uuid: `CON-${uuid}`, direction: "outbound", timestamp }
const told = (more: object, callback: Partial<Callback> = {}) =>
  vonage.read?.(config, signedOf(JSON.stringify({ ...ids, ...more }), callback))?.events.map(({ event }) => event)

t.test("V2: each state is reported in the carrier's time", async (t) => {
  t.strictSame(told({ status: "started" }), [{ _tag: "Placed" }])
  t.strictSame(told({ status: "ringing" }), [{ _tag: "Rang" }])
  t.strictSame(told({ status: "answered", start_time: timestamp, rate: "0.0072", network: "" }), [{ _tag: "Answered", at }])
  t.strictSame(
    told({ status: "answered", timestamp: "2025-10-09 08:53:20" }),
    [{ _tag: "Answered" }],
    "a time without a zone does not count"
  )
  t.strictSame(told({ status: "answered", timestamp: 17 }), [{ _tag: "Answered" }])
  const end_time = "2025-10-09T08:53:32.000Z"
  const end = Date.parse(end_time)
  const ended = [
    { _tag: "Answered", at: end - 12_000 },
    { _tag: "HungUp", cause: "normal_clearing", at: end },
    { _tag: "Billed", amount: "0.00144000", currency: "EUR" }
  ]
  for (const status of ["completed", "complete"]) t.strictSame(told({ status, duration: "12", end_time, price: "0.00144000" }), ended)
  const unanswered = [{ _tag: "HungUp", cause: "normal_clearing", at }]
  for (const duration of ["0", "", "-1", "1e9", 12, undefined]) t.strictSame(told({ status: "completed", duration }), unanswered)
  for (const price of ["-1", "1,5", "NaN", 0.1, ".5", `1${"0".repeat(20)}`]) t.strictSame(told({ status: "completed", price }), unanswered)
})

t.test("V3: each end has its cause", async (t) => {
  const causes: ReadonlyArray<readonly [string, string | undefined, string]> = [
    ["busy", undefined, "user_busy"],
    ["timeout", undefined, "ring_timeout"],
    ["unanswered", "unavailable", "no_answer"],
    ["unanswered", "timeout", "ring_timeout"],
    ["unanswered", undefined, "no_answer"],
    ["rejected", "declined", "call_rejected"],
    ["rejected", "invalid_number", "invalid_number_format"],
    ["rejected", "restricted", "facility_rejected"],
    ["rejected", "constructor", "call_rejected"],
    ["failed", "cannot_route", "unallocated_number"],
    ["failed", "number_out_of_service", "unallocated_number"],
    ["failed", "carrier_timeout", "congestion"],
    ["failed", "internal_error", "temporary_failure"],
    ["failed", undefined, "temporary_failure"]
  ]
  for (const [status, detail, cause] of causes)
    t.strictSame(told({ status, detail }), [{ _tag: "HungUp", cause, at }], `${status} ${detail}`)
  for (const status of ["cancelled", "canceled"]) {
    t.match(told({ status }), [{ cause: "ring_timeout" }], "we have not hung up")
    t.match(told({ status }, { isWanted: false }), [{ cause: "originator_cancel" }])
  }
  t.match(told({ status: "busy" }, { isWanted: false }), [{ cause: "user_busy" }])
})

t.test("V4: reports of machine detection name the call as `call_uuid`", async (t) => {
  const detected = (more: object) => told({ ...more, uuid: undefined, call_uuid: uuid })
  t.strictSame(detected({ status: "human" }), [{ _tag: "Detected", who: "human" }])
  t.strictSame(detected({ status: "machine" }), [{ _tag: "Detected", who: "machine" }])
  for (const sub_state of ["beep_start", "beep_timeout"])
    t.strictSame(detected({ status: "machine", sub_state }), [{ _tag: "Detected", who: "machine" }, { _tag: "GreetingEnded" }])
  t.strictSame(told({ status: "machine", uuid: undefined, call_uuid: "another-leg-0001" }), [])
})

t.test("V5: another leg is not the call, and neither is a webhook that means nothing", async (t) => {
  const socket = { to: "wss://voice.example.com/m", uuid: "bbbbbbbb-bbbb-cccc-dddd-0123456789ab" }
  const unnamed = { call: refTo(call.callId, { to: call.to }) }
  for (const callback of [{}, unnamed, { call: refTo(call.callId) }, { call: undefined }])
    for (const status of ["started", "answered", "completed", "disconnected"]) t.strictSame(told({ ...socket, status }, callback), [])
  const named = { _tag: "Named", providerCallId: uuid }
  t.strictSame(told({ status: "ringing" }, unnamed), [named, { _tag: "Rang" }])
  t.strictSame(told({ status: "ringing", direction: "inbound" }, unnamed), [])
  t.strictSame(told({ status: "ringing", to: "14155550101" }, unnamed), [])
  t.strictSame(told({ status: "ringing", uuid: "a b" }, unnamed), [])
  for (const status of ["disconnected", "transfer", "record", "input", "notify", "constructor", undefined, 7])
    t.strictSame(told({ status }), [])
  t.strictSame(told({ status: undefined, reason: "Syntax error in NCCO" }), [])
})

t.test("V6: only what this account signed is read, and its nonce is returned", async (t) => {
  const body = JSON.stringify({ ...ids, status: "busy" })
  const read = (more: Partial<Callback>, other = {}) => vonage.read?.({ ...config, ...other }, signedOf(body, more))
  t.match(read({}), { nonce: "j-1", events: [{ event: { _tag: "HungUp" } }] })
  t.match(read({ call: undefined }), { nonce: "j-1", events: [] })
  for (const other of ["[]", "{"]) t.match(vonage.read?.(config, signedOf(other)), { nonce: "j-1", events: [] }, "about no call")
  t.equal(read({}, { signature_secret: "" }), undefined)
  t.equal(read({}, { api_key: "another" }), undefined)
})

t.test("given whatever is signed, then it is read without an error", async () => {
  const names = ["status", "detail", "sub_state", "duration", "price", "end_time", "timestamp", "to", "direction", "uuid", "call_uuid"]
  const values = ["", "completed", "machine", "constructor", "__proto__", "-1", "1e99", "99999999999", uuid, "14155550100", null, 7, []]
  const body = fc.oneof(fc.anything(), fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...values), fc.string())))
  forAll(body, fc.boolean(), (value, isNamed) => {
    const text = JSON.stringify({ ...ids, ...(typeof value === "object" ? value : { value }) }) ?? ""
    const read = vonage.read?.(config, signedOf(text, isNamed ? {} : { call: refTo(call.callId, { to: call.to }) }))
    return read?.events.every(({ event }) => !("at" in event) || Number.isFinite(event.at)) === true
  })
})

// --- records and lists

t.test("a record says in which state a call is, and how it ended", async (t) => {
  const states = {
    started: "ringing",
    ringing: "ringing",
    answered: "up",
    machine: "up",
    completed: "ended",
    busy: "ended",
    timeout: "ended"
  }
  for (const [status, presence] of Object.entries(states)) t.equal(lookOf({ status })?.presence, presence)
  for (const record of [undefined, null, {}, { status: "constructor" }, { status: 7 }, "completed"]) t.equal(lookOf(record), undefined)
  for (const status of ["started", "ringing", "answered", "machine"]) t.strictSame(lookOf({ status, duration: "5", price: "1" })?.told, [])
  t.match(lookOf({ status: "completed", duration: "5", price: "0.1", end_time: timestamp })?.told, [
    { _tag: "Answered", at: at - 5000 },
    { _tag: "HungUp", cause: "normal_clearing", at },
    { _tag: "Billed", amount: "0.1" }
  ])
  t.strictSame(lookOf({ status: "busy", duration: "0" })?.told, [{ _tag: "HungUp", cause: "user_busy" }])
})

t.test("a call without an id is found by its numbers and its time, if there is only one", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "vonage")
  const sought = refTo(call.callId, { to: call.to, from: call.from, sentAt: now })
  const lists = ({ method, path }: { readonly method: string; readonly path: string }) => method === "GET" && path === "/v1/calls"
  const lookup = (body: unknown, ref = sought, status = 200) => {
    emulator.server.fail({ acts: false, reply: { status, body: JSON.stringify(body) ?? "" } }, lists)
    return hosted.lookup(ref)
  }
  const found = (records: ReadonlyArray<unknown>, ref = sought) => lookup({ count: records.length, _embedded: { calls: records } }, ref)
  const record = {
    uuid,
    status: "answered",
    direction: "outbound",
    to: { type: "phone", number: "14155550100" },
    from: { type: "phone", number: "15005550006" }
  }
  t.equal(await found([null, record, record, { ...record, to: { number: "14155550101" } }]), "up")
  t.match(hosted.line.events(sought.callId), [{ _tag: "Named", providerCallId: uuid }])
  t.equal(await found([record, { ...record, uuid: "bbbbbbbb-bbbb" }]), "silent", "there are several")
  const others = [
    { ...record, direction: "inbound" },
    { ...record, from: { number: "15005550007" } },
    { ...record, uuid: 7 },
    { ...record, to: "14155550100" },
    { ...record, to: {} }
  ]
  t.equal(await found(others), "gone")
  t.equal(await found([others[1]], { ...sought, from: undefined }), "up", "whatever number was shown, if ours is not known")
  const asked = emulator.server.requests.findLast(lists)?.query
  t.strictSame(Object.fromEntries(asked ?? []), { date_start: "2025-10-09T08:52:50.000Z", page_size: "100", record_index: "0" })
  for (const body of [undefined, {}, { count: 1 }, { count: "1", _embedded: { calls: [] } }, { count: 1, _embedded: { calls: {} } }])
    t.equal(await lookup(body), "silent", JSON.stringify(body))
  t.equal(await lookup({ count: 0, _embedded: { calls: [] } }, sought, 500), "silent")
})
