/** Calls in doubt hold every slot: nothing can be dialed until it is certain that they will not appear. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import t, { type Test } from "tap"
import { attemptsOf, contactStates, eventsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"

// Most of each story is waiting for the moment at which the calls in doubt are ruled out.
t.jobs = 4

const cap = 2
const ringTimeoutSeconds = 15
/** How long after a request Asterisk may still place its call. */
const mayRingMillis = (ringTimeoutSeconds + 30) * 1000
/** By the time that has passed alone, calls are ruled out only ten minutes after their requests. */
const byTimeAloneMillis = 600_000

/** A campaign with a limit of two calls, and an Asterisk that never gets its first two requests. */
const givenAllInDoubt = async (t: Test) => {
  let proxy: HttpProxy | undefined
  t.teardown(() => proxy?.stop())
  const swallowed = () => (proxy?.exchanges ?? []).filter(({ fate }) => fate === fates.swallow.name)
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis: 600 },
    environment: { RECORDINGS: "off", RING_TIMEOUT: String(ringTimeoutSeconds) },
    ways: { asterisk: async (url) => (proxy = await HttpProxy.start(url)).url }
  })
  proxy?.befall(fates.swallow, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), cap)
  const { id } = await world.campaign(numbersOf(8, ["01"]), { circuit_breaker: { enabled: false }, max_concurrency: cap })
  await world.api.start(id)
  return { id, swallowed, world }
}

const firstOf = (seen: ReadonlyArray<{ readonly at: number }>) => Math.min(...seen.map(({ at }) => at))

const thenItGoesOn = async (t: Test, { id, swallowed, world }: Awaited<ReturnType<typeof givenAllInDoubt>>) => {
  const done = await world.api.untilState(id, "completed")
  t.equal(world.emulator.log.dialsByNumber().size, 8 - cap, "everybody else was called")
  const originates = world.emulator.log.entries.filter(({ kind }) => kind === "originate")
  t.equal(originates.length, 8 - cap, "and nobody for the sake of certainty")
  t.ok(firstOf(originates) < firstOf(swallowed()) + byTimeAloneMillis, "and within minutes")
  await judge(t, world, id, cap)
  return done
}

t.test("given calls that are all in doubt, when the engine is killed, then the campaign soon continues", { buffered: true }, async (t) => {
  const scene = await givenAllInDoubt(t)
  const { id, world } = scene
  await untilTrue("both written off", async () => (await contactStates(world.sql, id))["failed"] === cap)
  await world.end("SIGKILL")
  await world.launch()
  const done = await thenItGoesOn(t, scene)
  t.ok(eventsOf(done)["waiting_for_capacity"], "its log says what it waited for")
})

/** Kills the engine while it is unknown whether its requests were received. */
const givenKilledUnanswered = async (t: Test) => {
  const scene = await givenAllInDoubt(t)
  await untilTrue("requests without an answer", () => scene.swallowed().length === cap)
  await scene.world.end("SIGKILL")
  return scene
}

t.test("given an engine that is killed before any answer", { buffered: true }, async (t) => {
  t.jobs = 3
  t.test("when it comes back without its journal, then its requests may have left, and are not repeated", { buffered: true }, async (t) => {
    const scene = await givenKilledUnanswered(t)
    const { id, world } = scene
    await rm(join(world.dataDir, "journal"), { recursive: true })
    await world.launch()
    await thenItGoesOn(t, scene)
    const attempts = await attemptsOf(world.sql, id)
    t.equal(attempts.filter(({ outcome }) => outcome === "unknown").length, cap, "what became of them is not known")
  })
  t.test("when it comes back with its clock an hour slow, then it also continues within minutes", { buffered: true }, async (t) => {
    const scene = await givenKilledUnanswered(t)
    const { world } = scene
    await world.launch({ CLOCK_AHEAD: "-3600000" })
    await thenItGoesOn(t, scene)
  })
  t.test("when its clock is an hour fast, then nobody else is called while these phones may still ring", { buffered: true }, async (t) => {
    const scene = await givenKilledUnanswered(t)
    const { swallowed, world } = scene
    await world.launch({ CLOCK_AHEAD: "3600000" })
    await thenItGoesOn(t, scene)
    const next = firstOf(world.emulator.log.entries.filter(({ kind }) => kind === "originate"))
    const left = firstOf(swallowed())
    t.ok(next - left >= mayRingMillis, `the next phone rang ${Math.round((next - left) / 1000)} s later`)
  })
})
