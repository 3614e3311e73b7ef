/** What is specific to calls through Cloudonix, over real sockets. N1 and so on are the conformance cases of the carrier's reference. */
import t from "tap"
import { untilTrue } from "#test/support/until.ts"
import { holdForCalls } from "./hostedCallRules.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openCarrier } from "./hostedScene.ts"
import { numberOf } from "./Line.ts"

holdForCalls("cloudonix", {
  states: [
    ["ringing", "ringing"],
    ["up", "up"],
    ["ended", "ended", "gone"]
  ],
  otherwise: "ringing",
  otherTimes: [-86_400_000],
  anId: "0".repeat(32),
  noIds: ["../dnids"],
  noEnds: [{ status: 302 }],
  noLooks: [{ status: 200, body: {} }],
  noRefusals: [{ status: 200, body: { error: "no" } }],
  refusesTransfer: { status: 404, body: { message: "Session not found" } }
})

t.test("given calls that are reported in order", async (t) => {
  const { asked, dials, emulator, hasEnded, hosted, idOf, storyOf } = await openCarrier(t, "cloudonix", {}, { domain_id: "Acme." })
  await t.test("N1: when a call is placed, then the request is as Cloudonix documents it", async (t) => {
    const { callId, to } = await hosted.originate(numberOf("011"))
    const [order] = emulator.dials()
    t.equal(order?.path, "/calls/acme.cloudonix.net/application")
    t.equal(order?.headers["authorization"], `Bearer ${emulator.apiKey}`)
    const cxml = `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${hosted.address("media", callId)}"/></Connect></Response>`
    const callback = hosted.address("session", callId)
    const expected = { destination: to, "caller-id": OUR_NUMBER, cxml, callback, timeout: 30, timeLimit: 660 }
    t.strictSame(JSON.parse(order?.body ?? ""), expected)
    emulator.hangupStatus = 200
    t.equal(await hosted.hangup(hosted.ref(callId)), undefined, "N11: a hang-up may also be answered with the session")
  })
  await t.test("N4: when the callee answers and hangs up, then each step is reported once", async (t) => {
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => hasEnded(to))
    await emulator.callbacks.settled()
    t.equal(await hosted.line.hungUp(callId), "normal_clearing")
    t.strictSame(storyOf(callId), ["Named", "Placed", "Rang", "Answered", "EndClaimed", "HungUp normal_clearing"])
    t.equal(hosted.ref(callId).providerCallId, idOf(to))
    const record = emulator.sessionsTo(to)[0]?.record()
    const times = hosted.line.events(callId).flatMap((event) => ("at" in event ? [event.at] : []))
    t.strictSame([...new Set(times)], [record?.callAnswerTime, record?.callEndTime])
    const read = hosted.door.deliveries.flatMap(({ callback: { call }, read }) => (call?.callId === callId ? [read?.deliveryId] : []))
    t.ok(read.length >= 12)
    t.equal(new Set(read).size, 5, "new, processing, ringing, connected, but none for the end, because a forged one must not look like it")
    t.strictSame([dials(to), asked(to)], [1, 1])
  })
})

t.test("given the record of a call (CDR)", async (t) => {
  const { emulator, hasEnded, hosted } = await openCarrier(t, "cloudonix")
  emulator.domain.recordUrl = hosted.address("cdr")
  emulator.domain.recordSays = "BUSY"
  const { callId, to } = await hosted.originate(numberOf("001"))
  await untilTrue("end", () => hasEnded(to))
  await emulator.callbacks.settled()
  t.match(hosted.door.deliveries.at(-1), { callback: { kind: "cdr" }, read: { events: [] }, status: 200 }, "N7: then it is not believed")
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  t.equal(await hosted.line.hungUp(callId), "normal_clearing", "N7: then the session decides")
})

t.test("N8: given callbacks that are lost", async (t) => {
  const { dials, emulator, hasEnded, hosted } = await openCarrier(t, "cloudonix")
  emulator.domain.hasCallbacks = false
  t.jobs = 2
  t.test("when the callee has answered, then the call is looked up after a while", { buffered: true }, async (t) => {
    const { callId, to } = await hosted.originate(numberOf("001"))
    await hosted.line.event(callId, "HungUp")
    t.strictSame(hosted.line.story(callId), ["Named", "Answered", "HungUp normal_clearing"])
    t.equal(dials(to), 1)
  })
  t.test("when the session is not kept either, then the call has ended nevertheless", { buffered: true }, async (t) => {
    const { callId, to } = await hosted.originate(numberOf("002"))
    await untilTrue("end", () => hasEnded(to))
    emulator.forget(hosted.ref(callId).providerCallId ?? "")
    t.equal(await hosted.line.hungUp(callId), "unknown")
    t.equal(hosted.line.story(callId).filter((word) => word.startsWith("HungUp")).length, 1)
  })
})

t.test("given more requests than a domain may make", async (t) => {
  const { callIn, emulator, hosted } = await openCarrier(t, "cloudonix", { requests: 10, windowMillis: 9_000 })
  const calls = await Promise.all([1, 2, 3].map(() => callIn("up")))
  const looks = await Promise.all([...calls, ...calls, ...calls].map(({ ref }) => hosted.lookup(ref())))
  t.strictSame([...new Set(looks)], ["up"], "then looks wait for their turn, and none is refused")
  t.equal(emulator.server.requests.filter(({ method, path }) => method === "GET" && path.includes("/sessions")).length, 9)
  emulator.server.fail({ acts: false, reply: { status: 429, body: { message: "Too many requests" } } }, emulator.places)
  const { failure } = await hosted.originate(numberOf("001"))
  t.match(failure, { reason: "rate_limited", retryAfterMillis: 10_000 }, "then the engine is told how long to wait")
})
