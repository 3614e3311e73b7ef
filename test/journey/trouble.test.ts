/** Asterisk refuses us or is away, or the engine itself is stopped. Contacts are not harmed by that. */
import t, { type Test } from "tap"
import { aloud, attemptsOf, judge, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { leftAt } from "#test/support/leftAt.ts"
import { dialsOf, numbersDialed } from "#test/support/neverLeft.ts"

// Most of the time is spent waiting for Asterisk to come back.
t.jobs = 4

const fast = { media: false, ringMillis: 200, talkMillis: 600 }
const environment = { ORG_CONCURRENCY: "50", PACED: "on", RECORDINGS: "off" }

/** A world with a proxy in front of its Asterisk. */
const proxied = async (t: Test, rate: string) => {
  const open = async (url: string) => {
    const proxy = await HttpProxy.start(url)
    t.teardown(() => proxy.stop())
    opened = proxy
    return proxy.url
  }
  let opened: HttpProxy | undefined
  const world = await World.open(t, { emulator: fast, environment: { ...environment, CALL_RATE: rate }, ways: { asterisk: open } })
  if (opened === undefined) throw new Error("the engine was given no proxy")
  return { proxy: opened, world }
}

/** When the engine wrote each originate, by the call's id, whether or not it got any further. */
const writtenBy = ({ written }: HttpProxy) =>
  new Map(
    written.flatMap(({ at, line }) => {
      const id = /^POST \S*[?&]channelId=([^&\s]+)/.exec(line)?.[1]
      return id === undefined ? [] : [[id, at] as const]
    })
  )

// Runs first, because it takes longest.
t.test("given an Asterisk that stays away", { buffered: true }, async (t) => {
  const { proxy, world } = await proxied(t, "10")
  const { api, emulator } = world
  // Enough contacts that most of them are still waiting when Asterisk goes away, however slow the machine.
  const { id } = await world.campaign(numbersOf(200, ["01"]))
  await api.start(id)
  await world.seen("ended", 5)
  await proxy.tcp.refuse(true)
  // Everything that the engine has written by the time it notices is seen by the proxy.
  proxy.tcp.hangUp()
  emulator.crash()
  const gone = nowMillis()
  await world.engine.forward(100_000)
  t.equal((await api.campaign(id)).state, "running", "then it is not paused after 100 s")
  const paused = await api.untilState(id, "paused")
  t.match(paused.logs.at(-1), { event: "telephony_unreachable", level: "error" }, "then it is paused, and says why")
  const written = writtenBy(proxy)
  const dialedSince = dialsOf(world).filter(({ at, channelId }) => at > gone && (written.get(channelId) ?? Number.POSITIVE_INFINITY) > gone)
  t.strictSame(dialedSince, [], "then nothing was dialed in the meantime")
  const before = dialsOf(world).length
  await proxy.tcp.refuse(false)
  t.equal((await api.ask("PATCH", `/campaign/${id}`, { rate_limit: 100 })).status, 200)
  await api.resume(id)
  await api.untilState(id, "completed")
  const attempts = await attemptsOf(world.sql, id)
  const dialed = new Set(dialsOf(world).map(({ number }) => number))
  const unknown = attempts.filter(({ outcome }) => outcome === "unknown")
  // Some may have been written to a connection that was no longer accepted.
  const left = leftAt([world.dataDir])
  const unsent = unknown.filter(({ id }) => !written.has(id) && !left.has(id))
  t.strictSame(unsent, [], "then only requests that had left are in doubt")
  const skipped = attempts.filter(
    ({ outcome, phoneNumber, state }) => state !== "void" && outcome !== "unknown" && !dialed.has(phoneNumber)
  )
  t.strictSame(skipped, [], "then nobody else is skipped after the resume")
  t.ok(dialsOf(world).length > before, "then it continues where it was")
  t.comment(`${unknown.length} in doubt, ${attempts.filter(({ state }) => state === "void").length} undone, ${dialed.size} dialed`)
  await judge(t, world, id, 50)
})

t.test("given a password that is changed in mid-campaign", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment: { ...environment, CALL_RATE: "10" }, greeting: aloud })
  const { api, emulator } = world
  const right = emulator.password
  const { id } = await world.campaign(numbersOf(30, ["01"]))
  await api.start(id)
  await world.seen("originate", 8)
  emulator.setPassword("another one")
  const paused = await api.untilState(id, "paused")
  t.match(paused.logs.at(-1), { event: "telephony_auth_failed" }, "then it is paused, and says why")
  emulator.setPassword(right)
  await api.resume(id)
  await api.untilState(id, "completed")
  t.equal(dialsOf(world).length, 30, "then nobody is skipped, and nobody called twice")
  await judge(t, world, id, 50)
})

t.test("given an Asterisk that dies in mid-campaign and comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment: { ...environment, CALL_RATE: "10" }, greeting: aloud })
  const { api, emulator } = world
  const cap = 6
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: cap })
  await api.start(id)
  await world.seen("answered", 10)
  emulator.letTalk(true)
  await untilTrue("a call that is up", () => emulator.log.live() > 0)
  await emulator.refuseConnections(true)
  const live = new Set<string>()
  for (const { channelId, kind } of emulator.log.entries)
    if (kind === "originate") live.add(channelId)
    else if (kind === "ended") live.delete(channelId)
  emulator.crash()
  emulator.letTalk(false)
  const gone = nowMillis()
  await untilTrue("claims that came to nothing, given back", async () => {
    const attempts = await attemptsOf(world.sql, id)
    return !attempts.some(({ state }) => state === "intent") && attempts.length >= dialsOf(world).length
  })
  const before = dialsOf(world).length
  await emulator.refuseConnections(false)
  const back = nowMillis()
  await api.untilState(id, "completed")
  const meanwhile = dialsOf(world).filter(({ at }) => at > gone && at < back)
  t.strictSame(meanwhile, [], "then nothing is dialed while it is away")
  t.ok(dialsOf(world).length > before, "then it continues by itself")
  const attempts = await attemptsOf(world.sql, id)
  const lost = attempts.filter(({ outcome }) => outcome === "error" || outcome === "unknown").map((attempt) => attempt.id)
  t.ok(live.size > 0, `then calls were up: ${live.size}`)
  const alive = [...live].filter((callId) => !lost.includes(callId))
  t.strictSame(alive, [], "then those calls have failed")
  // A call that had just ended may be lost too, because the event that says so can be lost in the socket. Every lost call held a slot at the
  // crash.
  t.ok(lost.length <= cap, `then only calls of the moment of the crash have failed: ${lost.length}`)
  // A request that was on its way during the crash may or may not have been lost. Nobody knows, so it is not sent again.
  const doubtful = attempts.filter(({ outcome }) => outcome === "unknown").length
  const dialed = new Set(dialsOf(world).map(({ number }) => number)).size
  t.ok(dialed >= 40 - doubtful && dialed <= 40, `then nobody is skipped: ${dialed} were dialed, ${doubtful} perhaps`)
  await judge(t, world, id, cap)
})

t.test("given calls that are up, when the engine is stopped with SIGTERM", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    configurations: { max_call_duration: 300 },
    emulator: { ringMillis: 100, talkMillis: 900 },
    environment: { ...environment, CALL_RATE: "10", DRAIN: "3", RECORDINGS: "on" }
  })
  const {
    api,
    emulator: { log }
  } = world
  const { id } = await world.campaign(numbersOf(40, ["01", "01", "01", "11"]), { max_concurrency: 12 })
  await api.start(id)
  await world.seen("answered", 14)
  const [stoppedAt, lateness] = [nowMillis(), watchLateness()]
  const exited = world.end("SIGTERM")
  // By then no campaign may dial any more, however long a busy engine takes to handle the signal.
  await untilTrue("calls that get time to end", () => world.output().includes("calls get time to end"))
  const quietAt = nowMillis()
  const { code } = await exited
  const seconds = (nowMillis() - stoppedAt) / 1000
  t.equal(code, 0)
  t.ok(seconds > 2.5, `then calls get three seconds to end: ${seconds.toFixed(1)}`)
  const late = dialsOf(world)
    .filter(({ at }) => at > quietAt)
    .map(({ at }) => Math.round(at - quietAt))
  const wereUnderWay = late.every((millis) => millis < lateness.allow(300))
  t.ok(wereUnderWay, `then nothing new is dialed: ${late.join(", ")}`)
  t.equal(log.live(), 0, "then no call is left behind")
  const attempts = await attemptsOf(world.sql, id)
  const unrecorded = attempts.filter(({ state }) => state !== "ended" && state !== "void")
  t.strictSame(unrecorded, [], "then all are recorded")
  const hungUp = new Set(attempts.filter(({ cause }) => cause === "originator_cancel").map(({ phoneNumber }) => phoneNumber.slice(-2)))
  t.strictSame([...hungUp], ["11"], "then only those who would have stayed were hung up on")

  await world.sql`UPDATE agent_definitions SET configurations = '{"max_call_duration": 2}'`
  await world.launch()
  await world.api.untilState(id, "completed")
  t.strictSame(numbersDialed(world), [...numbersOf(40, ["01", "01", "01", "11"])].toSorted(), "then everybody was called once")
  await judge(t, world, id, 12)
})

t.test("given calls that are hung up by a stop, when the provider reports their ends seconds later", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: fast, environment: { ...environment, DRAIN: "0" }, greeting: aloud })
  const { emulator, sql } = world
  const { id } = await world.campaign(numbersOf(4, ["11"]))
  await world.api.start(id)
  await untilTrue("conversations", async () => (await attemptsOf(sql, id)).filter(({ state }) => state === "answered").length === 4)
  emulator.delayEvents(6500)
  const { code } = await world.end("SIGTERM")
  t.equal(code, 0)
  const ends = (await attemptsOf(sql, id)).map(({ cause, outcome, state }) => `${state}: ${outcome}, ${cause}`)
  t.strictSame(ends, new Array<string>(4).fill("ended: answered, originator_cancel"), "then the engine waits for its report")
})
