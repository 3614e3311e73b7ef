/** What is specific to calls through Telnyx, over real sockets. X1 and so on are the conformance cases of the carrier's reference. */
import t from "tap"
import { UNEXPLAINED_MILLIS } from "#core/call/CallPatience.ts"
import { errorOf } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { untilTrue } from "#test/support/until.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { numberOf } from "./Line.ts"

t.test("X1, X9: a call is placed by one request, and its id is escaped in paths", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "telnyx")
  const { callId, id, ref, to } = await callIn("up")
  const [dial] = emulator.dials()
  const asked = JSON.parse(dial?.body ?? "")
  t.match(asked, { to, from: OUR_NUMBER, stream_url: hosted.address("media", callId), webhook_url: hosted.address("event", callId) })
  const pauses: ReadonlyArray<number> = asked.webhook_retries_policies["call.hangup"].retries_ms
  t.ok(UNEXPLAINED_MILLIS > Math.max(...pauses), "an end that only the record reports waits for another attempt of its webhook")
  t.match(dial?.headers, { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" })
  t.equal(await hosted.hangup(ref()), undefined)
  t.match(id, /:/)
  t.equal(emulator.server.requests.find(emulator.hangsUp)?.path, `/v2/calls/${encodeURIComponent(id)}/actions/hangup`)
  t.equal(emulator.dials().length, 1)
})

t.test("X10: a refusal says how long to wait in a header of its own", async (t) => {
  const { emulator, hosted } = await openCarrier(t, "telnyx")
  const reply = { ...errorOf(429, "10011"), headers: { "x-ratelimit-reset": "2" } }
  emulator.server.fail({ acts: false, reply }, emulator.places)
  t.match((await hosted.originate(numberOf("11"))).failure, { reason: "rate_limited", retryAfterMillis: 2000 })
})

t.test("given a lost reply and no event, the call is found among the live ones, however many pages there are", async (t) => {
  const { callIn, emulator, hasEnded, hosted } = await openCarrier(t, "telnyx", { pageSize: 2 })
  for (let other = 0; other < 5; other++) await callIn("up")
  emulator.callbacks.hold()
  emulator.server.fail({ acts: true, reply: "reset" }, emulator.places)
  const { callId, to } = await hosted.originate(numberOf("11"))
  await untilTrue("answer", () => emulator.log.of(to).some(({ kind }) => kind === "answered"))
  t.strictSame(hosted.line.story(callId), [])
  t.match(await hosted.hangup(hosted.ref(callId)), { _tag: "ProviderError" }, "an unknown id means doubt")
  t.notOk(hasEnded(to))
  t.equal(await hosted.lookup(hosted.ref(callId)), "up")
  t.strictSame(hosted.line.story(callId), ["Named"])
  t.equal(await hosted.hangup(hosted.ref(callId)), undefined)
  t.ok(hasEnded(to))
  t.equal(emulator.dials().length, 6)
})

t.test("given events of a call that cannot be read, then the look at it says nothing", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "telnyx")
  const { ref } = await callIn("up")
  for (const reply of [
    { status: 200, body: {} },
    { status: 200, body: "<html>" },
    { status: 404, body: "<html>" },
    { status: 503 },
    "reset"
  ] as const) {
    emulator.server.fail({ acts: false, reply }, ({ path }) => path === "/v2/call_events")
    t.equal(await hosted.lookup(ref()), "silent", JSON.stringify(reply))
  }
})
