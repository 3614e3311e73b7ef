/**
 * What is specific to calls through Telnyx beyond `telnyxConformance.test.ts`, against the emulator and over real sockets, judged by what the callees saw and by what Telnyx was asked. X1 and so on are
 * the conformance cases of the carrier's reference.
 */
import { Effect } from "effect"
import t from "tap"
import { UNEXPLAINED_MILLIS } from "#core/call/CallPatience.ts"
import type { CallId } from "#core/Id.ts"
import { isDial, isHangup } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { errorOf } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { refTo } from "#test/support/refTo.ts"
import { untilTrue } from "#test/support/until.ts"
import { newCallId, numberOf } from "./Line.ts"
import { type Hosted, OUR_NUMBER } from "./hosted.ts"
import { type Emulator, open } from "./telnyxWorld.ts"

const isLive = ({ log }: Emulator, number: string) => {
  const kinds = log.of(number).map(({ kind }) => kind)
  return kinds.includes("originate") && !kinds.includes("ended")
}
const _timesDialed = ({ log }: Emulator, number: string) => log.dialsByNumber().get(number) ?? 0
const reaches = (emulator: Emulator, number: string, kind: "ringing" | "answered" | "ended") =>
  untilTrue(kind, () => emulator.log.of(number).some((entry) => entry.kind === kind))
/** The id in a reference to a call that has one. */
const idOf = (hosted: Hosted, callId: CallId) => hosted.ref(callId).providerCallId ?? ""

// --- calls

t.test("X1, X9: a call is placed by one request, and its id is escaped in paths", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const to = numberOf("11")
  const { callId } = await hosted.originate(to)
  const [dial] = emulator.dials()
  const asked = JSON.parse(dial?.body ?? "")
  t.match(asked, { to, from: OUR_NUMBER, stream_url: hosted.address("media", callId), webhook_url: hosted.address("event", callId) })
  const pauses: ReadonlyArray<number> = asked.webhook_retries_policies["call.hangup"].retries_ms
  t.ok(UNEXPLAINED_MILLIS > Math.max(...pauses), "an end that only the record reports waits for another attempt of its webhook")
  t.match(dial?.headers, { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" })
  await line.event(callId, "Answered")
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  await line.event(callId, "HungUp")
  const id = idOf(hosted, callId)
  t.match(id, /:/)
  t.equal(emulator.server.requests.find(isHangup)?.path, `/v2/calls/${encodeURIComponent(id)}/actions/hangup`)
  t.equal(emulator.dials().length, 1)
})

t.test("X10: a refusal says how long to wait in a header of its own", async (t) => {
  const { emulator, hosted } = await open(t)
  emulator.server.fail({ acts: false, reply: { ...errorOf(429, "10011"), headers: { "x-ratelimit-reset": "2" } } }, isDial)
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "rate_limited", retryAfterMillis: 2000 })
})

t.test("given a lost reply and no event, the call is found among the live ones", async (t) => {
  const { emulator, hosted, line } = await open(t, { pageSize: 2 })
  for (let other = 0; other < 5; other++) await hosted.originate(numberOf("11"))
  emulator.callbacks.hold()
  emulator.server.fail({ acts: true, reply: "reset" }, isDial)
  const { callId, to } = await hosted.originate(numberOf("11"))
  await reaches(emulator, to, "answered")
  t.strictSame(line.story(callId), [])
  t.match(await hosted.hangup(hosted.ref(callId)), { _tag: "ProviderError" }, "an unknown id means doubt")
  t.ok(isLive(emulator, to))
  t.equal(await hosted.lookup(hosted.ref(callId)), "up")
  t.strictSame(line.story(callId), ["Named"])
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  t.notOk(isLive(emulator, to))
  t.equal(emulator.dials().length, 6)
})

// --- calls in progress

t.test("X11: hang-up and lookup in every state", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const begin = async (ending: string) => {
    const { callId, to } = await hosted.originate(numberOf(ending))
    return { callId, to, ref: hosted.ref(callId) }
  }
  const silent = await begin("14")
  t.equal(await hosted.lookup(silent.ref), "ringing", "no event yet")
  const ringing = await begin("03")
  await reaches(emulator, ringing.to, "ringing")
  t.equal(await hosted.lookup(ringing.ref), "ringing")
  const up = await begin("11")
  await line.event(up.callId, "Answered")
  t.equal(await hosted.lookup(up.ref), "up")
  for (const { callId, ref, to } of [silent, ringing, up]) {
    t.equal(await hosted.hangup(ref), undefined)
    await line.event(callId, "HungUp")
    t.notOk(isLive(emulator, to))
    t.equal(await hosted.lookup(ref), "ended")
    t.equal(await hosted.hangup(ref), undefined, "it has ended already")
  }
  emulator.forgetEnded()
  t.equal(await hosted.lookup(up.ref), "gone")
  t.match(await hosted.hangup(up.ref), { _tag: "ProviderError" }, "no trace of it means doubt")
  t.equal(await hosted.lookup(refTo(newCallId())), "gone")
  await emulator.server.refuseConnections(true)
  t.equal(await hosted.lookup(up.ref), "silent")
})

t.test("a hang-up or a lookup without a proper reply fails", async (t) => {
  const { emulator, hosted, line } = await open(t)
  const { callId, to } = await hosted.originate(numberOf("11"))
  await line.event(callId, "Answered")
  const ref = hosted.ref(callId)
  const faults = [
    { status: 200, body: {} },
    { status: 200, body: "<html>" },
    { status: 404, body: "<html>" },
    { status: 503 },
    "reset"
  ] as const
  for (const reply of faults) {
    const fault = { acts: false, reply }
    emulator.server.fail(fault, isHangup)
    t.match(await hosted.hangup(ref), { _tag: "ProviderError" }, JSON.stringify(reply))
    for (const path of [`/v2/calls/${encodeURIComponent(idOf(hosted, callId))}`, "/v2/call_events"]) {
      emulator.server.fail(fault, (ask) => ask.method === "GET" && ask.path === path)
      t.equal(await hosted.lookup(ref), "silent", `${path} ${JSON.stringify(reply)}`)
    }
  }
  t.ok(isLive(emulator, to))
  await Effect.runPromise(line.trunk.sendDtmf?.(ref, "12#") ?? Effect.die("it cannot send keys"))
  t.equal(emulator.log.pressed(idOf(hosted, callId)), "12#")
})
