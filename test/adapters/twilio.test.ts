/** What is specific to calls through Twilio: its requests, its callbacks and its prices. `T2` and so on are cases of its conformance list. */
import fc from "fast-check"
import t from "tap"
import twilio from "#adapters/twilio/twilio.ts"
import { formOf } from "#adapters/twilio/TwilioTrunk.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { signed } from "#test/emulators/twilio/signed.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { forAll } from "#test/support/forAll.ts"
import { refTo } from "#test/support/refTo.ts"
import { usual } from "#test/support/usual.ts"
import { callbackOf } from "./callbackOf.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { newCallId, numberOf } from "./Line.ts"

// --- requests

t.test("T1: given a call with machine detection, then exactly this request is sent to Twilio", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "twilio", {}, { amd_enabled: true })
  const to = numberOf("011")
  const { callId } = await hosted.originate(to, { detect: "who", ringTimeoutSeconds: 29.5 })
  const [ask] = emulator.dials()
  t.equal(ask?.path, `/2010-04-01/Accounts/${emulator.accountSid}/Calls.json`)
  t.equal(ask?.headers["authorization"], `Basic ${Buffer.from(`${emulator.accountSid}:${emulator.authToken}`).toString("base64")}`)
  t.strictSame(
    [...new URLSearchParams(ask?.body)],
    [
      ["To", to],
      ["From", OUR_NUMBER],
      [
        "Twiml",
        `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${hosted.address("media", callId)}"/></Connect></Response>`
      ],
      ["StatusCallback", `${hosted.address("status", callId)}#rc=5&rp=all`],
      ["StatusCallbackMethod", "POST"],
      ["StatusCallbackEvent", "initiated"],
      ["StatusCallbackEvent", "ringing"],
      ["StatusCallbackEvent", "answered"],
      ["StatusCallbackEvent", "completed"],
      ["Timeout", "30"],
      ["TimeLimit", "630"],
      ["MachineDetection", "Enable"],
      ["AsyncAmd", "true"],
      ["AsyncAmdStatusCallback", `${hosted.address("amd", callId)}#rc=5&rp=all`],
      ["AsyncAmdStatusCallbackMethod", "POST"]
    ]
  )
})

t.test("T10: given an address for audio, then TwiML connects to it", async (t) => {
  const twimlFor = (media: string | undefined) => {
    const request = { callId: newCallId(), to: numberOf("001"), from: OUR_NUMBER, leave: () => true, ...usual }
    return formOf(request, { callbackUrl: () => "https://voice.example.com/", mediaUrl: media }, false).get("Twiml") ?? ""
  }
  const stream = (url: string) => [{ name: "Connect", attributes: {}, children: [{ name: "Stream", attributes: { url }, children: [] }] }]
  const odd = `wss://voice.example.com/media/a&b<"'\u0007`
  t.ok(twimlFor(odd).includes("/media/a&amp;b&lt;&quot;&apos;"))
  t.strictSame(verbsOf(twimlFor(odd)), stream(odd.slice(0, -1)))
  t.match(verbsOf(twimlFor(undefined)), [{ name: "Pause" }], "when there is none, then the line stays open")
})

// --- callbacks

const authToken = "12345678901234567890123456789012"
const sid = `CA${"1".repeat(32)}`
const known = refTo(newCallId(), { providerCallId: sid })
/** A callback that Twilio signed. */
const read = (fields: Readonly<Record<string, string>>, more: Partial<Callback> = {}) => {
  const { body, headers, url } = signed("https://voice.example.com/status", fields, authToken)
  const received = { ...headers, "x-forwarded-host": "elsewhere.example.com" }
  return twilio.read?.({ auth_token: authToken }, callbackOf(body, { url, headers: received, kind: "status", call: known, ...more }))
}
const told = (fields: Readonly<Record<string, string>>) => read({ CallSid: sid, ...fields })?.events.map(({ event }) => event)

t.test("T6: who answered is reported, and only a machine counts as a machine", async (t) => {
  const answerers: ReadonlyArray<readonly [string, ReadonlyArray<object>]> = [
    ["machine_start", [{ _tag: "Detected", who: "machine" }]],
    ["machine_end_beep", [{ _tag: "Detected", who: "machine" }, { _tag: "GreetingEnded" }]],
    ["human", [{ _tag: "Detected", who: "human" }]],
    ["unknown", [{ _tag: "Detected", who: "unknown" }]],
    ["fax", [{ _tag: "Detected", who: "fax" }]],
    ["machine", []],
    ["", []],
    ["constructor", []]
  ]
  for (const [AnsweredBy, events] of answerers) t.strictSame(told({ AnsweredBy }), events, AnsweredBy)
})

t.test("T4: each end has its cause", async (t) => {
  const causes: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
    [{ CallStatus: "busy" }, "user_busy"],
    [{ CallStatus: "no-answer" }, "no_answer"],
    [{ CallStatus: "canceled" }, "originator_cancel"],
    [{ CallStatus: "failed", ErrorCode: "13224" }, "unallocated_number"],
    [{ CallStatus: "failed", SipResponseCode: "603" }, "call_rejected"],
    [{ CallStatus: "failed", SipResponseCode: "480" }, "congestion"],
    [{ CallStatus: "failed", SipResponseCode: "503" }, "congestion"],
    [{ CallStatus: "failed" }, "temporary_failure"]
  ]
  for (const [fields, cause] of causes) t.strictSame(told(fields), [{ _tag: "HungUp", cause }], JSON.stringify(fields))
})

t.test("T9: a callback counts for the call that it names, whatever else a proxy adds", async (t) => {
  const end = { CallSid: sid, CallStatus: "completed" }
  t.strictSame(told(end), [{ _tag: "HungUp", cause: "normal_clearing" }])
  t.strictSame(read({ ...end, CallSid: `CA${"f".repeat(32)}` }), { events: [] }, "about another leg")
  t.strictSame(read({ CallStatus: "completed" }), { events: [] }, "about no call")
  t.strictSame(told({ CallStatus: "constructor" }), [], "with a status that does not exist")
})

t.test("given whatever fields, when Twilio signed them, then they are read without an error", async () => {
  const names = ["CallSid", "CallStatus", "AnsweredBy", "Timestamp", "CallDuration", "SipResponseCode", "ErrorCode", "SequenceNumber"]
  const values = ["", "completed", "failed", "constructor", "__proto__", "-1", "1e99", "99999999999", "603", `CA${"0".repeat(32)}`]
  const fields = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...values), fc.string()))
  forAll(fields, (given) => {
    const [named, ...events] = read({ ...given, CallSid: sid }, { call: undefined })?.events ?? []
    return named?.event._tag === "Named" && events.every(({ event }) => !("at" in event) || Number.isFinite(event.at))
  })
})

// --- calls over real sockets

t.test("T2: when the callee answers and hangs up, then each step is reported", async (t) => {
  const { emulator, hosted, storyOf } = await openCarrier(t, "twilio")
  const { callId, to } = await hosted.originate(numberOf("001"))
  await hosted.line.event(callId, "HungUp")
  t.strictSame(storyOf(callId), ["Named", "Placed", "Rang", "Answered", "HungUp normal_clearing"])
  const [record] = emulator.callsTo(to)
  t.equal(hosted.ref(callId).providerCallId, record?.sid)
  const ends = hosted.line.events(callId).filter(({ _tag }) => _tag === "HungUp")
  t.match(ends, [{ at: Date.parse(record?.end_time ?? "") }])
})

t.test("when Twilio accepts the end and the call continues to ring, then it is canceled", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "twilio")
  const { callId, ref } = await callIn("ringing")
  const stillRings = { sid: ref().providerCallId, status: "ringing" }
  emulator.server.fail({ acts: false, reply: { status: 200, body: stillRings } }, ({ body }) => body === "Status=completed")
  t.equal(await hosted.hangup(ref()), undefined)
  t.equal(await hosted.line.hungUp(callId), "originator_cancel")
})

t.test("T14: when two looks find no price, then a third one reports it, and all of them the same end", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "twilio")
  emulator.holdPrices(true)
  const { callId } = await hosted.originate(numberOf("001"))
  await hosted.line.event(callId, "HungUp")
  for (let looks = 0; looks < 2; looks++) t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  t.notOk(hosted.line.story(callId).includes("Billed"))
  emulator.holdPrices(false)
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  t.match(hosted.line.events(callId).at(-1), { _tag: "Billed", amount: "0.0130", currency: "USD" })
  const ends = hosted.line.story(callId).filter((told) => told.startsWith("HungUp"))
  t.strictSame([...new Set(ends)], ["HungUp normal_clearing"])
})
