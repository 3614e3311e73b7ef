/**
 * Two processes on one database: a rolling restart, a mistake in a configuration, a process that was frozen and wakes up. Whatever they do,
 * the callees hear from one of them at a time.
 */
import t, { type Test } from "tap"
import { type EngineProcess, spawnEngine } from "#test/support/EngineProcess.ts"
import { nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"

t.setTimeout(300_000)
// Most of each story is waiting.
t.jobs = 4

const cap = 4

const given = async (t: Test, environment: Readonly<Record<string, string>> = {}) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 200, seed: 5, talkMillis: 3000 },
    environment: { DRAIN: "0", ORG_CONCURRENCY: "50", RECORDINGS: "off", ...environment }
  })
  const { id } = await world.campaign(numbersOf(200, ["01"]), { max_concurrency: cap })
  return { id, world }
}

/** Another engine on the same database, ended with the test. */
const another = (t: Test, world: World, environment: Readonly<Record<string, string>> = {}): EngineProcess => {
  const engine = spawnEngine({ ...world.environment, ...environment })
  t.teardown(async () => {
    engine.kill("SIGCONT")
    engine.kill("SIGKILL")
    await engine.exited
  })
  return engine
}

/** Originates since a moment of the log's clock, by the node that asked for them. */
const originatesSince = (world: World, at: number) =>
  world.emulator.log.entries.filter((entry) => entry.kind === "originate" && entry.at >= at)

for (const [what, NODE_NAME] of [
  ["the same name", "journey"],
  ["another name", "second"]
] as const) {
  t.test(`given an engine that dials, when another one of ${what} is started and the first one stays`, { buffered: true }, async (t) => {
    const { id, world } = await given(t)
    await world.api.start(id)
    await world.seen("answered", cap, 60_000)
    const refusal = await another(t, world, { NODE_NAME }).ready.then(
      () => "it became ready",
      (error: Error) => error.message
    )
    t.match(refusal, /engine journey \(process \d+ on \S+, since \S+\)/, "then it refuses, and names the first one")
    t.match(refusal, /One engine uses a database and schema at a time/)
    t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
    t.strictSame(
      world.emulator.log.entries.filter(({ kind, by }) => kind === "ended" && by === "us"),
      [],
      "and no conversation is hung up by us"
    )
  })
}

t.test("given calls that are up, when a new version is started before the old one ends", { buffered: true }, async (t) => {
  const { id, world } = await given(t, { DRAIN: "10" })
  await world.api.start(id)
  await world.seen("answered", cap, 60_000)
  const next = another(t, world)
  await world.seen("answered", 3 * cap, 60_000)
  const old = world.engine
  const stopped = nowMillis()
  old.kill("SIGTERM")
  await next.ready
  t.equal((await old.exited).code, 0, "then the old one ends in order")
  await untilTrue("dials of the new one", () => originatesSince(world, stopped + 12_000).length > 0, 60_000)
  t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
  next.kill("SIGKILL")
  await next.exited
})
