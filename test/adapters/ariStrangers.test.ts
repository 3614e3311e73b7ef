/** Calls that the adapter does not follow, and lists of channels that are older than what it knows: no call is lost or invented. */
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import type { AriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { askAri, emulated } from "./emulatedLine.ts"
import { Line, numberOf } from "./Line.ts"
import { untilTrue } from "#test/support/until.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { refTo } from "#test/support/refTo.ts"

t.jobs = 8

/** Places a call as another client of the same Asterisk. */
const originate = async (emulator: AriEmulator, channelId: string, app: string, number = numberOf("011")) => {
  const query = new URLSearchParams({ endpoint: `PJSIP/${number}@trunk`, app, channelId })
  await askAri(emulator, `/channels?${query.toString()}`, "POST")
}

emulated("when a call that an earlier process placed has an event, then it is reported", async (t, emulator) => {
  const earlier = await Line.up(ari, ariConfig(emulator), "node")
  emulator.letRing(true)
  const { callId } = await earlier.originate(numberOf("001"))
  await earlier.close()
  const later = await Line.up(ari, ariConfig(emulator), "node")
  emulator.letRing(false)
  await later.event(callId, "Answered")
  t.equal(await later.hungUp(callId), "normal_clearing")
  await later.close()
})

emulated("when it connects, then calls that it does not follow are reported, whoever placed them, and left alone", async (t, emulator) => {
  const other = await Line.up(ari, ariConfig(emulator), "other")
  const up = await other.talkTo(numberOf("011"))
  const { callId: ringing } = await other.originate(numberOf("003"))
  await other.event(ringing, "Rang")
  await other.withMedia(up, async () => {
    await originate(emulator, "1763.12", "trunkline.other.1")
    const line = await Line.up(ari, ariConfig(emulator), "one")
    t.strictSame(line.story(up), ["Answered"])
    t.strictSame(line.story(ringing), ["Rang"])
    t.strictSame([...line.known()].toSorted(), [ringing, up].toSorted(), "then neither media channels nor those of other clients are")
    t.equal(emulator.live(), 3)
    await line.close()
  })
  await other.close()
})

emulated("when a call appears without an event, then the next look through the channels reports it", async (t, emulator, line) => {
  const other = await Line.up(ari, ariConfig(emulator), "other")
  const callId = await other.talkTo(numberOf("011"))
  await line.event(callId, "Answered")
  t.equal(emulator.live(), 1)
  await other.close()
})

emulated("when a call is newer than a list of channels, then its absence means nothing", async (t, emulator) => {
  const proxy = await HttpProxy.start(emulator.url)
  const line = await Line.up(ari, ariConfig(emulator, { endpoint: proxy.url }))
  proxy.befall(fates.hold(1_500), ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), 1)
  const placing = line.originate(numberOf("011"))
  emulator.holdLists(true)
  emulator.dropSockets()
  // One of them is for the other line, which has lost its socket as well.
  await untilTrue("requested lists", () => emulator.heldLists() === 2)
  const { callId, failure } = await placing
  t.equal(failure, undefined)
  emulator.holdLists(false)
  await line.status("Up")
  await line.event(callId, "Answered")
  await line.hangup(callId)
  t.equal(await line.hungUp(callId), "agent_hangup")
  await line.close()
  await proxy.stop()
})

emulated("when a call is answered while nobody listens, then its end is not reported as unanswered", async (t, emulator, line) => {
  const answered = (callId: string) =>
    untilTrue("the answer", () => emulator.log.entries.some(({ channelId, kind }) => channelId === callId && kind === "answered"))
  const earlier = await Line.up(ari, ariConfig(emulator), "node")
  emulator.letRing(true)
  emulator.holdDropped(true)
  const { callId } = await earlier.originate(numberOf("011"))
  await earlier.event(callId, "Rang")
  await earlier.close()
  // Only the other line still listens.
  await untilTrue("no listener", () => emulator.listeners() === 1)
  emulator.letRing(false)
  await answered(callId)
  const next = await Line.up(ari, ariConfig(emulator), "node")
  next.trunk.adopt(refTo(callId))
  emulator.holdDropped(false)
  t.equal(await next.hungUp(callId), "trunk_lost")
  await next.close()

  emulator.letRing(true)
  emulator.holdDropped(true)
  const { callId: second } = await line.originate(numberOf("011"))
  await line.event(second, "Rang")
  await emulator.refuseConnections(true)
  emulator.dropSockets()
  await line.status("Down")
  await untilTrue("no listener", () => emulator.listeners() === 0)
  emulator.letRing(false)
  await answered(second)
  await emulator.refuseConnections(false)
  await line.status("Up")
  emulator.holdDropped(false)
  t.equal(await line.hungUp(second), "trunk_lost", "nor after a gap in the events")
})

emulated("when a phone still rings after a gap in the events, then its end is known", async (t, emulator, line) => {
  emulator.letRing(true)
  const { callId } = await line.originate(numberOf("001"))
  await line.event(callId, "Rang")
  emulator.dropSockets()
  await line.status("Down")
  await line.status("Up")
  emulator.letRing(false)
  t.equal(await line.hungUp(callId), "normal_clearing")
  t.match(line.story(callId), ["Rang", "Answered", "HungUp normal_clearing"])
})
