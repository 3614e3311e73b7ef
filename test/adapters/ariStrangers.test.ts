/** Calls that the adapter does not follow, and lists of channels that are older than what it knows: no call is lost or invented. */
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { AriCalls } from "#adapters/ari/AriCalls.ts"
import type { ChannelEvent } from "#adapters/ari/AriEvents.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { type AriEmulator, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { eventually, Line, newCallId, numberOf } from "./Line.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { refTo } from "#test/support/refTo.ts"

t.jobs = 8

const given = (name: string, test: (t: Test, emulator: AriEmulator, line: Line) => Promise<void>) =>
  t.test(`given an emulated Asterisk, ${name}`, { buffered: true }, async (t) => {
    const emulator = await startAriEmulator({ timeScale: 0.2 })
    const line = await Line.up(ari, ariConfig(emulator))
    await test(t, emulator, line).finally(async () => {
      await line.close()
      await emulator.stop()
    })
  })

/** Places a call as another client of the same Asterisk. */
const originate = async (emulator: AriEmulator, channelId: string, app: string, number = numberOf("011")) => {
  const query = new URLSearchParams({ endpoint: `PJSIP/${number}@trunk`, app, channelId })
  const authorization = `Basic ${Buffer.from(`${emulator.user}:${emulator.password}`).toString("base64")}`
  await fetch(`${emulator.url}/ari/channels?${query.toString()}`, { method: "POST", headers: { authorization } })
}

given("when a call that an earlier process placed has an event, then it is reported", async (t, emulator) => {
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

given("when it connects, then calls that it does not follow are reported, whoever placed them, and left alone", async (t, emulator) => {
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

given("when a call appears without an event, then the next look through the channels reports it", async (t, emulator, line) => {
  const other = await Line.up(ari, ariConfig(emulator), "other")
  const callId = await other.talkTo(numberOf("011"))
  await line.event(callId, "Answered")
  t.equal(emulator.live(), 1)
  await other.close()
})

given(
  "when Asterisk accepts a call after it has composed a list of its channels, then the call's absence from it means nothing",
  async (t, emulator) => {
    const proxy = await HttpProxy.start(emulator.url)
    const line = await Line.up(ari, ariConfig(emulator, { endpoint: proxy.url }))
    proxy.befall(fates.hold(1_500), ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), 1)
    const placing = line.originate(numberOf("011"))
    emulator.holdLists(true)
    emulator.dropSockets()
    // One of them is for the other line, which has lost its socket as well.
    await eventually("requested lists", () => emulator.heldLists() === 2)
    const { callId, failure } = await placing
    t.equal(failure, undefined)
    emulator.holdLists(false)
    await line.status("Up")
    await line.event(callId, "Answered")
    await line.hangup(callId)
    t.equal(await line.hungUp(callId), "agent_hangup")
    await line.close()
    await proxy.stop()
  }
)

given(
  "when a call is answered while nobody listens, and dropped once somebody does, then it is not reported as unanswered",
  async (t, emulator, line) => {
    const answered = (callId: string) =>
      eventually("the answer", () => emulator.log.entries.some(({ channelId, kind }) => channelId === callId && kind === "answered"))
    const earlier = await Line.up(ari, ariConfig(emulator), "node")
    emulator.letRing(true)
    emulator.holdDropped(true)
    const { callId } = await earlier.originate(numberOf("011"))
    await earlier.event(callId, "Rang")
    await earlier.close()
    // Only the other line still listens.
    await eventually("no listener", () => emulator.listeners() === 1)
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
    await eventually("no listener", () => emulator.listeners() === 0)
    emulator.letRing(false)
    await answered(second)
    await emulator.refuseConnections(false)
    await line.status("Up")
    emulator.holdDropped(false)
    t.equal(await line.hungUp(second), "trunk_lost", "nor after a gap in the events")
  }
)

given("when a phone still rings after a gap in the events, then its end is known", async (t, emulator, line) => {
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

t.test("given events that come after the end, in whatever order", async (t) => {
  const id = newCallId()
  const told = (events: ReadonlyArray<ChannelEvent>, isFollowed = true) => {
    const words: Array<TrunkEvent> = []
    const calls = new AriCalls(
      (_, event) => words.push(event),
      () => 0
    )
    if (isFollowed) calls.add(id, 30, "pending")
    for (const event of events) calls.handle(event)
    return words
  }
  const destroyed: ChannelEvent = { type: "ChannelDestroyed", id, cause: 16, sipStatus: undefined, at: 2_000 }
  const answered: ChannelEvent = { type: "StasisStart", id, at: 1_000 }
  const hungUp = { _tag: "HungUp", cause: "normal_clearing", at: 2_000 }
  t.strictSame(told([destroyed, answered, answered, destroyed]), [hungUp, { _tag: "Answered", at: 1_000 }])
  t.strictSame(told([{ type: "Dial", id, status: "" }, answered, destroyed], false), [
    { _tag: "Placed" },
    { _tag: "Answered", at: 1_000 },
    hungUp
  ])
  const notOurs = ["media-b9a1d3f0-8d5a-4c12-9c39-2f2f5d1b6a11", "1763.12", `${id};2`, ""]
  t.strictSame(
    notOurs.flatMap((other) => told([{ ...answered, id: other }], false)),
    []
  )
})

t.test("given a list of channels", async (t) => {
  const id = newCallId()
  const check = (name: string, expected: ReadonlyArray<string>, act: (calls: AriCalls) => void) => {
    const words: Array<string> = []
    const calls = new AriCalls(
      (_, { _tag }) => words.push(_tag),
      () => 0
    )
    act(calls)
    t.strictSame(words, expected, name)
  }
  const up = { state: "Up", inStasis: true }
  const follow = (calls: AriCalls) => calls.add(id, 30, "pending")
  check("nobody follows it", ["Answered"], (calls) => calls.present(id, up, false))
  check("nobody follows it, not answered", ["Placed"], (calls) => calls.present(id, { state: "Down", inStasis: false }, false))
  check("its events come", [], (calls) => {
    follow(calls)
    calls.present(id, up, false)
  })
  check("its events may have been missed", ["Answered"], (calls) => {
    follow(calls)
    calls.present(id, up, true)
  })
  check("it is answered, and its StasisStart still to come", [], (calls) => {
    follow(calls)
    calls.present(id, { state: "Up", inStasis: false }, true)
  })
  check("it has ended since the list was made", ["HungUp"], (calls) => {
    follow(calls)
    calls.handle({ type: "ChannelDestroyed", id, cause: 16, sipStatus: undefined })
    calls.present(id, up, true)
  })
})

t.test("given a call whose end was missed, when the call is missing, then the cause follows from the earlier events", async (t) => {
  const answered: ChannelEvent = { type: "StasisStart", id: "c" }
  const ringing: ChannelEvent = { type: "Dial", id: "c", status: "RINGING" }
  const requested = (cause: number, soft = false): ChannelEvent => ({
    type: "ChannelHangupRequest",
    id: "c",
    cause,
    sipStatus: undefined,
    soft
  })
  const check = (
    name: string,
    expected: HangupCause,
    events: ReadonlyArray<ChannelEvent>,
    between: (calls: AriCalls) => unknown = () => {}
  ) => {
    const told: Array<TrunkEvent> = []
    const calls = new AriCalls(
      (_, event) => told.push(event),
      () => 0
    )
    calls.add("c", 30, "pending")
    for (const event of events) calls.handle(event)
    between(calls)
    calls.absent("c")
    calls.absent("c")
    t.strictSame(
      told.filter(({ _tag }) => _tag === "HungUp"),
      [{ _tag: "HungUp", cause: expected }],
      name
    )
  }
  check("answered", "normal_clearing", [ringing, answered])
  check("answered, and Asterisk was restarted", "trunk_lost", [answered], (calls) => calls.outlive())
  check("answered, and Asterisk was being stopped", "trunk_lost", [answered, requested(4, true)])
  check("answered, and the far end had said why", "network_out_of_order", [answered, requested(38)])
  check("answered, and we had asked for the end", "machine_detected", [answered], (calls) =>
    Object.assign(calls.get("c") ?? {}, { asked: "machine_detected" })
  )
  check("not answered as far as we know", "trunk_lost", [ringing])
  check("refused by the far end", "user_busy", [ringing, requested(17)])
})
