/** What Plivo's callbacks and records mean, read by pure functions that trust nothing. `P4` and so on are cases of its conformance list. */
import fc from "fast-check"
import t from "tap"
import plivo from "#adapters/plivo/plivo.ts"
import { liveLookOf } from "#adapters/shared/PlivoDialectRecords.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { account } from "#test/emulators/plivo/PlivoEmulator.ts"
import { signed } from "#test/emulators/plivo/signed.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { forAll } from "#test/support/forAll.ts"
import { refTo } from "#test/support/refTo.ts"
import { callbackOf } from "./callbackOf.ts"
import { newCallId } from "./Line.ts"

const uuid = "8a6b3c1e-0d1f-4a2b-9c3d-5e6f7a8b9c0d"
const url = "https://voice.example.com/plivo/hangup/42?wf=7&org=3"
const config = { auth_id: account.authId, auth_token: account.authToken }
const callId = newCallId()

const signedOf = (fields: Readonly<Record<string, string>>, more: Partial<Callback> = {}) => {
  const { body, headers } = signed(more.url ?? url, fields, account.authToken)
  return callbackOf(body, { url, headers, kind: "hangup", call: refTo(callId, { providerCallId: uuid }), ...more })
}
const told = (fields: Readonly<Record<string, string>>, more: Partial<Callback> = {}) =>
  plivo.read?.(config, signedOf({ CallUUID: uuid, ...fields }, more))?.events.map(({ event }) => event)
const causeOf = (fields: Readonly<Record<string, string>>, more: Partial<Callback> = {}) =>
  told({ Event: "Hangup", CallStatus: "completed", BillDuration: "0", ...fields }, more)?.flatMap((event) =>
    event._tag === "HungUp" ? [event.cause] : []
  )[0]

t.test("P4: each end has its cause, whatever the status says", async (t) => {
  const codes: ReadonlyArray<readonly [code: string, cause: string]> = [
    ["3010", "user_busy"],
    ["3000", "no_answer"],
    ["6010", "ring_timeout"],
    ["3020", "call_rejected"],
    ["2000", "invalid_number_format"],
    ["3050", "unallocated_number"],
    ["2020", "subscriber_absent"],
    ["2030", "facility_rejected"],
    ["2060", "no_route"],
    ["3030", "no_route"],
    ["3090", "congestion"],
    ["5010", "interworking"],
    ["5030", "congestion"],
    ["1010", "no_credit"],
    ["9100", "machine_detected"],
    ["7011", "internal_error"],
    ["8011", "internal_error"],
    ["4000", "no_answer"],
    ["9999", "no_answer"]
  ]
  for (const [HangupCauseCode, cause] of codes) t.equal(causeOf({ HangupCauseCode }), cause, HangupCauseCode)
  t.equal(causeOf({ HangupCauseCode: "0", HangupCause: "USER_BUSY" }), "user_busy", "the word where the code says nothing")
  t.equal(causeOf({ HangupCause: "NORMAL_CLEARING", CallStatus: "busy" }), "no_answer", "the word before the status")
  t.equal(causeOf({ HangupCause: "constructor" }), "interworking")
  for (const [CallStatus, cause] of [
    ["busy", "user_busy"],
    ["timeout", "no_answer"],
    ["no-answer", "no_answer"],
    ["failed", "interworking"],
    ["completed", "no_answer"]
  ] as const)
    t.equal(causeOf({ CallStatus }), cause, CallStatus)
  t.equal(causeOf({ HangupCauseCode: "1000" }, { isWanted: false }), "originator_cancel", "canceled by us")
  t.equal(causeOf({ HangupCauseCode: "1000" }), "ring_timeout", "canceled by nobody else")
  t.equal(causeOf({ HangupCauseCode: "6000", BillDuration: "14400" }), "duration_exceeded")
})

t.test("P3, P8: an end also reports the answer before it", async (t) => {
  const end = { Event: "Hangup", HangupCauseCode: "4000", CallStatus: "completed" }
  const bill = { _tag: "Billed", amount: "0.00850", currency: "USD" }
  t.strictSame(told({ ...end, BillDuration: "12", Duration: "12", TotalCost: "0.00850" }), [
    { _tag: "Answered" },
    { _tag: "HungUp", cause: "normal_clearing" },
    bill
  ])
  const at = Date.parse("2026-11-25T09:30:12+05:30")
  t.strictSame(told({ ...end, BillDuration: "12", EndTime: "2026-11-25 09:30:12+05:30" }), [
    { _tag: "Answered", at: at - 12_000 },
    { _tag: "HungUp", cause: "normal_clearing", at }
  ])
  t.strictSame(
    told({ ...end, BillDuration: "12", EndTime: "2026-11-25 09:30:12" })?.[1],
    { _tag: "HungUp", cause: "normal_clearing" },
    "no zone"
  )
  t.strictSame(told({ ...end, AnswerTime: "2026-11-25 09:30:12", BillDuration: "0" })?.[0], { _tag: "Answered" }, "shorter than a second")
  t.strictSame(told(end), [{ _tag: "HungUp", cause: "normal_clearing" }], "nothing is said about an answer")
  const endOfDocument = { ...end, HangupCauseCode: "4010" }
  t.equal(causeOf({ ...endOfDocument, BillDuration: "2" }), "media_failure", "P8: its audio was refused")
  t.equal(causeOf({ ...endOfDocument, BillDuration: "2" }, { isWanted: false }), "normal_clearing", "we have hung up")
  t.equal(causeOf({ ...endOfDocument, BillDuration: "60" }), "normal_clearing", "long after the answer")
  for (const TotalCost of ["-1", "1e3", "", "0x1", "NaN"]) t.equal(told({ ...end, TotalCost })?.length, 1, TotalCost)
})

t.test("P5: only what machine detection says is reported", async (t) => {
  const machine = (Machine: string) => told({ Event: "MachineDetection", Machine, CallStatus: "in-progress" })
  t.strictSame(machine("true"), [{ _tag: "Detected", who: "machine" }])
  t.strictSame(machine("False"), [{ _tag: "Detected", who: "human" }])
  t.strictSame(machine("constructor"), [])
})

t.test("P2: a callback names the call once, and no other call's", async (t) => {
  const ring = { Event: "Ring", RequestUUID: "11111111-2222" }
  const named = { _tag: "Named", providerCallId: uuid }
  const known = (providerCallId: string | undefined) => ({ call: refTo(callId, { providerCallId }) })
  t.strictSame(told(ring), [{ _tag: "Rang" }])
  t.strictSame(told(ring, known(undefined)), [named, { _tag: "Rang" }])
  t.strictSame(told(ring, known("request:11111111-2222")), [named, { _tag: "Rang" }])
  t.strictSame(told(ring, known("request:99999999-9999")), [], "of another request")
  t.strictSame(told(ring, known("99999999-9999")), [], "of another leg")
  t.strictSame(told({ Event: "Ring" }, known("request:11111111-2222")), [named, { _tag: "Rang" }], "which names no request")
  t.strictSame(told({ ...ring, CallUUID: "../x" }), [])
  t.strictSame(told({ ...ring, Event: "constructor" }), [], "with an event that does not exist")
  t.strictSame(told({ ...ring, CallUUID: "" }), [], "about no call")
  const { headers } = signedOf({ CallUUID: uuid, ...ring })
  const proxied = { ...headers, "x-forwarded-host": "elsewhere.example.com" }
  t.strictSame(told(ring, { headers: proxied }), [{ _tag: "Rang" }], "whatever a proxy adds")
})

t.test("P7: the document depends on the address and on whether the call is wanted", async (t) => {
  const address = "https://voice.example.com/plivo/answer/42"
  const documentFor = (more: Partial<Callback>) => {
    return plivo.read?.(config, signedOf({ Event: "StartApp", CallUUID: uuid }, { url: address, kind: "answer", ...more }))?.reply
  }
  const mediaUrl = "wss://voice.example.com/media/a&b<\"'"
  const documentOf = (inner: string) => ({
    mediaType: "application/xml",
    body: `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`
  })
  const attributes = 'bidirectional="true" keepCallAlive="true" audioTrack="inbound" contentType="audio/x-mulaw;rate=8000"'
  const stream = `<Stream ${attributes}>wss://voice.example.com/media/a&amp;b&lt;&quot;&apos;</Stream>`
  t.strictSame(documentFor({ mediaUrl }), documentOf(stream))
  t.match(verbsOf(documentFor({ mediaUrl })?.body ?? ""), [{ name: "Stream", text: mediaUrl }])
  t.strictSame(documentFor({ isWanted: false, mediaUrl }), documentOf("<Hangup/>"))
  t.strictSame(documentFor({ call: undefined, mediaUrl }), documentOf("<Hangup/>"), "of a call that nobody knows")
  t.strictSame(documentFor({}), documentOf('<Wait length="60"/>'), "without an address for audio")
  t.equal(documentFor({ kind: "hangup", mediaUrl }), undefined)
})

t.test("given a callee who is transferred, then only reports about that dial count", async (t) => {
  const bare = "https://voice.example.com/plivo/transfer-b/42"
  const read = (fields: Readonly<Record<string, string>>, query = "", more: Partial<Callback> = {}) => {
    return plivo.read?.(config, signedOf({ CallUUID: uuid, ...fields }, { url: bare + query, kind: "transfer-b", ...more }))
  }
  const outcomes = (...args: Parameters<typeof read>) => read(...args)?.events.map(({ event }) => event)
  const [joined, declined] = [
    { _tag: "Transferred", transfer: 2, answered: true },
    { _tag: "Transferred", transfer: 2, answered: false }
  ]
  const over = { DialALegUUID: uuid, DialBLegUUID: "11111111-2222" }
  t.strictSame(outcomes({ ...over, DialAction: "answer" }), [joined])
  t.strictSame(outcomes({ ...over, DialAction: "connected" }), [joined])
  t.strictSame(outcomes({ ...over, DialAction: "hangup" }), [], "its end changes nothing")
  t.strictSame(outcomes({ ...over, DialALegUUID: "99999999-9999", DialAction: "answer" }), [], "of another call")
  t.strictSame(outcomes({ ...over, DialStatus: "completed" }), [joined], "an answer that was not reported before")
  t.match(read({ ...over, DialStatus: "completed" })?.reply, { body: /<Hangup\/>/ })
  for (const [DialStatus, DialHangupCause, cause] of [
    ["busy", "USER_BUSY", "user_busy"],
    ["no-answer", "NO_ANSWER", "no_answer"],
    ["timeout", "", "no_answer"],
    ["failed", "CALL_REJECTED", "call_rejected"],
    ["failed", "constructor", "temporary_failure"],
    ["constructor", "", "temporary_failure"]
  ] as const)
    t.strictSame(outcomes({ ...over, DialStatus, DialHangupCause }), [{ ...declined, cause }], DialStatus)
  const dial = "?dial=15550100&shown=15559000&seconds=30"
  t.match(read({}, dial)?.reply, { body: /<Number>15550100<\/Number>/ })
  t.match(read({}, dial, { isWanted: false })?.reply, { body: /<Hangup\/>/ }, "we have hung up")
})

t.test("given whatever fields, when Plivo signed them, then they are read without an error", async () => {
  const names = "CallStatus HangupCause HangupCauseCode BillDuration AnswerTime EndTime TotalCost Machine RequestUUID".split(" ")
  const values = ["", "completed", "constructor", "__proto__", "-1", "1e99", "99999999999", "4000", "2026-99-99 09:30:12+05:30", "<>&"]
  const event = fc.constantFrom("Ring", "StartApp", "Hangup", "MachineDetection", "toString", "")
  const fields = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...values), fc.string()))
  forAll(event, fields, (Event, given) => {
    const events = told({ ...given, Event }, { call: undefined })
    return events?.every((one) => !("at" in one) || Number.isFinite(one.at)) === true
  })
})

t.test("a live record is that of the call, or none", async (t) => {
  const record = { call_uuid: uuid, request_uuid: "11111111-2222", direction: "outbound", from: "+15550009000", to: "15550001001" }
  const live = { ...record, call_status: "in-progress" }
  const call = refTo(callId, { to: "+15550001001", from: "+15550009000" })
  const named = [{ _tag: "Named", providerCallId: uuid }]
  const lookOf = (body: unknown, at: typeof call) => liveLookOf(body, at, { hasQueue: true })
  t.strictSame(lookOf(live, call), { presence: "up", told: named })
  t.strictSame(lookOf({ ...record, call_status: "queued" }, call), { presence: "queued", told: named })
  t.strictSame(lookOf({ ...record, call_status: "whatever" }, call), { presence: "ringing", told: named }, "it is live, and may still ring")
  t.strictSame(lookOf(live, { ...call, providerCallId: uuid }), { presence: "up", told: [] })
  t.equal(lookOf(live, { ...call, providerCallId: "request:99999999-9999" }), undefined, "of another request")
  t.equal(lookOf(live, { ...call, to: "+15550001002" }), undefined, "to another number")
  t.equal(lookOf(live, { ...call, from: "+15550009001" }), undefined, "from another number")
  t.equal(lookOf({ ...live, direction: "inbound" }, call), undefined)
  for (const body of [undefined, null, "x", [], { call_uuid: 5, call_status: "ringing" }]) t.equal(lookOf(body, call), undefined)
})
