/** An engine that is asked to stop during calls: the standby dials at once, and the calls end where they are. Judged by the callees' log. */
import { connect, createServer, type Socket } from "node:net"
import t, { type Test } from "tap"
import { type EngineProcess, wrote } from "#test/support/EngineProcess.ts"
import { attemptsOf, judge, numbersOf, placedBy, untilTrue, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { hungUpByUs, recordsOfHungUp } from "#test/support/rivals.ts"
import { callsIn, deafIn } from "./deaf.ts"
import { another, sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 3

const cap = 6

const shared = async (t: Test) => ({
  DRAIN: "600",
  ...(await sharing(t)),
  ORG_CONCURRENCY: "50",
  RING_TIMEOUT: "300"
})

const open = async (t: Test) =>
  World.open(t, { emulator: { media: false, ringMillis: 200, seed: 7, talkMillis: 500 }, environment: await shared(t) })

/** A campaign with calls up to its cap, whose callees talk until they may hang up. */
const openTalking = async (t: Test) => {
  const world = await open(t)
  const { id } = await world.campaign(numbersOf(30, ["01"]), { max_concurrency: cap })
  world.emulator.letTalk(true)
  await world.api.start(id)
  await untilTrue("calls up to the cap", () => world.emulator.live() === cap)
  return { id, world }
}

/** Another engine on the same database, which stands by. */
const standby = async (t: Test, world: World, environment: Readonly<Record<string, string>> = {}): Promise<EngineProcess> => {
  const engine = await another(t, world, { NODE_NAME: "second", TAKEOVER_AFTER: "300", ...environment })
  await wrote(engine, "stands by")
  return engine
}

/** The dials of attempts that were begun by the engine of this name. */
const dialsOf = async ({ emulator, sql }: World, node: string) => {
  const begun = new Set((await sql<Array<{ id: string }>>`SELECT id FROM attempts WHERE node = ${node}`).map(({ id }) => id))
  return emulator.log.entries.filter(({ channelId, kind }) => kind === "originate" && begun.has(channelId))
}

t.test("given calls that are up, when their engine is asked to stop", { buffered: true }, async (t) => {
  const world = await open(t)
  const { emulator, engine: old, sql } = world
  const { id } = await world.campaign(numbersOf(60, ["01", "02"]), {
    max_concurrency: cap,
    retry: { maxRetries: 1, retryDelaySeconds: 1, retryOnBusy: true }
  })
  emulator.letRing(true)
  await world.api.start(id)
  await untilTrue("calls up to the cap", () => emulator.live() === cap)
  const next = await standby(t, world)
  old.kill("SIGTERM")
  world.become({ ...next, url: await next.ready })
  t.equal(emulator.live(), cap, "then the other one dials in its place while they are up")

  const other = await world.api.createCampaign(world.agentId, numbersOf(20, ["01"], "+1556"), { max_concurrency: 3 })
  await world.api.start(other.id)
  await untilTrue("dials of the other one", async () => (await dialsOf(world, "second")).length === 3)
  t.equal(emulator.live(), cap + 3, "for campaigns with room for calls")
  const [row] = await sql`SELECT count(*)::int AS live FROM attempts WHERE campaign_id = ${id} AND state IN ('sent', 'answered')`
  t.equal(row?.["live"], cap, "but not above the cap of one whose calls are up elsewhere")

  emulator.letRing(false)
  t.equal((await old.exited).code, 0, "then the engine that was asked to stop exits cleanly")
  await world.api.untilState(id, "completed")
  await world.api.untilState(other.id, "completed")
  t.strictSame(await recordsOfHungUp(world), [], "and no call was hung up by us")
  t.ok(emulator.log.mostLive() <= cap + 3, "nor any above the caps")
  await judge(t, world, id, cap + 3)
  const attempts = await attemptsOf(sql, id)
  const unknown = attempts.filter(({ outcome, state }) => state !== "void" && (outcome === "unknown" || outcome === "error"))
  t.strictSame(unknown, [], "what became of each is known")
  t.ok((await dialsOf(world, "journey")).length >= cap)
  t.strictSame([...(await sql`SELECT node FROM leaving_engines`)], [], "and nothing of the old one is left")
})

t.test("given an engine that is leaving, when it is killed", { buffered: true }, async (t) => {
  const { id, world } = await openTalking(t)
  const { emulator, engine: old } = world
  const next = await standby(t, world)
  old.kill("SIGTERM")
  world.become({ ...next, url: await next.ready })
  old.kill("SIGKILL")
  await untilTrue("ends of its calls", () => hungUpByUs(world).length === cap)
  emulator.letTalk(false)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  await wrote(next, "have left behind is settled")
})

t.test("given an engine that is leaving, when one of its name stands by, then that waits for the calls", { buffered: true }, async (t) => {
  const { id, world } = await openTalking(t)
  const { emulator, engine: old } = world
  const next = await standby(t, world, { NODE_NAME: "journey" })
  old.kill("SIGTERM")
  await untilTrue("word of it", async () => (await world.sql`SELECT 1 FROM leaving_engines`).length === 1)
  const before = emulator.log.entries.length
  emulator.letTalk(false)
  t.equal((await old.exited).code, 0)
  world.become({ ...next, url: await next.ready })
  await world.api.untilState(id, "completed")
  const kinds = emulator.log.entries.slice(before).map(({ kind }) => kind)
  const first = kinds.slice(0, kinds.indexOf("originate")).filter((kind) => kind === "ended")
  t.equal(first.length, cap, "and dials nothing before they are over")
  t.strictSame(await recordsOfHungUp(world), [])
  await judge(t, world, id, cap)
})

/** Phones ring, and an engine that took their calls over from one that was killed has been asked to stop. A third one dials in its place. */
const openTakenOver = async (t: Test) => {
  const world = await open(t)
  const { emulator, engine: first } = world
  const { id } = await world.campaign(numbersOf(cap + 2, ["01"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
  emulator.letRing(true)
  emulator.letTalk(true)
  await world.api.start(id)
  await untilTrue("calls up to the cap", () => emulator.live() === cap)
  // Of the same name, since an engine of another one hangs up what rings at Asterisk.
  const leaving = await standby(t, world, { NODE_NAME: "journey" })
  first.kill("SIGKILL")
  world.become({ ...leaving, url: await leaving.ready })
  const next = await standby(t, world, { NODE_NAME: "third" })
  leaving.kill("SIGTERM")
  world.become({ ...next, url: await next.ready })
  return { id, leaving, world }
}

t.test("given calls that an engine took over from one that was killed, when it is asked to stop itself", { buffered: true }, async (t) => {
  const { id, leaving, world } = await openTakenOver(t)
  const { emulator, sql } = world
  t.equal(emulator.live(), cap, "then the third one lets them ring")
  emulator.letRing(false)
  await untilTrue("their answers", () => emulator.log.entries.filter(({ kind }) => kind === "answered").length === cap)
  emulator.letTalk(false)
  t.equal((await leaving.exited).code, 0, "and the second one exits once they are over")
  await world.api.untilState(id, "completed")
  t.strictSame(await recordsOfHungUp(world), [], "no call was hung up by us")
  const outcomes = (await placedBy(sql, id)).map(({ outcome }) => outcome)
  t.strictSame([...new Set(outcomes)], ["answered"], "and what became of each is known")
  await judge(t, world, id, cap)
})

t.test("given such calls, when the engine that is leaving is killed too, then the third one ends them", { buffered: true }, async (t) => {
  const { id, leaving, world } = await openTakenOver(t)
  const { emulator } = world
  t.equal(emulator.live(), cap)
  leaving.kill("SIGKILL")
  await untilTrue("ends of these calls", () => hungUpByUs(world).length === cap)
  emulator.letRing(false)
  emulator.letTalk(false)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
})

/** The address that carriers call. It leads to an engine that listens: to the first one for as long as that does. */
const frontOf = async (t: Test, ports: ReadonlyArray<number>): Promise<number> => {
  const port = await freePort()
  const open = new Set<Socket>()
  const lead = (client: Socket, [first, ...others]: ReadonlyArray<number>): void => {
    if (first === undefined) return void client.destroy()
    const engine = connect(first, "127.0.0.1")
    open.add(engine)
    const next = () => lead(client, others)
    engine.once("error", next)
    engine.once("connect", () => {
      engine.off("error", next)
      engine.on("error", () => client.destroy())
      client.pipe(engine).pipe(client)
    })
    client.once("close", () => engine.destroy())
  }
  const front = createServer((client) => {
    open.add(client)
    client.on("error", () => {})
    lead(client, ports)
  })
  await new Promise<void>((resolve) => front.listen(port, "127.0.0.1", resolve))
  t.teardown(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => front.close(resolve))
  })
  return port
}

const speaking = ["Twilio", "Vonage"]

for (const name of variantsOfRun(speaking, 1)) {
  t.test(`given ringing calls through ${name}, when their engine is asked to stop`, { buffered: true }, async (t) => {
    const carrier = await (carriers[name] ?? (() => Promise.reject(new Error(name))))(t, { ringMillis: 100, talkMillis: 20_000 })
    const [port, otherPort] = [await freePort(), await freePort()]
    const front = await frontOf(t, [port, otherPort])
    const environment = { ...(await shared(t)), PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${front}` }
    const world = await openThrough(t, carrier, { environment, greeting: "Hello there, and good morning to all of you." })
    const { engine: old, sql } = world
    const { lives, log } = carrier
    const { id } = await world.campaign(numbersOf(cap + 2, ["01"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
    lives.letRing(true)
    await world.api.start(id)
    await untilTrue("calls up to the cap", () => log.live() === cap)
    const ringing = new Set(callsIn(log))
    const next = await standby(t, world, { PORT: String(otherPort) })
    old.kill("SIGTERM")
    world.become({ ...next, url: await next.ready })
    lives.letRing(false)
    t.equal((await old.exited).code, 0, "then it exits when its calls have ended")
    const ends = log.entries.filter(({ channelId, kind }) => kind === "ended" && ringing.has(channelId))
    t.strictSame([...new Set(ends.map(({ by }) => by))], ["callee"], "which nobody has cut off")
    await world.api.untilState(id, "completed")
    const attempts = await attemptsOf(sql, id)
    t.strictSame([...new Set(attempts.map(({ outcome }) => outcome))], ["answered"], "all of them, and those after them, were answered")
    t.strictSame(deafIn(log, ringing), [], "and the callees of the one that was asked heard the agent")
    t.ok(log.mostLive() <= cap, "no call above the cap")
  })
}
