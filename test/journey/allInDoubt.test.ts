/** Calls in doubt hold every slot: nothing can be dialed until it is certain that they will not appear. */
import t from "tap"
import { contactStates, eventsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"

const cap = 2

t.test("given a campaign whose calls are all in doubt, when the engine is killed meanwhile, then it goes on within minutes", async (t) => {
  let proxy: HttpProxy | undefined
  t.teardown(() => proxy?.stop())
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis: 600 },
    environment: { RECORDINGS: "off", RING_TIMEOUT: "15" },
    ways: { asterisk: async (url) => (proxy = await HttpProxy.start(url)).url }
  })
  const { emulator, sql } = world
  proxy?.befall(fates.swallow, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), cap)
  const { id } = await world.campaign(numbersOf(8, ["01"]), { circuit_breaker: { enabled: false }, max_concurrency: cap })
  await world.api.start(id)
  await untilTrue("both written off", async () => (await contactStates(sql, id))["failed"] === cap, 120_000)
  await world.end("SIGKILL")
  await world.launch()
  // By time alone they are ruled out after ten minutes.
  const done = await world.api.untilState(id, "completed", 240_000)
  t.ok(eventsOf(done)["waiting_for_capacity"], "its log says what it waited for")
  t.equal(emulator.log.dialsByNumber().size, 8 - cap, "everybody else was called")
  t.equal(emulator.log.entries.filter(({ kind }) => kind === "originate").length, 8 - cap, "and nobody for the sake of certainty")
  await judge(t, world, id, cap)
})
