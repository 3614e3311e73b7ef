/**
 * Two processes on one database: a rolling restart, a misconfiguration, a process that was frozen and wakes up. Whatever they do, the callees
 * are called by only one of them at a time.
 */
import t, { type Test } from "tap"
import { type EngineProcess, type Environment, wrote } from "#test/support/EngineProcess.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { attemptsOf, nowMillis, untilTrue, type World } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { launchBehindProxy } from "#test/support/neverLeft.ts"
import type { TcpProxy } from "#test/support/TcpProxy.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { cap, recordsOfHungUp, longCampaign, originatesSince } from "#test/support/rivals.ts"
import { another, sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 4

/** By default, a first engine whose heartbeat is late because the machine is busy must not be replaced. */
const beside = (t: Test, world: World, environment: Environment = {}): Promise<EngineProcess> =>
  another(t, world, { DATA_DIR: world.dataDir, TAKEOVER_AFTER: "60", ...environment })

for (const where of variantsOfRun(["the same folder", "a folder of its own"], 1)) {
  t.test(`given an engine that dials, when another one stands by in ${where} and the first one dies`, { buffered: true }, async (t) => {
    const isApart = where !== "the same folder"
    const shared: Environment = isApart ? await sharing(t) : {}
    const { id, world } = await longCampaign(t, shared)
    await world.api.start(id)
    await world.seen("answered", cap)
    const next = await beside(t, world, { ...shared, ...(isApart ? { DATA_DIR: temporaryFolder(t), NODE_NAME: "second" } : {}) })
    await wrote(next, "stands by")
    await wrote(next, /engine journey \(process \d+ on \S+, since \S+\)/)
    await world.seen("answered", world.emulator.log.count("answered") + 2 * cap)
    t.notOk(next.output().includes("is ready"), "for as long as that one lives")
    t.strictSame(await recordsOfHungUp(world), [], "and no conversation is hung up by us")
    const killed = nowMillis()
    world.engine.kill("SIGKILL")
    const url = await next.ready
    t.match(await (await fetch(`${url}/metrics`)).text(), /^\w*engine_took_over 1$/m, "then its metrics say that it took over")
    await untilTrue("dials of it", () => originatesSince(world, killed).length > cap)
    const dials = originatesSince(world, 0).map(({ channelId }) => channelId)
    t.equal(new Set(dials).size, dials.length, "and no attempt is dialed twice")
    t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
  })
}

t.test("given an engine that is frozen, when another one has taken its place and it wakes up", { buffered: true }, async (t) => {
  const { id, world } = await longCampaign(t)
  await world.api.start(id)
  await world.seen("answered", cap)
  const old = world.engine
  old.kill("SIGSTOP")
  const next = await beside(t, world, { NODE_NAME: "second", TAKEOVER_AFTER: "2.5" })
  await next.ready
  const { entries } = world.emulator.log
  await untilTrue("dials of the other one", () => originatesSince(world, nowMillis() - 1000).length > 0)
  const ours = new Set((await attemptsOf(world.sql, id)).map((attempt) => attempt.id))
  const woken = nowMillis()
  old.kill("SIGCONT")
  t.equal((await old.exited).code, 1, "then it exits by itself")
  t.match(old.output(), /the engine second \(process \d+ on \S+, since \S+\) has taken its place/, "and names the other")
  const nodes = await world.sql<
    Array<{ id: string }>
  >`SELECT id FROM attempts WHERE node = 'journey' AND created_at > to_timestamp(${woken / 1000})`
  t.strictSame([...nodes], [], "it claims nothing any more")
  const dialed = entries.filter(({ at, kind }) => kind === "originate" && at >= woken).map(({ channelId }) => channelId)
  const second = await world.sql<Array<{ id: string }>>`SELECT id FROM attempts WHERE node = 'second'`
  const theirs = new Set(second.map((attempt) => attempt.id))
  const strays = dialed.filter((channelId) => !theirs.has(channelId))
  t.strictSame(strays, [], "and nothing of it leaves")
  t.ok(ours.size > 0)
  const dials = entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId)
  t.equal(new Set(dials).size, dials.length, "no attempt was dialed twice")
  next.kill("SIGKILL")
  await next.exited
  const killed = nowMillis()
  const third = await beside(t, world, { NODE_NAME: "third" })
  await third.ready
  await untilTrue("dials of the one after it", () => originatesSince(world, killed).length > 0)
  t.notMatch(third.output(), /had no owner/, "and the first one has not taken the campaign with it")
  t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
})

t.test("given an engine whose connections to the database are cut, when no new one can be made", { buffered: true }, async (t) => {
  const { id, world } = await longCampaign(t)
  const { tcp } = await launchBehindProxy(t, world)
  await world.api.start(id)
  await world.seen("answered", cap)
  const [cut, lateness] = [nowMillis(), watchLateness()]
  await tcp.refuse(true)
  tcp.cut()
  await new Promise((resolve) => setTimeout(resolve, 8000))
  t.strictSame(originatesSince(world, cut + lateness.allow(2000)), [], "then nothing leaves after two seconds")
  await tcp.refuse(false)
  const back = nowMillis()
  await untilTrue("dials", () => originatesSince(world, back).length > 0)
  t.ok(world.emulator.log.mostLive() <= cap, "then it continues when it has its lock again")
})

/** Runs `act` during a claim of contacts, whose reply is then lost with its connection. */
const duringClaim = ({ sql }: World, act: () => void) =>
  sql.begin(async (held) => {
    await held`LOCK TABLE attempts IN SHARE ROW EXCLUSIVE MODE`
    await untilTrue("claim that waits", async () => {
      const waiting = await sql`
        SELECT 1 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%WITH owned AS MATERIALIZED%'`
      return waiting.length > 0
    })
    act()
  })

const hangs: ReadonlyArray<readonly [what: string, freeze: (tcp: TcpProxy) => Promise<void>]> = [
  ["and new ones work", async () => {}],
  [
    "and the first new ones hang as well",
    async (tcp) => {
      const before = tcp.connections()
      tcp.freezeAll()
      await untilTrue("a new connection that gets no answer", () => tcp.connections() > before)
      tcp.spareNew()
    }
  ]
]
for (const [what, goOn] of variantsOfRun(hangs, 1)) {
  t.test(`given an engine that dials, when its open connections to the database hang, ${what}`, { buffered: true }, async (t) => {
    const { id, world } = await longCampaign(t)
    const { tcp } = await launchBehindProxy(t, world)
    await world.api.start(id)
    await duringClaim(world, () => tcp.freeze())
    await goOn(tcp)
    const [spared, lateness] = [nowMillis(), watchLateness()]
    const dials = () => originatesSince(world, spared + 3000)
    await untilTrue("dials on other connections", () => dials().length >= 5 * cap)
    const millis = Math.round((dials()[0]?.at ?? Number.POSITIVE_INFINITY) - spared)
    t.ok(millis < lateness.allow(30_000), `then it dials again in seconds: ${millis} ms`)
    t.ok(world.emulator.log.mostLive() <= cap)
  })
}
