/** Transfers through Cloudonix, on the wire, and what its streams say. N10 is a conformance case of the carrier's reference. */
import t from "tap"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import type { Callback } from "#core/provider/Callback.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { refTo } from "#test/support/refTo.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { callbackOf } from "./callbackOf.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { newCallId, numberOf } from "./Line.ts"

t.test("given a callee who talks to the agent", async (t) => {
  const { callIn, dials, emulator, hosted } = await openCarrier(t, "cloudonix")
  const { callId, ref, to: callee } = await callIn("up")
  const legs = () => emulator.sessionsTo(callee)[0]?.legs.length ?? 0
  const repliesOf = (kind: string) =>
    hosted.door.deliveries.filter(({ callback }) => callback.kind === kind).map(({ read }) => verbsOf(read?.reply?.body ?? ""))
  const outcomes = () => hosted.line.events(callId).filter(({ _tag }) => _tag === "Transferred")

  await t.test("when the destination is busy, then the callee is connected to the agent again, and nothing is reported", async (t) => {
    const [to, before] = [numberOf("002"), legs()]
    t.match(await hosted.transfer(ref(), to, 1), { _tag: "Success" })
    const { body = "{}", path } = emulator.server.requests.find(emulator.transfers) ?? {}
    t.equal(path, `/calls/acme.cloudonix.net/sessions/${ref().providerCallId}/application`)
    const { cxml, ...more } = JSON.parse(body)
    t.strictSame(more, {})
    const dial = { action: hosted.address("transfer-a", callId), method: "POST", callerId: OUR_NUMBER, timeout: "300" }
    t.strictSame(verbsOf(cxml), [
      { name: "Dial", attributes: dial, children: [{ name: "Number", attributes: {}, children: [], text: to }] }
    ])
    await untilTrue("another stream", () => legs() > before)
    t.strictSame(outcomes(), [])
    t.match(repliesOf("transfer-a"), [[{ name: "Connect", children: [{ attributes: { url: hosted.address("media", callId) } }] }]])
    t.equal(dials(to), 1)
  })
  await t.test("when requests come too often, then the refusal says so", async (t) => {
    const reply = { status: 429, body: { message: "Too many requests" } }
    emulator.server.fail({ acts: false, reply }, emulator.transfers)
    t.match(await hosted.transfer(ref(), numberOf("011"), 2), { failure: { _tag: "TransferRefused", isRateLimited: true } })
  })
  await t.test("when callee and destination have talked, then that is reported, and the call is over", async (t) => {
    const to = numberOf("001")
    t.match(await hosted.transfer(ref(), to, 3), { _tag: "Success" })
    await hosted.line.event(callId, "HungUp")
    t.strictSame(outcomes(), [{ _tag: "Transferred", transfer: 3, answered: true }])
    t.match(repliesOf("transfer-c"), [[{ name: "Hangup" }]])
    t.equal(dials(to), 1)
  })
})

t.test("given a dial that is over, then only a report in the call's name counts, and only an answer", async (t) => {
  const [token, mediaUrl] = ["16a7294c989b11e7b3d32b9edb8660c7", "wss://voice.example.com/media/42"]
  const config = { domain_id: "acme.cloudonix.net", authorization_api_key: "" }
  const known = { ...refTo(newCallId()), providerCallId: token }
  const read = (fields: object, more: Partial<Callback> = {}, mediaType = "application/json") => {
    const body = mediaType === "application/json" ? JSON.stringify(fields) : new URLSearchParams({ ...fields }).toString()
    const request = { headers: { "content-type": mediaType }, call: known, kind: "transfer-b", mediaUrl, ...more }
    return cloudonix.read?.(config, callbackOf(body, request))
  }
  const verbOf = (...args: Parameters<typeof read>) => verbsOf(read(...args)?.reply?.body ?? "")?.map(({ name }) => name)
  const joined = [{ event: { _tag: "Transferred", transfer: 2, answered: true } }]
  for (const told of [
    { CallStatus: "completed" },
    { CallStatus: "in-progress", DialCallStatus: "completed" },
    { DialCallStatus: "answered" }
  ]) {
    t.strictSame(read({ Session: token, ...told })?.events, joined, JSON.stringify(told))
    t.strictSame(verbOf({ Session: token, ...told }), ["Hangup"])
  }
  t.strictSame(read({ Session: token, DialCallStatus: "completed" }, {}, "application/x-www-form-urlencoded")?.events, joined)
  for (const CallStatus of ["busy", "no-answer", "noanswer", "canceled", "failed", "unknown", "constructor", "", undefined, 5]) {
    t.strictSame(read({ Session: token, CallStatus })?.events, [], String(CallStatus))
    t.strictSame(verbOf({ Session: token, CallStatus }), ["Connect"])
    t.strictSame(verbOf({ Session: token, CallStatus }, { isWanted: false }), ["Hangup"], "we have hung up")
  }
  t.equal(read({ Session: "26a7294c989b11e7b3d32b9edb8660c7", CallStatus: "completed" }), undefined, "of another call")
  t.equal(read({ CallStatus: "completed" }), undefined, "of no call")
  t.strictSame(verbOf({ Session: token, CallStatus: "busy" }, { call: undefined }), ["Hangup"], "of a call that is no longer known")
})

t.test("N10: given a call that has only its stream, then the stream names its session", async (t) => {
  const { asked, dials, emulator, hosted } = await openCarrier(t, "cloudonix")
  emulator.domain.hasCallbacks = false
  hosted.door.media.isDeaf = false
  emulator.server.fail({ acts: true, reply: "reset" }, emulator.places)
  const { callId, to } = await hosted.originate(numberOf("015"))
  await until("audio", () => hosted.door.media.streamOf(callId))
  const [session] = emulator.sessionsTo(to)
  t.equal(hosted.ref(callId).providerCallId, session?.token)
  t.not(session?.token, session?.callId, "which is not the SIP id")
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  t.match(emulator.server.requests.findLast(emulator.hangsUp), { path: `/calls/acme.cloudonix.net/sessions/${session?.token}` })
  t.equal(emulator.log.of(to).at(-1)?.by, "us")
  t.strictSame([dials(to), asked(to)], [1, 1])
})
