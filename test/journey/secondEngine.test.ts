/** A second terminal with the same database: both engines have calls, and either may end. Nothing is set but its name. */
import t, { type Test } from "tap"
import { wrote } from "#test/support/EngineProcess.ts"
import { attemptsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { recordsOfHungUp } from "#test/support/rivals.ts"
import { another, holdCalls, sharing } from "./cluster.ts"

const cap = 6

const carriedBy = async (world: World, name: string): Promise<ReadonlySet<string>> => {
  const rows = await world.sql<Array<{ id: string }>>`SELECT id FROM attempts WHERE node = ${name} AND state <> 'void'`
  return new Set(rows.map(({ id }) => id))
}

const open = async (t: Test) =>
  World.open(t, {
    emulator: { ringMillis: 100, seed: 11, talkMillis: 500 },
    environment: { ...(await sharing(t)), ORG_CONCURRENCY: String(cap) }
  })

t.test("given two engines on one database, when their organization chooses another voice", async (t) => {
  const world = await open(t)
  await another(t, world, { NODE_NAME: "second" })
  await wrote(world, '"node":"second"')
  let campaigns = 0
  for (const voice of ["rms", "awb"]) {
    await world.api.ask("PUT", "/user/configurations/user", { tts: { provider: "flite", voice } })
    const voices = new Map<string, Set<string>>()
    // On a busy machine, the link between the engines may just have been lost, or callees may have hung up before they heard anything.
    await untilTrue("words of both engines", async () => {
      const { id } = await world.campaign(numbersOf(cap, ["01"], `+155${++campaigns}`), { max_concurrency: cap })
      await world.api.start(id)
      await world.api.untilState(id, "completed")
      const runs = await world.sql<Array<{ node: string; usage: { readonly tts?: object } | null }>>`
        SELECT a.node, r.usage_info AS usage FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE a.campaign_id = ${id}`
      for (const { node, usage } of runs)
        for (const used of Object.keys(usage?.tts ?? {})) voices.set(node, (voices.get(node) ?? new Set()).add(used))
      return voices.size === 2
    })
    const own = new Set([`flite#0|||${voice}`])
    t.same(Object.fromEntries(voices), { journey: own, second: own })
  }
})

t.test("given two engines on one database, each with calls, when the one that decides is killed", async (t) => {
  const world = await open(t)
  const second = await another(t, world, { NODE_NAME: "second" })
  await wrote(world, '"node":"second"')
  const { id } = await world.campaign(numbersOf(80, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await holdCalls(world, cap, "journey", "second")
  const [lost, kept] = [await carriedBy(world, "journey"), await carriedBy(world, "second")]
  world.engine.kill("SIGKILL")
  const url = await second.ready
  await untilTrue("an end of the dead engine's calls", async () =>
    (await attemptsOf(world.sql, id)).every(({ id: callId, state }) => state === "ended" || !lost.has(callId))
  )
  const own = (await recordsOfHungUp(world)).map((call) => call.id)
  t.strictSame(
    own.filter((callId) => kept.has(callId)),
    [],
    "then the other one's calls go on"
  )
  t.ok(own.length > 0 && own.every((callId) => lost.has(callId)), "and those of the dead one are hung up")
  world.become({ ...second, url })

  await t.test("and when a third one is started, and the second is asked to end while it has calls", async (t) => {
    const third = await another(t, world, { DRAIN: "600", NODE_NAME: "third" })
    await wrote(world, '"node":"third"')
    await holdCalls(world, cap, "second", "third")
    second.kill("SIGTERM")
    await third.ready
    world.emulator.letTalk(false)
    t.equal((await second.exited).code, 0, "then it ends in order")
    world.become({ ...third, url: await third.ready })
    await world.api.untilState(id, "completed")
    await judge(t, world, id, cap)
    t.strictSame(
      (await recordsOfHungUp(world)).filter((call) => !lost.has(call.id)),
      [],
      "and no other conversation is hung up by us"
    )
    const unclear = (await attemptsOf(world.sql, id)).filter(({ outcome }) => outcome === "unknown" || outcome === "error")
    t.strictSame(
      unclear.filter((call) => !lost.has(call.id)),
      [],
      "and what became of each is known"
    )
  })
})
