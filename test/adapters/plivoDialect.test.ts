/**
 * Calls through Plivo and Vobiz, over real sockets, and what only one of the two does. What the callees saw is the judge. `P1`, `B1` and so on are cases
 * of their conformance lists.
 */
import t, { type Test } from "tap"
import vobiz from "#adapters/vobiz/vobiz.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { account as plivoAccount } from "#test/emulators/plivo/PlivoEmulator.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { account } from "#test/emulators/vobiz/VobizEmulator.ts"
import { signatureOf, signed } from "#test/emulators/vobiz/signed.ts"
import { refTo } from "#test/support/refTo.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { callbackOf } from "./callbackOf.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { newCallId, numberOf } from "./Line.ts"

interface Dialect {
  readonly name: "plivo" | "vobiz"
  /** The path of the account. */
  readonly base: string
  /** What follows each address. */
  readonly suffix: string
  /** What else is requested. */
  readonly more: object
  readonly headers: object
  /** The causes that are reported for a busy destination. */
  readonly causes: ReadonlyArray<string>
}

const dialects: ReadonlyArray<Dialect> = [
  {
    name: "plivo",
    base: `/v1/Account/${plivoAccount.authId}`,
    suffix: "#rc=5&rp=5xx,ct,rt",
    more: {},
    headers: {
      authorization: `Basic ${Buffer.from(`${plivoAccount.authId}:${plivoAccount.authToken}`).toString("base64")}`,
      "content-type": "application/json"
    },
    causes: ["user_busy"]
  },
  {
    name: "vobiz",
    base: `/api/v1/Account/${account.authId}`,
    suffix: "",
    more: { hangup_on_ring: 30 },
    headers: { "x-auth-id": account.authId, "x-auth-token": account.authToken, authorization: undefined },
    causes: []
  }
]

const places = async (t: Test, { base, headers, more, name, suffix }: Dialect) => {
  const { emulator, hosted } = await openCarrier(t, name)
  const to = numberOf("011")
  const { callId } = await hosted.originate(to, { ringTimeoutSeconds: 29.5, maxDurationSeconds: 600, detect: "who" })
  const [ask] = emulator.dials()
  t.equal(ask?.path, `${base}/Call/`, "in upper and lower case, with a slash at its end")
  t.match(ask?.headers, headers)
  t.strictSame(JSON.parse(ask?.body ?? ""), {
    from: OUR_NUMBER.slice(1),
    to: to.slice(1),
    answer_url: hosted.address("answer", callId) + suffix,
    answer_method: "POST",
    ring_url: hosted.address("ring", callId) + suffix,
    ring_method: "POST",
    hangup_url: hosted.address("hangup", callId) + suffix,
    hangup_method: "POST",
    ring_timeout: 30,
    time_limit: 630,
    machine_detection: "true",
    machine_detection_url: hosted.address("machine", callId) + suffix,
    machine_detection_method: "POST",
    ...more
  })
  await hosted.originate(numberOf("002"), { ringTimeoutSeconds: 0.2, maxDurationSeconds: 86_400, detect: "greetingEnd" })
  await hosted.originate(numberOf("002"))
  const [, limited, plain] = emulator.dials().map(({ body }) => JSON.parse(body))
  t.match(limited, { ring_timeout: 1, time_limit: 14_400, machine_detection: "true" })
  t.notOk("machine_detection" in plain, "then nothing is detected that was not requested")
}

const handsOver = async (t: Test, { base, causes, name }: Dialect): Promise<void> => {
  const { callIn, dials, emulator, hosted } = await openCarrier(t, name)
  const { callId, id, ref } = await callIn("up")
  const busy = numberOf("002")
  await t.test("when a callee is transferred, then the call is redirected to a document that dials", async (t) => {
    t.match(await hosted.transfer(ref(), busy, 1, 7), { _tag: "Success" })
    const { body = "{}", path } = emulator.server.requests.findLast(emulator.transfers) ?? {}
    t.equal(path, `${base}/Call/${id}/`)
    const { aleg_url, ...asked } = JSON.parse(body) as Readonly<Record<string, string>>
    t.strictSame(asked, { legs: "aleg", aleg_method: "POST" })
    const { hash } = new URL(aleg_url ?? "")
    const [first, second] = await until("the next document", () => {
      const documents = hosted.door.deliveries.filter(({ callback }) => callback.kind === "transfer-a")
      return documents.length === 2 ? documents : undefined
    })
    const [dial] = verbsOf(first?.read?.reply?.body ?? "") ?? []
    const action = hosted.address("transfer-a", callId) + hash
    const told = { callbackUrl: action, callbackMethod: "POST" }
    t.match(dial, { name: "Dial", children: [{ name: "Number", text: busy.slice(1) }] })
    t.strictSame(dial?.attributes, { action, method: "POST", ...told, callerId: OUR_NUMBER.slice(1), timeout: "7" })
    const stream = { name: "Stream", text: hosted.address("media", callId) }
    t.match(verbsOf(second?.read?.reply?.body ?? ""), [stream], "then the callee comes back")
    t.equal(dials(busy), 1)
    const outcomes = hosted.line.events(callId).filter(({ _tag }) => _tag === "Transferred")
    t.strictSame(
      outcomes,
      causes.map((cause) => ({ _tag: "Transferred", transfer: 1, answered: false, cause }))
    )
  })
  await t.test("when we have hung up, then nobody is dialed", async (t) => {
    hosted.giveUp(callId)
    const to = numberOf("011")
    await hosted.transfer(ref(), to, 3)
    await hosted.line.event(callId, "HungUp")
    t.equal(dials(to), 0)
  })
}

for (const dialect of dialects) {
  const { name } = dialect
  t.test(`P1, B1: given a call with machine detection, then exactly this request is sent to ${name}`, (t) => places(t, dialect))
  t.test(`given callees to transfer through ${name}`, (t) => handsOver(t, dialect))
  t.test(`given a record of ${name} that comes late, then it proves nothing until then`, async (t) => {
    const { callIn, hosted } = await openCarrier(t, name, { recordMillis: 3_600_000 })
    const { ref } = await callIn("ended")
    t.equal(await hosted.lookup(ref()), "gone")
    t.equal(await hosted.lookup({ ...ref(), providerCallId: undefined }), "gone")
  })
}

// --- Plivo

t.test("P2: given a request and a call with different ids", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "plivo")
  const { callId, id, ref } = await callIn("ringing")
  t.not(id, emulator.calls.get(id)?.requestUuid)
  t.equal(ref().providerCallId, id, "then the call's id replaces that of the request")
  const known = hosted.line.events(callId).filter(({ _tag }) => _tag === "Named")
  t.match(known, [{ providerCallId: id }])
  t.equal(await hosted.hangup(ref()), undefined)
  t.match(emulator.server.requests.at(-1)?.path, `/Call/${id}/`, "then the hang-up uses it")
})

t.test("P9: given a call that is known only by its request", async (t) => {
  const { dials, emulator, hosted, idOf } = await openCarrier(t, "plivo")
  await t.test("when it waits in the queue, then that is reported, and it is canceled and never rings", async (t) => {
    emulator.holdQueue(true)
    const { callId, to } = await hosted.originate(numberOf("011"))
    const [call] = emulator.callsTo(to)
    t.equal(hosted.ref(callId).providerCallId, `request:${call?.requestUuid}`)
    t.strictSame(hosted.line.story(callId), ["Queued"])
    t.equal(await hosted.lookup(hosted.ref(callId)), "queued")
    t.equal(await hosted.hangup({ ...hosted.ref(callId), providerCallId: `request:${call?.requestUuid}` }), undefined)
    t.match(emulator.server.requests.at(-1), { method: "DELETE", path: `/Request/${call?.requestUuid}/` })
    emulator.holdQueue(false)
    await hosted.line.event(callId, "HungUp")
    t.equal(dials(to), 0)
  })
  for (const [what, ending, kind, presence] of [
    ["rings", "003", "ringing", "ringing"],
    ["talks", "011", "answered", "up"]
  ] as const) {
    await t.test(`when it ${what}, then it is looked up and hung up nevertheless`, async (t) => {
      emulator.callbacks.hold()
      const { callId, to } = await hosted.originate(numberOf(ending))
      await untilTrue("call", () => emulator.log.of(to).at(-1)?.kind === kind)
      const ref = hosted.ref(callId)
      t.match(ref.providerCallId, /^request:/)
      t.equal(await hosted.lookup(ref), presence)
      t.equal(hosted.ref(callId).providerCallId, idOf(to), "then the look names the call")
      t.equal(await hosted.hangup(ref), undefined)
      t.equal(emulator.log.of(to).at(-1)?.by, "us")
      emulator.callbacks.release()
      await hosted.line.event(callId, "HungUp")
    })
  }
  await t.test("when it has ended, then its record is found", async (t) => {
    emulator.callbacks.hold()
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => emulator.callsTo(to)[0]?.endedAt !== undefined)
    emulator.callbacks.lose()
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.strictSame(hosted.line.story(callId), ["Named", "Answered", "HungUp normal_clearing", "Billed"])
    t.equal(await hosted.hangup({ ...hosted.ref(callId), providerCallId: undefined }), undefined)
  })
})

t.test("P8: given a media socket that is refused, then Plivo tries three times, and the call ends because it has no audio", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "plivo")
  emulator.leaveMediaUnsigned()
  const { callId, to } = await hosted.originate(numberOf("011"))
  t.equal(await hosted.line.hungUp(callId), "media_failure")
  const statuses = hosted.door.media.upgrades.map(({ status }) => status)
  t.strictSame(statuses, [403, 403, 403], "without a signature")
  t.match(emulator.callsTo(to)[0]?.end, { code: 4010 })
})

const bills = [
  ["plivo", 2, { _tag: "Billed", amount: "0.00850", currency: "USD" }],
  ["vobiz", 1, { _tag: "Billed", amount: "0.0085", currency: "INR" }]
] as const
for (const [name, count, bill] of bills)
  t.test(`P3: given a call through ${name} that has cost something, then each report that is believed says what`, async (t) => {
    const { hosted } = await openCarrier(t, name)
    const { callId } = await hosted.originate(numberOf("001"))
    await hosted.line.event(callId, "HungUp")
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    const told = hosted.line.events(callId).filter(({ _tag }) => _tag === "Billed")
    t.ok(told.length >= count)
    for (const one of told) t.strictSame(one, bill)
  })

// --- Vobiz

const config = { auth_id: account.authId, auth_token: account.authToken }
const uuid = "8a6b3c1e-0d1f-4a2b-9c3d-5e6f7a8b9c0d"
const known = refTo(newCallId(), { providerCallId: uuid })
/** A callback with a genuine signature, which covers neither a form's fields nor JSON. */
const readOf = (fields: Readonly<Record<string, unknown>>, more: Partial<Callback> = {}, isJson = false): Callback => {
  const url = "https://voice.example.com/vobiz/hangup/42"
  const all = { CallUUID: uuid, CallStatus: "completed", ...fields }
  const texts = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]))
  const { body, headers } = signed(url, texts, account.authToken)
  const type = isJson ? { "content-type": "application/json" } : {}
  return callbackOf(isJson ? JSON.stringify(all) : body, { url, headers: { ...headers, ...type }, kind: "hangup", call: known, ...more })
}
const told = (...given: Parameters<typeof readOf>) => vobiz.read?.(config, readOf(...given))?.events.map(({ event }) => event)
const claimed = [{ _tag: "EndClaimed" }]

t.test("given a forged body with a genuine signature, then no end, answer, cost or other call is believed", async (t) => {
  const end = { Event: "Hangup", HangupCause: "NORMAL_CLEARING", AnswerTime: "now", BillDuration: "9", TotalCost: "500" }
  for (const kind of ["ring", "hangup"]) t.strictSame(told(end, { kind }), claimed, kind)
  t.strictSame(told({ Event: "StartApp" }, { kind: "ring" }), [], "only the request for its document shows an answer")
  t.strictSame(told({ Event: "Ring", CallUUID: "11111111-2222" }, { kind: "ring" }), [])
  t.strictSame(told({ Event: "Hangup" }, { call: refTo(newCallId()) }), claimed, "which names no call whose id is not known")
})

t.test("given a record that appears two seconds after the end, then the end is still found", async (t) => {
  const { hosted } = await openCarrier(t, "vobiz", { recordMillis: 2000 })
  const { callId } = await hosted.originate(numberOf("002"))
  t.equal(await hosted.line.hungUp(callId), "user_busy")
  t.match(hosted.line.story(callId).slice(-3), ["EndClaimed", "HungUp user_busy", "Billed"])
})

t.test("given a request for a media socket, then it needs no signature, but must not have a wrong one", async (t) => {
  const url = "wss://voice.example.com/media/42"
  const admits = (headers: Callback["headers"]) =>
    vobiz.media?.admit?.(config, callbackOf("", { method: "GET", url, headers, kind: "media", call: known }))
  t.equal(admits({}), true)
  for (const scheme of ["wss", "https", "http"]) t.equal(admits(signatureOf(url.replace("wss", scheme), account.authToken)), true, scheme)
  t.equal(admits(signatureOf(url, "another-token")), false)
  t.equal(admits(signatureOf(`${url}3`, account.authToken)), false)
})

t.test("B4: each record has its cause", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "vobiz")
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
  for (const isJson of [false, true])
    t.strictSame(told({ Event: "Hangup", HangupCause: "USER_BUSY" }, {}, isJson), claimed, "a callback reports none")
})

t.test("B5: a machine is reported in a form and in JSON", async (t) => {
  const machine = [{ _tag: "Detected", who: "machine" }]
  t.strictSame(told({ Event: "MachineDetection", Machine: "true" }), machine)
  t.strictSame(told({ Event: "MachineDetection", Machine: true }, {}, true), machine)
  t.strictSame(told({ Event: "MachineDetection", Machine: false }, {}, true), [{ _tag: "Detected", who: "human" }])
  t.strictSame(told({ Event: "MachineDetection", Machine: "maybe" }), [])
})
