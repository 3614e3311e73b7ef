/** How the Telnyx adapter reads replies, records and webhooks. X1 and so on are the conformance cases of the carrier's reference. */
import { generateKeyPairSync, sign } from "node:crypto"
import fc from "fast-check"
import t from "tap"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import telnyx from "#adapters/telnyx/telnyx.ts"
import { activeCallsIn, clientStateOf, lookOf, recordOf } from "#adapters/telnyx/TelnyxCallback.ts"
import { isDone, isEndedAlready } from "#adapters/telnyx/TelnyxReplies.ts"
import { orderOf } from "#adapters/telnyx/TelnyxTrunk.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { refTo } from "#test/support/refTo.ts"
import { callbackOf } from "./callbackOf.ts"
import { newCallId } from "./Line.ts"
import { usual } from "#test/support/usual.ts"

const callId = newCallId()
const legs = { call_control_id: "v3:AbC-1_x:2", call_leg_id: "leg-1", call_session_id: "session-1" }
const reply = (status: number, body?: unknown): Reply => ({ status, body, server: "", retryAfterMillis: undefined })
const error = (code: string) => ({ errors: [{ code, title: "t", detail: "d" }] })

// --- originate

t.test("X1: a dial is exactly what Telnyx asks for", async (t) => {
  const callbackUrl = () => "https://voice.example.com/cb"
  const bodyOf = (one: OriginateRequest, mediaUrl?: string) => orderOf("1684", one, { callbackUrl, mediaUrl })
  const request = { callId, to: "+14155550101", from: "+15550009000", ...usual, ringTimeoutSeconds: 29.2, leave: () => true }
  const retries = { retries_ms: [1000, 3000, 8000, 15000, 30000] }
  t.strictSame(bodyOf(request), {
    connection_id: "1684",
    to: "+14155550101",
    from: "+15550009000",
    client_state: Buffer.from(callId).toString("base64"),
    command_id: callId,
    timeout_secs: 30,
    time_limit_secs: 630,
    webhook_url: "https://voice.example.com/cb",
    webhook_url_method: "POST",
    webhook_retries_policies: { "call.initiated": retries, "call.answered": retries, "call.hangup": retries }
  })
  t.strictSame(bodyOf(request, "wss://voice.example.com/media"), {
    ...bodyOf(request),
    stream_url: "wss://voice.example.com/media",
    stream_track: "inbound_track",
    stream_codec: "PCMU",
    stream_bidirectional_mode: "rtp",
    stream_bidirectional_codec: "PCMU"
  })
  t.match(bodyOf({ ...request, ringTimeoutSeconds: 1 }), { timeout_secs: 5 })
  t.match(bodyOf({ ...request, ringTimeoutSeconds: 1000 }), { timeout_secs: 600 })
  t.match(bodyOf({ ...request, maxDurationSeconds: 86_400 }), { time_limit_secs: 14_400 })
  t.match(bodyOf({ ...request, detect: "who" }), { answering_machine_detection: "detect" })
  t.match(bodyOf({ ...request, detect: "greetingEnd" }), { answering_machine_detection: "greeting_end" })
})

t.test("X11: a call that has already ended needs no hang-up, and a 200 alone does not prove one", async (t) => {
  t.ok(isDone(reply(200, { data: { result: "ok" } })))
  for (const body of [undefined, {}, { data: { result: "error" } }, error("90018")]) t.notOk(isDone(reply(200, body)))
  t.ok(isEndedAlready(reply(422, error("90018"))))
  for (const each of [reply(404, error("90018")), reply(422, error("10005")), reply(422)]) t.notOk(isEndedAlready(each))
})

// --- lookup

t.test("a record says whether a call is live, and its events whether it was answered", async (t) => {
  const id = legs.call_control_id
  const record = (more: object) => recordOf({ data: { ...legs, ...more } }, id)
  const ended = "2026-11-25T01:00:00Z"
  t.match(record({ is_alive: true }), { hasEnded: false, legId: "leg-1" })
  t.match(record({ is_alive: false, end_time: ended }), { hasEnded: true })
  t.match(record({ is_alive: true, end_time: ended }), { hasEnded: false })
  for (const end_time of [undefined, null, ""]) t.match(record({ is_alive: false, end_time }), { hasEnded: false }, "right after the dial")
  for (const is_alive of [undefined, "true", 1, null]) t.equal(record({ is_alive }), undefined)
  t.equal(recordOf({ data: { ...legs, is_alive: true } }, "v3:another"), undefined)

  const list = (...names: ReadonlyArray<string>) => ({ data: names.map((name) => ({ name, type: "webhook", call_leg_id: "leg-1" })) })
  const presence = (isAlive: boolean, ...names: ReadonlyArray<string>) => {
    const found = record({ is_alive: isAlive })
    return found === undefined ? undefined : lookOf(found, list(...names))?.presence
  }
  t.equal(presence(true, "call.initiated"), "ringing")
  t.equal(presence(true), "ringing")
  t.equal(presence(true, "call.answered", "call.initiated"), "up")
  t.equal(presence(false), "ringing", "an end that nothing shows")
  t.equal(presence(false, "call.answered", "call.hangup"), "ended")
  const foreign = [
    { name: "call.answered", type: "command", call_leg_id: "leg-1" },
    { name: "call.answered", type: "webhook", call_leg_id: "leg-2" },
    { name: 7, type: "webhook", call_leg_id: "leg-1" },
    null
  ]
  const alive = { isAlive: true, hasEnded: false, legId: "leg-1" }
  t.equal(lookOf(alive, { data: foreign })?.presence, "ringing")
  t.equal(lookOf(alive, { data: {} }), undefined)
  const answer = { name: "call.answered", type: "webhook", call_leg_id: "leg-1", event_timestamp: "2026-11-25T10:00:00Z" }
  const over = { ...alive, isAlive: false, hasEnded: true }
  const told = [{ _tag: "Answered", at: Date.parse("2026-11-25T10:00:00Z") }]
  t.strictSame(lookOf(over, { data: [answer] }), { presence: "ended", told }, "an end that an answer came before")
  t.strictSame(lookOf(over, { data: [] }), { presence: "ended", told: [] })
})

t.test("a call without an id is found among the live calls by its client state", async (t) => {
  const other = { ...legs, call_control_id: "v3:other", client_state: "" }
  const ours = { ...legs, client_state: clientStateOf(callId) }
  const meta = { next: "/v2/c?page[after]=n", cursors: { after: "n" } }
  t.strictSame(activeCallsIn({ data: [other, ours], meta: {} }, callId), { cursor: undefined, entries: [other, ours], isLast: true })
  t.strictSame(
    activeCallsIn({ data: [other, ours], meta }, callId),
    { cursor: "n", entries: [other, ours], isLast: true },
    "then no further page is needed"
  )
  t.strictSame(activeCallsIn({ data: [null, other], meta }, callId), { cursor: "n", entries: [null, other], isLast: false })
  for (const meta of [undefined, { cursors: { after: "n" } }, { next: "", cursors: { after: "n" } }])
    t.strictSame(activeCallsIn({ data: [other], meta }, callId), { cursor: undefined, entries: [other], isLast: true })
  t.equal(activeCallsIn({ data: { 0: ours } }, callId), undefined)
})

// --- webhooks

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const config = { webhook_public_key: publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64") }
const now = 1_795_570_000_000
const signed = (body: string, at = now): Readonly<Record<string, string>> => ({
  "telnyx-timestamp": String(at / 1000),
  "telnyx-signature-ed25519": sign(null, Buffer.from(`${at / 1000}|${body}`), privateKey).toString("base64")
})
const known = refTo(callId, { providerCallId: legs.call_control_id })
const signedOf = (body: string, more: Partial<Callback> = {}) => callbackOf(body, { headers: signed(body), at: now, call: known, ...more })
const event = (event_type: string, payload: object = {}, more: object = {}) =>
  JSON.stringify({
    data: {
      record_type: "event",
      id: "e-1",
      event_type,
      occurred_at: "2026-11-25T01:00:00.250000Z",
      payload: { ...legs, client_state: clientStateOf(callId), ...payload },
      ...more
    },
    meta: { attempt: 1 }
  })
const at = Date.parse("2026-11-25T01:00:00.250Z")
const read = (body: string, more: Partial<Callback> = {}) => telnyx.read?.(config, signedOf(body, more))
const told = (body: string, more: Partial<Callback> = {}) => read(body, more)?.events.map(({ event }) => event)

t.test("X2, X13: events are read in both spellings, with the time at which they happened", async (t) => {
  t.strictSame(read(event("call.initiated")), { events: [{ event: { _tag: "Placed" } }], deliveryId: "e-1" })
  t.strictSame(told(event("call.answered")), [{ _tag: "Answered", at }])
  t.strictSame(told(event("call_answered")), [{ _tag: "Answered", at }])
  t.strictSame(told(event("call.answered", {}, { occurred_at: "yesterday" })), [{ _tag: "Answered" }])
  t.strictSame(told(event("call.dtmf.received", { digit: "#" })), [], "the media socket reports the same key")
  for (const type of ["streaming.failed", "streaming_failed", "call.cost", "call.bridged", "call.future.thing"])
    t.strictSame(told(event(type)), [], type)
})

t.test("X2, X3: each end has its cause", async (t) => {
  const causes: ReadonlyArray<readonly [string, string | undefined, string]> = [
    ["normal_clearing", "200", "normal_clearing"],
    ["normal_clearing", undefined, "normal_clearing"],
    ["normal_clearing", "486", "user_busy"],
    ["normal_clearing", "480", "no_answer"],
    ["normal_clearing", "487", "ring_timeout"],
    ["user_busy", "486", "user_busy"],
    ["no_answer", "480", "no_answer"],
    ["timeout", "487", "ring_timeout"],
    ["not_found", "404", "unallocated_number"],
    ["call_rejected", "603", "call_rejected"],
    ["call_rejected", "607", "call_rejected"],
    ["call_rejected", "403", "facility_rejected"],
    ["call_rejected", "608", "facility_rejected"],
    ["call_rejected", "500", "call_rejected"],
    ["time_limit", "200", "duration_exceeded"],
    ["unspecified", "404", "unallocated_number"],
    ["unspecified", "484", "invalid_number_format"],
    ["unspecified", "600", "user_busy"],
    ["unspecified", "408", "no_user_response"],
    ["unspecified", "603", "call_rejected"],
    ["unspecified", "503", "congestion"],
    ["unspecified", "200", "normal_unspecified"],
    ["unspecified", "unknown", "normal_unspecified"],
    ["busy", "486", "user_busy"],
    ["something_new", undefined, "unknown"],
    ["constructor", undefined, "unknown"]
  ]
  for (const [hangup_cause, sip_hangup_cause, cause] of causes) {
    const ended = event("call.hangup", { hangup_cause, sip_hangup_cause, hangup_source: "callee" })
    t.strictSame(told(ended), [{ _tag: "HungUp", cause, at }], `${hangup_cause} ${sip_hangup_cause}`)
  }
  const canceled = event("call.hangup", { hangup_cause: "originator_cancel", sip_hangup_cause: "487" })
  t.match(told(canceled), [{ cause: "ring_timeout" }], "we have not hung up")
  t.match(told(canceled, { isWanted: false }), [{ cause: "originator_cancel" }])
  t.match(told(event("call.hangup", { hangup_cause: 16 })), [{ cause: "unknown" }])
})

t.test("X4, X5: who answered is reported, and only a machine counts as a machine", async (t) => {
  const answerers = [
    ["machine", "machine"],
    ["human", "human"],
    ["human_residence", "human"],
    ["human_business", "human"],
    ["silence", "silence"],
    ["fax_detected", "fax"],
    ["not_sure", "unknown"],
    ["constructor", "unknown"],
    [1, "unknown"]
  ] as const
  for (const type of ["call.machine.detection.ended", "call.machine.premium.detection.ended"])
    for (const [result, who] of answerers) t.strictSame(told(event(type, { result })), [{ _tag: "Detected", who }], String(result))
  for (const type of ["call.machine.greeting.ended", "call.machine.premium.greeting.ended"])
    t.strictSame(told(event(type, { result: "beep_detected" })), [{ _tag: "GreetingEnded" }])
})

t.test("X14: what a call cost is reported", async (t) => {
  const parts = [{ call_part: "call-control", cost: "0.0017", currency: "USD" }]
  t.strictSame(told(event("call.cost", { total_cost: "0.0042", cost_parts: parts })), [
    { _tag: "Billed", amount: "0.0042", currency: "USD" }
  ])
  for (const payload of [{}, { total_cost: 1 }, { total_cost: "1", cost_parts: [] }, { total_cost: "1", cost_parts: [{ currency: 1 }] }])
    t.strictSame(told(event("call.cost", payload)), [])
})

t.test("an event names the call whose id is not known yet, and touches no other call", async (t) => {
  const answered = event("call.answered")
  const unnamed = { call: refTo(callId) }
  const named = { _tag: "Named", providerCallId: "v3:AbC-1_x:2" }
  t.strictSame(told(answered, unnamed), [named, { _tag: "Answered", at }])
  t.strictSame(read(answered, { call: undefined })?.events, [
    { call: { callId }, event: named },
    { call: { callId }, event: { _tag: "Answered", at } }
  ])
  t.strictSame(told(answered, { call: refTo(newCallId()) }), [], "sent for one call, replayed at the address of another")
  t.strictSame(told(event("call.hangup", { call_control_id: "v3:leg-b" })), [], "a second leg")
  for (const client_state of [undefined, null, "", "bm90IG91cnM=", `${clientStateOf(callId)}\n`])
    for (const call of [undefined, refTo(callId), known]) t.strictSame(told(event("call.answered", { client_state }), { call }), [])
  for (const call_control_id of [undefined, 7, "", "a b"]) t.strictSame(told(event("call.answered", { call_control_id }), unnamed), [])
  t.strictSame(read(answered), read(answered), "X6: the same again")
})

t.test("X7: without a key, no webhook is read", async (t) => {
  for (const config of [{ webhook_public_key: "" }, {}]) t.equal(telnyx.read?.(config, signedOf(event("call.answered"))), undefined)
})

t.test("no input throws, and nothing is proven by accident", async (t) => {
  const anyBody = fc.oneof(fc.jsonValue(), fc.constant(undefined))
  forAllOf({ seed: 7, numRuns: 300 }, fc.json(), fc.constantFrom(undefined, known), (body, call) => t.strictSame(told(body, { call }), []))
  forAllOf({ seed: 7, numRuns: 1000 }, fc.integer({ min: 200, max: 599 }), anyBody, (status, body) => {
    return !isDone(reply(status, body)) && recordOf(body, "x") === undefined
  })
})
