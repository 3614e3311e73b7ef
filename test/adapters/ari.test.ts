/** What is specific to the Asterisk adapter, against the emulator and a real Asterisk; the rest is in `ariConformance.test.ts`. */
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { eventTypes } from "#adapters/ari/AriEvents.ts"
import type { ResponseFault } from "#test/emulators/ari/AriEmulator.ts"
import { type Asterisk, asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { askAri, emulated, emulatedWith, recording } from "./emulatedLine.ts"
import { Line, newCallId, numberOf } from "./Line.ts"
import { clearest, exchange } from "./tones.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { refTo } from "#test/support/refTo.ts"
import { until, untilTrue } from "#test/support/until.ts"

// Long waits run in parallel.
t.jobs = 12
const unavailable = await asteriskUnavailable()
const doomed = unavailable === undefined ? await startAsterisk() : undefined
t.teardown(() => doomed?.stop())
const placeOf = (asterisk: Asterisk) => ({ url: asterisk.ariUrl, user: asterisk.user, password: asterisk.password })

const real = (which: string, asterisk: Asterisk | undefined, test: (name: string, asterisk: Asterisk) => unknown): unknown => {
  const name = `given a real Asterisk ${which}`
  return asterisk === undefined ? t.test(name, { skip: unavailable ?? true }, () => {}) : test(name, asterisk)
}

type Place = Parameters<typeof ariConfig>[0]
const asked = async (at: Place, path: string): Promise<unknown> => (await askAri(at, path)).json()
const leftovers = async (at: Place) => [await asked(at, "/channels"), await asked(at, "/bridges")]

/** Asterisk takes a moment to remove channels and bridges. */
const untilNothingIsLeft = (at: Place) =>
  untilTrue("end of all channels and bridges", async () => (await leftovers(at)).flat().length === 0)

const leavesNothing = async (t: Test, line: Line, at: Place, ending: string): Promise<void> => {
  await line.withMediaOf(ending, (callId) => line.event(callId, "HungUp"))
  await untilNothingIsLeft(at)
  const failure = await line.withMedia(newCallId(), async () => {}).catch((error: unknown) => error)
  t.match(failure, { _tag: "ProviderError", operation: "openMedia" })
  await untilNothingIsLeft(at)
}

emulatedWith({ node: "one" }, "one by one", async (t, emulator, line) => {
  const config = ariConfig(emulator)
  await t.test("then only the events in use are sent, to this node's own application", async (t) => {
    t.match(await asked(emulator, "/applications/trunkline.one.1"), { events_allowed: eventTypes.map((type) => ({ type })) })
  })
  await t.test("when originating fails, then the reason says what to do", async (t) => {
    const check = async (expected: object, broken: Partial<typeof config>, fault: ResponseFault = "none", from?: string) => {
      const other = await Line.up(ari, { ...config, ...broken }, "other")
      emulator.setResponseFault(fault, 1)
      const { callId, failure, to } = await other.originate(numberOf("011"), { from })
      t.match(failure, expected, JSON.stringify({ ...broken, fault }))
      t.notMatch(JSON.stringify(failure), to.slice(1))
      t.strictSame(other.events(callId), [])
      await other.close()
    }
    await check({ _tag: "OriginateRefused", reason: "unreachable" }, { dial_string: "PJSIP/{number}@unknown" })
    await check({ _tag: "OriginateRefused", reason: "misconfigured" }, { dial_string: "{digits}" })
    await check({ _tag: "OriginateRefused", reason: "misconfigured" }, { dial_string: "PJSIP/phone" })
    await check({ _tag: "OriginateRefused", reason: "misconfigured" }, {}, "none", '"x" <1>')
    await check({ _tag: "OriginateDoubtful", status: 503 }, {}, "503")
    await check({ _tag: "OriginateDoubtful" }, {}, "500")
    emulator.setResponseFault("none")
  })
  await t.test("A7: when the id is taken, then the call has already been placed", async (t) => {
    const other = await Line.up(ari, config, "other")
    const { callId, to } = await line.originate(numberOf("011"))
    const again = await other.originate(to, { callId })
    t.equal(again.failure, undefined)
    t.equal(emulator.log.dialsByNumber().get(to), 1)
    await line.hangup(callId)
    await other.close()
  })
  await t.test("when audio ends, then nothing of it is left", (t) => leavesNothing(t, line, emulator, "001"))
})

emulated("when the request was lost, and events may be too, then its outcome is unknown", async (t, emulator, line) => {
  emulator.setResponseFault("reset-before-placing", 1)
  const { callId } = await line.originate(numberOf("011"))
  emulator.dropSockets()
  await line.status("Down")
  await line.status("Up")
  await sleep(5_100)
  t.equal(await line.lookup(callId), "gone")
})
emulatedWith({ node: "test" }, "and a broken connection", async (t, emulator, line) => {
  const config = ariConfig(emulator)
  await t.test("A9: when it is back, then calls that ended meanwhile end, and the others continue", async (t) => {
    const [stays, leaves] = [await line.talkTo(numberOf("011")), await line.talkTo(numberOf("001"))]
    await emulator.refuseConnections(true)
    emulator.dropSockets()
    t.match(await line.status("Down"), { reason: "unreachable" })
    t.match((await line.originate(numberOf("011"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
    await untilTrue("the end of one call", () => emulator.live() === 1)
    await emulator.refuseConnections(false)
    t.equal(await line.hungUp(leaves), "normal_clearing", "then a conversation that the same Asterisk no longer has has ended normally")
    await line.status("Up")
    t.equal(line.story(stays).at(-1), "Answered")
    await line.hangup(stays)
    t.equal(await line.hungUp(stays), "agent_hangup")
  })
  await t.test("when Asterisk was killed, then all its calls are lost, once, and new ones are possible", async (t) => {
    const calls = [await line.talkTo(numberOf("011")), (await line.originate(numberOf("003"))).callId]
    emulator.crash()
    for (const callId of calls) t.equal(await line.hungUp(callId), "trunk_lost")
    await line.status("Up")
    t.equal(await line.hungUp((await line.originate(numberOf("002"))).callId), "user_busy")
    t.match(await asked(emulator, "/applications/trunkline.test.1"), { events_allowed: eventTypes.map((type) => ({ type })) })
    for (const callId of calls) t.equal(line.events(callId).filter(({ _tag }) => _tag === "HungUp").length, 1)
  })
  await t.test("when earlier calls are adopted, then their events arrive again, and a missing one has not ended", async (t) => {
    const earlier = await Line.up(ari, config, "earlier")
    const stays = await earlier.talkTo(numberOf("011"))
    await earlier.close()
    const later = await Line.up(ari, config, "earlier")
    const unknown = newCallId()
    later.trunk.adopt(refTo(stays))
    later.trunk.adopt(refTo(unknown))
    await later.event(stays, "Answered")
    await later.hangup(stays, "node_lost")
    t.equal(await later.hungUp(stays), "node_lost")
    t.strictSame(later.events(unknown), [])
    await later.close()
  })
  await t.test("when the password was changed, then the trunk is down for it", async () => {
    emulator.setPassword("another")
    emulator.dropSockets()
    await untilTrue("the refusal", () => JSON.stringify(line.statuses.at(-1)).includes('"auth"'))
  })
})

emulatedWith(
  { node: "test" },
  "A10: when another client takes the application, then the first yields, and still ends its calls",
  async (t, emulator, first) => {
    const callId = await first.talkTo(numberOf("011"))
    const second = await Line.up(ari, ariConfig(emulator), "test")
    t.match(await first.status("Down"), { reason: "replaced" })
    await sleep(1_000)
    t.equal(second.statuses.at(-1)?._tag, "Up")
    t.equal(first.statuses.filter(({ _tag }) => _tag === "Up").length, 1)
    await first.hangup(callId)
    t.equal(await first.lookup(callId), "gone")
    await second.close()
  }
)

real("that comes and goes", doomed, (name, asterisk) =>
  t.test(name, { buffered: true }, async (t) => {
    const at = { ...placeOf(asterisk), url: asterisk.ariUrl.replace(/\/ari$/, "") }
    const line = await Line.up(ari, ariConfig(at, { trunk: "loop" }))
    await t.test("when audio ends, then nothing of it is left", (t) => leavesNothing(t, line, at, "105"))
    await t.test("A9: when the events are interrupted, then those of a call that continues are reported again", async (t) => {
      const proxy = await HttpProxy.start(at.url)
      const far = await Line.up(ari, ariConfig(at, { endpoint: proxy.url, trunk: "loop" }))
      const callId = await far.talkTo(numberOf("520"))
      proxy.tcp.cut(({ opening }) => opening.startsWith("GET /ari/events"))
      await until("second connection", () => (far.statuses.filter(({ _tag }) => _tag === "Up").length === 2 ? true : undefined))
      // The end must come from an event, not from the next look at all channels.
      proxy.befall(fates.error(503), ({ path }) => path.startsWith("/ari/channels"))
      await asterisk.ctl("channel request hangup all")
      t.equal(await far.hungUp(callId), "normal_clearing")
      await far.close()
      await proxy.stop()
    })
    await t.test("when it has no websocket channel, then audio runs over RTP", async (t) => {
      await asterisk.ctl("module unload chan_websocket.so")
      const to = numberOf("710")
      const callId = await line.talkTo(to)
      const { heard } = await line.withMedia(callId, (stream) => exchange(stream, 2))
      await line.hangup(callId)
      await line.event(callId, "HungUp")
      await asterisk.ctl("module load chan_websocket.so")
      t.ok(clearest(heard, 440) > 0.9)
      t.ok(clearest(await recording(`${asterisk.runFolder}/heard/${to.slice(1)}.wav`), 1_000) > 0.9)
      await untilNothingIsLeft(at)
    })
    await t.test("when it is killed, then its calls are lost once it is back", async (t) => {
      const calls = [await line.talkTo(numberOf("520")), (await line.originate(numberOf("300"))).callId]
      await asterisk.crash()
      t.match(await line.status("Down"), { reason: "unreachable" })
      t.match((await line.originate(numberOf("520"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
      const ends = calls.flatMap((callId) => line.events(callId)).filter(({ _tag }) => _tag === "HungUp")
      t.strictSame(ends, [])
      await asterisk.restart()
      for (const callId of calls) t.equal(await line.hungUp(callId, 30_000), "trunk_lost")
      t.equal(await line.hungUp((await line.originate(numberOf("200"))).callId), "user_busy")
    })
    await line.close()
  })
)
