/** Several Asterisks behind one trunk: through which one a call leaves, where it is looked for, and what its absence proves. */
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { AriPlaces } from "#adapters/ari/AriPlaces.ts"
import { type AriEmulator, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { startTlsFront } from "#test/support/tlsFront.ts"
import { trust } from "#test/support/tlsCertificate.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { refTo } from "#test/support/refTo.ts"
import { checksOf } from "./checksOf.ts"
import { Line, newCallId, numberOf } from "./Line.ts"
import { untilTrue } from "#test/support/until.ts"

t.jobs = 4

const two = async (t: Test) => {
  const options = { media: false, timeScale: 0.2, talkMillis: 40_000 }
  const [one, other] = [await startAriEmulator(options), await startAriEmulator(options)]
  t.teardown(() => Promise.all([one.stop(), other.stop()]))
  return { one, other, config: { ...ariConfig(one), ari_endpoints: [other.url] } }
}
const allUp = (line: Line) =>
  untilTrue("both connected", () => line.trunk.endpoints?.().every(({ status }) => status._tag === "Up") === true)
const open = async (t: Test, config: object, node?: string) => {
  const line = await Line.up(ari, { ...config }, node)
  t.teardown(() => line.close())
  await allUp(line)
  return line
}
const dialsOf = ({ log }: AriEmulator) => log.count("originate")

t.test("given two endpoints, when calls are placed, then they take turns, and permission is asked once for each call", async (t) => {
  const { config, one, other } = await two(t)
  const line = await open(t, config)
  const left: Array<string | undefined> = []
  for (let count = 0; count < 4; count++) {
    const { callId, failure } = await line.originate(numberOf("011"), { leave: (endpoint) => left.push(endpoint) > 0 })
    t.equal(failure, undefined)
    await line.event(callId, "Answered")
    t.equal(await line.lookup(callId), "up")
    await line.hangup(callId)
    t.equal(await line.hungUp(callId), "agent_hangup")
  }
  t.strictSame([dialsOf(one), dialsOf(other)], [2, 2])
  t.strictSame(left, [one.url, other.url, one.url, other.url])
})

t.test("given an endpoint that refuses connections, then its calls leave through the other, and permission is asked once", async (t) => {
  const { one, other } = await two(t)
  const proxy = await TcpProxy.start({ host: "127.0.0.1", port: Number(new URL(one.url).port) })
  t.teardown(() => proxy.stop())
  const way = `http://127.0.0.1:${proxy.port}`
  const line = await open(t, { ...ariConfig(one), ari_endpoint: way, ari_endpoints: [other.url] })
  // Its events continue to arrive.
  await proxy.refuse(true)
  let asked = 0
  const { failure } = await line.originate(numberOf("011"), { leave: (endpoint) => ++asked > 0 && endpoint === other.url })
  t.equal(failure, undefined)
  t.strictSame([asked, dialsOf(one), dialsOf(other)], [1, 0, 1])
  await proxy.refuse(false)
})

t.test("given an endpoint whose handshakes never end, then its calls leave through the other, and never twice", async (t) => {
  trust()
  const { one, other } = await two(t)
  const front = await startTlsFront(one.url)
  t.teardown(() => front.stop())
  const line = await open(t, { ...ariConfig(one), ari_endpoint: front.url, ari_endpoints: [other.url] })
  front.dropIdle()
  front.hold(true)
  const asked: Array<string | undefined> = []
  const dialing = line.originate(numberOf("011"), { leave: (endpoint) => asked.push(endpoint) > 0 })
  await untilTrue("a connection that waits for its handshake", () => front.held() > 0)
  t.equal((await dialing).failure, undefined)
  front.hold(false)
  // A later request shows that nothing was still on its way.
  await line.lookup((await line.originate(numberOf("011"))).callId)
  t.strictSame(asked, [other.url], "then permission is asked once")
  t.equal(front.requests.filter((request) => request === "POST /ari/channels").length, 0)
  t.strictSame([dialsOf(one), dialsOf(other)], [0, 2], "then the first one is left alone for a moment")
})

t.test("given a call that left through one of them", async (t) => {
  const { config, one, other } = await two(t)
  const line = await open(t, config)
  const { callId } = await line.originate(numberOf("011"))
  await line.event(callId, "Answered")
  const before = line.events(callId).length
  const channel = { id: callId, state: "Up" }
  other.say(JSON.stringify({ type: "ChannelDestroyed", channel, cause: 16, timestamp: new Date().toISOString() }))
  other.say(JSON.stringify({ type: "StasisStart", channel, args: [] }))
  const second = await line.originate(numberOf("011"))
  await line.event(second.callId, "Answered")
  t.equal(line.events(callId).length, before, "when another one reports it, then that is not believed")
  await one.refuseConnections(true)
  one.dropSockets()
  await untilTrue("one is down", () => line.trunk.endpoints?.()[0]?.status._tag === "Down")
  t.equal(line.statuses.at(-1)?._tag, "Up", "when its own is down, then the trunk is up")
  t.equal(line.trunk.statusOf?.(callId)._tag, "Down", "then the status for this call is down")
  t.match(await line.lookup(callId).catch((error: unknown) => error), { _tag: "ProviderError" }, "then it is not gone")
  t.match(await line.hangup(callId).catch((error: unknown) => error), { _tag: "ProviderError" }, "then it is not hung up either")
  t.equal(line.trunk.mayAppear?.({ call: refTo(newCallId(), { endpoint: one.url }), ageMillis: 1000, ringTimeoutSeconds: 30 }), true)
  await one.refuseConnections(false)
  await allUp(line)
  t.equal(await line.lookup(callId), "up", "when it is back, then it is found")
  await line.hangup(callId)
  t.equal(await line.hungUp(callId), "agent_hangup")
  t.equal(other.log.live(), 1, "then no other call is hung up")
})

t.test("given calls of an earlier process", async (t) => {
  const { config, one, other } = await two(t)
  const earlier = await open(t, config, "node")
  const [mine, yours] = [await earlier.talkTo(numberOf("011")), await earlier.talkTo(numberOf("011"))]
  await earlier.close()
  const line = await open(t, config, "node")
  const nowhere = newCallId()
  for (const callId of [mine, yours, nowhere]) line.trunk.adopt(refTo(callId))
  t.strictSame(
    [await line.lookup(mine), await line.lookup(yours)],
    ["up", "up"],
    "when it is not known where they left, then they are found"
  )
  t.equal(await line.lookup(nowhere), "gone", "then one is gone if both say so")
  const former = newCallId()
  line.trunk.adopt(refTo(former, { endpoint: "http://pbx.example.com:8088" }))
  t.match(
    await line.lookup(former).catch((error: unknown) => error),
    { _tag: "ProviderError", detail: /no longer names/ },
    "when it left through one that is not configured, then it is not gone"
  )
  t.equal(line.trunk.mayAppear?.({ call: refTo(former), ageMillis: 500_000, ringTimeoutSeconds: 30 }), true)
  await other.refuseConnections(true)
  other.dropSockets()
  await untilTrue("it is down", () => line.trunk.endpoints?.()[1]?.status._tag === "Down")
  t.match(await line.lookup(nowhere).catch((error: unknown) => error), { _tag: "ProviderError" }, "when one is down, then no call is gone")
  const here = newCallId()
  line.trunk.adopt(refTo(here, { endpoint: one.url }))
  t.equal(await line.lookup(here), "gone", "then the other one is believed only about its own calls")
  await line.hangup(mine)
  t.equal(one.log.live(), 0)
  t.equal(other.log.live(), 1, "then a call is hung up where it is")
})

t.test("when a call can no longer appear at the configured Asterisk, then one that left for another may", async (t) => {
  const { one } = await two(t)
  const line = await Line.up(ari, ariConfig(one))
  t.teardown(() => line.close())
  const mayAppear = (endpoint: string) =>
    line.trunk.mayAppear?.({ ageMillis: 300_000, call: refTo(newCallId(), { endpoint }), ringTimeoutSeconds: 1 })
  await untilTrue("it has answered a later request long ago", () => mayAppear(one.url) === false, 120_000)
  t.equal(mayAppear("http://pbx.example.com:8088"), true)
})

t.test("given weights", async (t) => {
  const { one, other } = await two(t)
  const drained = await open(t, { ...ariConfig(one), ari_endpoints: [`${one.url} weight=0`, other.url] })
  for (let count = 0; count < 3; count++) t.equal((await drained.originate(numberOf("011"))).failure, undefined)
  t.strictSame([dialsOf(one), dialsOf(other)], [0, 3], "when one has the weight 0, then it gets no new calls")
  const none = await open(t, { ...ariConfig(one), ari_endpoints: [`${one.url} weight=0`, `${other.url} weight=0`] })
  t.match(
    (await none.originate(numberOf("011"))).failure,
    { reason: "misconfigured", detail: /weight 0/ },
    "when all have it, then the refusal says so"
  )
})

t.test("given a configuration with two endpoints, when it is tested, then each is named", async (t) => {
  const { config, one, other } = await two(t)
  const found = await checksOf(ari, config)
  t.strictSame([found.filter(({ message }) => message.startsWith(`${one.url}: `)).length, found.length], [8, 16])
  t.ok(found.every(({ result }) => result === "passed"))
  await other.refuseConnections(true)
  const later = await checksOf(ari, config)
  const failures = later.filter(({ result }) => result === "failed").map(({ message }) => message)
  t.match(failures, [new RegExp(`^${other.url}: `)])
  t.equal(later.filter(({ result }) => result === "passed").length, 8)
})

t.test("given more calls than are remembered, then the oldest are forgotten first, and those that ended before the others", async (t) => {
  const places = new AriPlaces<string>()
  places.put("live", "a")
  places.put("ended", "b")
  places.ended("ended")
  t.strictSame([places.get("live"), places.get("ended"), places.get("other")], ["a", "b", undefined])
  for (let index = 0; index < 20_000; index++) places.seen(`stranger ${index}`, "c")
  t.strictSame([places.get("live"), places.get("ended")], ["a", undefined])
})
