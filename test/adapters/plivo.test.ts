/**
 * What is specific to calls through Plivo beyond `plivoConformance.test.ts`: the adapter against an emulated Plivo over real sockets. What the callees saw is the judge. `P2` and so on are
 * cases of its conformance list.
 */
import t from "tap"
import { account } from "#test/emulators/plivo/PlivoEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { numberOf } from "./Line.ts"
import { callIn, findsLate, handsOver, places } from "./plivoDialect.ts"
import { openWorld } from "./plivoWorld.ts"

const base = `/v1/Account/${account.authId}`

t.test("P1: given a call with machine detection, then exactly this request is sent to Plivo", async (t) => {
  const headers = await places(t, openWorld, base, "#rc=5&rp=5xx,ct,rt", {})
  t.equal(headers?.["authorization"], `Basic ${Buffer.from(`${account.authId}:${account.authToken}`).toString("base64")}`)
  t.equal(headers?.["content-type"], "application/json")
})
t.test("given a record that comes late", (t) => findsLate(t, openWorld))
t.test("given callees to transfer", (t) => handsOver(t, openWorld, base, ["user_busy"]))

t.test("P2: given a request and a call with different ids", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  const { call, callId, ref } = await callIn(world, "ringing")
  t.not(call.uuid, call.requestUuid)
  t.equal(ref().providerCallId, call.uuid, "then the call's id replaces that of the request")
  const known = hosted.line.events(callId).filter(({ _tag }) => _tag === "Named")
  t.match(known, [{ providerCallId: call.uuid }])
  t.equal(await hosted.hangup(ref()), undefined)
  t.equal(emulator.server.requests.at(-1)?.path, `${base}/Call/${call.uuid}/`, "then the hang-up uses it")
})

t.test("P9: given a call that is known only by its request", async (t) => {
  const world = await openWorld(t)
  const { emulator, hosted } = world
  await t.test("when it waits in the queue, then that is reported, and it is canceled and never rings", async (t) => {
    emulator.holdQueue(true)
    const { callId, to } = await hosted.originate(numberOf("011"))
    const [call] = emulator.callsTo(to)
    t.equal(hosted.ref(callId).providerCallId, `request:${call?.requestUuid}`)
    t.strictSame(hosted.line.story(callId), ["Queued"])
    t.equal(await hosted.lookup(hosted.ref(callId)), "queued")
    t.equal(await hosted.hangup({ ...hosted.ref(callId), providerCallId: `request:${call?.requestUuid}` }), undefined)
    t.match(emulator.server.requests.at(-1), { method: "DELETE", path: `${base}/Request/${call?.requestUuid}/` })
    emulator.holdQueue(false)
    await hosted.line.event(callId, "HungUp")
    t.equal(world.dials(to), 0)
  })
  for (const [what, ending] of [
    ["rings", "003"],
    ["talks", "011"]
  ] as const) {
    await t.test(`when it ${what}, then it is looked up and hung up nevertheless`, async (t) => {
      emulator.sender.hold()
      const { callId, to } = await hosted.originate(numberOf(ending))
      await untilTrue("call", () => emulator.log.of(to).at(-1)?.kind === (ending === "003" ? "ringing" : "answered"))
      const ref = hosted.ref(callId)
      t.match(ref.providerCallId, /^request:/)
      t.equal(await hosted.lookup(ref), ending === "003" ? "ringing" : "up")
      t.equal(hosted.ref(callId).providerCallId, emulator.callsTo(to)[0]?.uuid, "then the look names the call")
      t.equal(await hosted.hangup(ref), undefined)
      t.equal(emulator.log.of(to).at(-1)?.by, "us")
      emulator.sender.release()
      await hosted.line.event(callId, "HungUp")
    })
  }
  await t.test("when it has ended, then its record is found", async (t) => {
    emulator.sender.hold()
    const { callId, to } = await hosted.originate(numberOf("001"))
    await untilTrue("end", () => emulator.callsTo(to)[0]?.endedAt !== undefined)
    emulator.sender.lose()
    t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
    t.strictSame(hosted.line.story(callId), ["Named", "Answered", "HungUp normal_clearing", "Billed"])
    t.equal(await hosted.hangup({ ...hosted.ref(callId), providerCallId: undefined }), undefined)
  })
})

t.test("P3: given a call that has cost something, then the cost is reported, once by the callback and once by the record", async (t) => {
  const world = await openWorld(t)
  const { hosted } = world
  const { callId } = await hosted.originate(numberOf("001"))
  await hosted.line.event(callId, "Billed")
  t.equal(await hosted.lookup(hosted.ref(callId)), "ended")
  const bills = hosted.line.events(callId).filter(({ _tag }) => _tag === "Billed")
  const bill = { _tag: "Billed", amount: "0.00850", currency: "USD" }
  t.strictSame(bills, [bill, bill])
})

t.test("P8: given a media socket that is refused, then Plivo tries three times, and the call ends because it has no audio", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  emulator.leaveMediaUnsigned()
  const { callId, to } = await hosted.originate(numberOf("011"))
  t.equal(await hosted.line.hungUp(callId), "media_failure")
  t.strictSame(
    hosted.media.upgrades.map(({ status }) => status),
    [403, 403, 403],
    "without a signature"
  )
  t.match(emulator.callsTo(to)[0]?.end, { code: 4010 })
})
