/** One engine dispatches, others carry the calls: the callees notice nothing, and nothing that the dispatcher keeps is broken when one of them dies. */
import t, { type Test } from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { type Environment, wrote } from "#test/support/EngineProcess.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { attemptsOf, judge, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { leftAfter, momentNow } from "#test/support/leftAt.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { hungUpByUs, originatesSince, recordsOfHungUp } from "#test/support/rivals.ts"
import { another, holdCalls, sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 6

const open = async (t: Test, environment: Environment = {}) =>
  World.open(t, {
    emulator: { ringMillis: 100, seed: 11, talkMillis: 500 },
    environment: {
      ...(await sharing(t)),
      ORG_CONCURRENCY: String(cap),
      ...environment
    }
  })

const attemptsBy = async (world: World, id: number) => {
  const rows = await world.sql<Array<{ node: string; calls: number }>>`
    SELECT node, count(*)::int AS calls FROM attempts WHERE campaign_id = ${id} AND state <> 'void' GROUP BY node`
  return new Map(rows.map(({ calls, node }) => [node, calls]))
}

const untilCarries = (world: World, id: number, name: string, calls: number) =>
  untilTrue(`${calls} calls of ${name}`, async () => ((await attemptsBy(world, id)).get(name) ?? 0) >= calls)

/** Starts a campaign of so many contacts, and returns its id once an engine of that name has had so many of its calls. */
const campaignOn = async (world: World, name: string, calls: number, contacts: number) => {
  const { id } = await world.campaign(numbersOf(contacts, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await untilCarries(world, id, name, calls)
  return id
}

/** The ids of the attempts that an engine had. */
const idsOf = async (world: World, name: string) => {
  const rows = await world.sql<Array<{ id: string }>>`SELECT id FROM attempts WHERE node = ${name}`
  return new Set(rows.map(({ id }) => id))
}

const doubtful = async (world: World, id: number) =>
  (await attemptsOf(world.sql, id)).filter(({ outcome }) => outcome === "unknown" || outcome === "error")

/** The campaign is completed, with every call ended by its callee, and known to be. */
const endsWell = async (t: Test, world: World, id: number) => {
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  t.strictSame(await recordsOfHungUp(world), [], "no conversation is hung up by us")
  t.strictSame(await doubtful(world, id), [], "and what became of each is known")
}

t.test("given two call nodes", { buffered: true }, async (t) => {
  const world = await open(t, { CALL_RATE: "100", ORG_CONCURRENCY: "100" })
  const folders = [temporaryFolder(t), temporaryFolder(t)]
  await Promise.all(folders.map((folder, index) => startCallNode(t, world, ["left", "right"][index] ?? "", { DATA_DIR: folder })))
  const thenItEndsWell = async (t: Test, id: number) => {
    await world.api.untilState(id, "completed")
    await judge(t, world, id, cap)
  }

  await t.test("when a campaign runs, then each engine carries its share, and all ends well", async (t) => {
    const { id } = await world.campaign(numbersOf(60, ["01", "01", "02"]), { max_concurrency: cap })
    await world.api.start(id)
    await thenItEndsWell(t, id)
    const calls = await attemptsBy(world, id)
    for (const name of ["left", "right", "journey"]) t.ok((calls.get(name) ?? 0) >= 10, `${name} carries its share: ${calls.get(name)}`)
    t.strictSame(await recordsOfHungUp(world), [], "and no conversation is hung up by us")
    t.strictSame(await doubtful(world, id), [], "and what became of each is known")
  })

  await t.test("when a campaign runs whose agent says nothing, then each engine has as many calls as the others", async (t) => {
    const { id: agentId } = await world.api.createAgent("")
    // So slowly that each call is claimed by itself.
    const { id } = await world.api.createCampaign(agentId, numbersOf(cap, ["01"], "+1556"), { max_concurrency: cap, rate_limit: 2 })
    await world.api.start(id)
    await holdCalls(world, cap, "journey")
    const calls = await attemptsBy(world, id)
    const shares = ["left", "right", "journey"].map((name) => calls.get(name))
    t.strictSame(shares, [2, 2, 2])
    const engines = await world.api.ask("GET", "/organizations/engines")
    t.match(engines.body, {
      engines: [
        { name: "journey", role: "decider", calls: 2 },
        { name: "left", role: "carrier", calls: 2 },
        { name: "right", role: "carrier", calls: 2 }
      ]
    })
    world.emulator.letTalk(false)
    await thenItEndsWell(t, id)
  })

  await t.test("when a campaign dials at a rate, then no rolling second has more than three requests", async (t) => {
    const { id } = await world.campaign(numbersOf(36, ["01"], "+1557"), { max_concurrency: 50, rate_limit: 3 })
    const [began, lateness] = [nowMillis(), watchLateness()]
    await world.api.start(id)
    await world.api.untilState(id, "completed")
    // The callee may have noticed the earlier of two calls late.
    const least = 990 - lateness.worst()
    const dialed = originatesSince(world, began).map(({ at }) => at)
    const fourths = dialed.slice(3).map((at, index) => at - (dialed[index] ?? 0))
    const tooEarly = fourths.filter((millis) => millis < least)
    t.strictSame(tooEarly, [])
    const seconds = ((dialed.at(-1) ?? 0) - (dialed[0] ?? 0)) / 1000
    t.comment(`the rate is used: ${((dialed.length - 1) / seconds).toFixed(2)} per second`)
  })

  await t.test("when a campaign is paused again and again, then nothing is dialed after a pause is confirmed", async (t) => {
    const { id } = await world.campaign(numbersOf(1500, ["01"], "+1558"), { max_concurrency: 90, rate_limit: 100 })
    await world.api.start(id)
    await untilCarries(world, id, "left", 5)
    await untilCarries(world, id, "right", 5)
    for (let round = 0; round < 5; round++) {
      await world.seen("originate", world.emulator.log.count("originate") + 20)
      await world.api.pause(id)
      const confirmed = await momentNow()
      await untilTrue("calls that have ended", () => world.emulator.live() === 0)
      const late = leftAfter([world.dataDir, ...folders], originatesSince(world, confirmed.at), confirmed)
      t.strictSame(late, [], `round ${round}`)
      await world.api.resume(id)
    }
  })
})

t.test("given call nodes and calls that are up, when one of them is killed", { buffered: true }, async (t) => {
  const world = await open(t)
  const [left] = await Promise.all([startCallNode(t, world, "left"), startCallNode(t, world, "right")])
  const id = await campaignOn(world, "right", 4, 60)
  await holdCalls(world, cap, "left")
  left.kill("SIGKILL")
  await untilTrue("an end of its calls", () => hungUpByUs(world).length > 0)
  const its = await idsOf(world, "left")
  world.emulator.letTalk(false)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  const others = (await recordsOfHungUp(world)).filter((call) => !its.has(call.id))
  t.strictSame(others, [], "then only its calls are hung up")
  const lost = await doubtful(world, id)
  const areItsOwn = lost.every((attempt) => its.has(attempt.id))
  t.ok(areItsOwn, `and only of its calls it is not known how they ended: ${lost.length}`)
  const carried = await attemptsBy(world, id)
  t.ok((carried.get("right") ?? 0) > 10, "and the others go on")
})

t.test("given a call node whose calls ring, when it is killed", { buffered: true }, async (t) => {
  const world = await open(t)
  const node = await startCallNode(t, world, "left")
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: cap })
  world.emulator.letRing(true)
  await world.api.start(id)
  await world.seen("ringing", cap)
  const its = new Set(
    [...(await idsOf(world, "left"))].filter((callId) => world.emulator.log.entries.some(({ channelId }) => channelId === callId))
  )
  t.ok(its.size >= 2, `it has calls: ${its.size}`)
  node.kill("SIGKILL")
  await untilTrue("its calls are over", async () =>
    (await attemptsOf(world.sql, id)).every(({ id: callId, state }) => state === "ended" || !its.has(callId))
  )
  t.same(
    (await attemptsOf(world.sql, id)).filter(({ id: callId }) => its.has(callId)).map(({ outcome }) => outcome),
    [...its].map(() => "error"),
    "then it is known of each that it was placed, and ended with its node"
  )
  const endedOnes = world.emulator.log.entries.filter(({ channelId, kind }) => kind === "ended" && its.has(channelId ?? ""))
  t.equal(endedOnes.length, its.size, "each of them once")
  world.emulator.letRing(false)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
})

t.test("given a call node, when it is frozen until its calls are settled", { buffered: true }, async (t) => {
  const world = await open(t)
  const node = await startCallNode(t, world, "left")
  await campaignOn(world, "left", 4, 200)
  node.kill("SIGSTOP")
  await untilTrue("its calls are settled", async () => (await world.sql`SELECT FROM leaving_engines`).length === 0)
  const woken = nowMillis()
  node.kill("SIGCONT")
  t.equal((await node.exited).code, 1, "then it ends when it wakes up")
  t.match(node.output(), /are settled by the one that dispatches them: start it again/, "and says why")
  const its = await idsOf(world, "left")
  await untilTrue("later dials", () => originatesSince(world, woken).length > cap)
  const late = originatesSince(world, woken).filter(({ channelId }) => its.has(channelId ?? ""))
  t.strictSame(late, [], "and sends nothing any more")
  t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
})

t.test("given call nodes with calls, when the engine that dispatches is killed", { buffered: true }, async (t) => {
  const world = await open(t)
  const node = await startCallNode(t, world, "left")
  const next = await another(t, world, { NODE_NAME: "second", TAKEOVER_AFTER: "300" })
  await wrote(next, "stands by")
  const id = await campaignOn(world, "left", 4, 80)
  await holdCalls(world, cap, "left")
  const its = await idsOf(world, "left")
  // So that the other one takes over.
  node.kill("SIGSTOP")
  world.engine.kill("SIGKILL")
  const url = await next.ready
  node.kill("SIGCONT")
  await untilTrue("the call node's new link", () => next.output().includes("a call node takes calls"))
  world.emulator.letTalk(false)
  world.become({ ...next, url })
  const before = (await attemptsBy(world, id)).get("left") ?? 0
  await untilCarries(world, id, "left", before + 4)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  const hungUp = (await recordsOfHungUp(world)).filter((call) => its.has(call.id))
  t.strictSame(hungUp, [], "then no call of the call node is hung up")
  const unknown = (await doubtful(world, id)).filter((attempt) => its.has(attempt.id))
  t.strictSame(unknown, [], "and what became of them is known")
})

t.test("given call nodes with calls, when the engine that dispatches stands still for a while", { buffered: true }, async (t) => {
  const world = await open(t, { TAKEOVER_AFTER: "300" })
  const node = await startCallNode(t, world, "left")
  const id = await campaignOn(world, "left", 4, 80)
  await holdCalls(world, cap, "left")
  const lost = () => world.output().split("the link to a call node is lost").length
  // On a busy machine it may not have been heard before, either.
  const unheard = () => node.output().split("the dispatcher cannot be heard").length
  const [before, unheardBefore] = [lost(), unheard()]
  world.engine.kill("SIGSTOP")
  await untilTrue("the end of its silence for the call node", () => unheard() > unheardBefore)
  world.engine.kill("SIGCONT")
  world.emulator.letTalk(false)
  await untilTrue("word of the link", () => lost() > before)
  const carried = (await attemptsBy(world, id)).get("left") ?? 0
  await untilCarries(world, id, "left", carried + 4)
  await endsWell(t, world, id)
})

t.test("given a call node that is frozen and loses its link, when it goes on, then it takes calls again", { buffered: true }, async (t) => {
  const world = await open(t, { TAKEOVER_AFTER: "300" })
  const node = await startCallNode(t, world, "left")
  const taken = () => world.output().split("a call node takes calls").length - 1
  node.kill("SIGSTOP")
  await untilTrue("a link that cannot be opened", () => world.output().includes("a call node cannot be reached"))
  node.kill("SIGCONT")
  await untilTrue("a call node that takes calls again", () => taken() >= 2)
  await campaignOn(world, "left", 4, 20)
  t.pass("and carries them")
})

t.test("given a call node with calls that can be heard, when its database cannot", { buffered: true }, async (t) => {
  const world = await open(t)
  const address = new URL(world.environment["DATABASE_URL"] ?? "")
  const proxy = await TcpProxy.start({ host: address.hostname, port: Number(address.port) })
  t.teardown(() => proxy.stop())
  address.port = String(proxy.port)
  const node = await startCallNode(t, world, "left", { DATABASE_URL: address.href })
  const id = await campaignOn(world, "left", 3, 60)
  await holdCalls(world, cap, "left")
  proxy.freezeAll()
  // Several times `TAKEOVER_AFTER`.
  await untilTrue("a long silence, or its end", async () => {
    const [row] = await world.sql<Array<{ silent: boolean }>>`
      SELECT clock_timestamp() - beat_at > interval '8 seconds' AS silent FROM leaving_engines`
    return row?.silent !== false
  })
  t.strictSame(await recordsOfHungUp(world), [], "then its calls go on")
  await wrote(node, "the database cannot be reached, so this engine carries no more calls")
  const carried = (await attemptsBy(world, id)).get("left") ?? 0
  const dialed = world.emulator.log.count("originate")
  world.emulator.letTalk(false)
  await world.seen("originate", dialed + 2 * cap)
  t.equal((await attemptsBy(world, id)).get("left"), carried, "and others carry the next ones")
  proxy.thaw()
  await untilCarries(world, id, "left", carried + 3)
  await endsWell(t, world, id)
})

t.test("given a call node that cannot be reached, when a campaign runs", { buffered: true }, async (t) => {
  const world = await open(t)
  await another(t, world, { NODE_ADDRESS: "127.0.0.2", NODE_NAME: "away" })
  await wrote(world, "a call node cannot be reached")
  const { id } = await world.campaign(numbersOf(10, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  t.strictSame([...(await attemptsBy(world, id))], [["journey", 10]], "then this engine carries all calls")
  t.equal(world.output().split("a call node cannot be reached").length, 2, "and says so once")
})

t.test("given a call node with calls, when it is asked to end", { buffered: true }, async (t) => {
  const world = await open(t, { DRAIN: "600" })
  const node = await startCallNode(t, world, "left")
  const id = await campaignOn(world, "left", 3, 60)
  await holdCalls(world, cap, "left")
  node.kill("SIGTERM")
  await wrote(node, "calls get time to end")
  world.emulator.letTalk(false)
  t.equal((await node.exited).code, 0, "then it ends in order")
  await endsWell(t, world, id)
})
