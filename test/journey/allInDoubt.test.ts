/** Calls in doubt hold every slot: nothing can be dialed until it is certain that they will not appear. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import t, { type Test } from "tap"
import { attemptsOf, contactStates, eventsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"

const cap = 2
const ringTimeoutSeconds = 15
/** Asterisk may still place a call for so long after its request. */
const mayRingMillis = (ringTimeoutSeconds + 30) * 1000

/** A campaign that may have two calls, and an Asterisk that never gets the requests of its first two. */
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

const thenItGoesOn = async (t: Test, world: World, id: number) => {
  // By time alone they are ruled out after ten minutes.
  const done = await world.api.untilState(id, "completed", 240_000)
  t.equal(world.emulator.log.dialsByNumber().size, 8 - cap, "everybody else was called")
  const originates = world.emulator.log.entries.filter(({ kind }) => kind === "originate")
  t.equal(originates.length, 8 - cap, "and nobody for the sake of certainty")
  await judge(t, world, id, cap)
  return done
}

t.test("given a campaign whose calls are all in doubt, when the engine is killed meanwhile, then it goes on within minutes", async (t) => {
  const { id, world } = await givenAllInDoubt(t)
  await untilTrue("both written off", async () => (await contactStates(world.sql, id))["failed"] === cap, 120_000)
  await world.end("SIGKILL")
  await world.launch()
  const done = await thenItGoesOn(t, world, id)
  t.ok(eventsOf(done)["waiting_for_capacity"], "its log says what it waited for")
})

/** The engine is killed while nobody can say whether its requests were heard. */
const givenKilledUnanswered = async (t: Test) => {
  const scene = await givenAllInDoubt(t)
  await untilTrue("requests without an answer", () => scene.swallowed().length === cap)
  await scene.world.end("SIGKILL")
  return scene
}

t.test("given an engine that is killed before any answer", async (t) => {
  t.test("when it comes back without its journal, then its requests may have left, and are not sent again", async (t) => {
    const { id, world } = await givenKilledUnanswered(t)
    await rm(join(world.dataDir, "journal"), { recursive: true })
    await world.launch()
    await thenItGoesOn(t, world, id)
    const attempts = await attemptsOf(world.sql, id)
    t.equal(attempts.filter(({ outcome }) => outcome === "unknown").length, cap, "what became of them is not known")
  })
  t.test("when it comes back with its clock an hour slow, then it goes on within minutes as well", async (t) => {
    const { id, world } = await givenKilledUnanswered(t)
    await world.launch({ CLOCK_AHEAD: "-3600000" })
    await thenItGoesOn(t, world, id)
  })
  t.test("when its clock is an hour fast, then nobody else is called while these phones may still ring", async (t) => {
    const { id, swallowed, world } = await givenKilledUnanswered(t)
    await world.launch({ CLOCK_AHEAD: "3600000" })
    await thenItGoesOn(t, world, id)
    const next = Math.min(...world.emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ at }) => at))
    const left = Math.min(...swallowed().map(({ at }) => at))
    t.ok(next - left >= mayRingMillis, `the next phone rang ${Math.round((next - left) / 1000)} s later`)
  })
})
