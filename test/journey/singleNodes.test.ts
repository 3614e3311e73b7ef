/** Single calls that call nodes carry: the client of the API notices nothing. Judged by the callees' log and the API. */
import { setTimeout as wait } from "node:timers/promises"
import t, { type Test } from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { nowMillis, untilTrue, World } from "#test/support/engine.ts"
import type { Environment } from "#test/support/EngineProcess.ts"
import { hungUpByUs, recordsOfHungUp } from "#test/support/rivals.ts"
import { placeAll } from "#test/support/singleCalls.ts"
import { sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const open = async (t: Test, environment: Environment = {}) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 100, seed: 5, talkMillis: 500 },
    environment: { ...(await sharing(t)), ORG_CONCURRENCY: "50", ...environment }
  })
  return { node: await startCallNode(t, world), world }
}

/** A call waits for ten seconds until it may leave. */
const waitMillis = 9000

const numberOf = (index: number, ending = "01") => `+1555123${String(index).padStart(4, "0")}${ending}`
const numbersOf = (count: number, ending?: string) => Array.from({ length: count }, (_, index) => numberOf(index, ending))

/** Without those that were refused because nothing had left in time: they are placed again. */
const attempts = async ({ sql }: World) => [
  ...(await sql<Array<{ node: string; outcome: string | null; isRunOver: boolean }>>`
    SELECT a.node, a.outcome, r.is_completed AS "isRunOver" FROM attempts a JOIN runs r ON r.attempt_id = a.id
    WHERE a.campaign_id IS NULL AND a.hangup_cause IS DISTINCT FROM 'temporary_failure'`)
]

/**
 * Places calls until the engine and the call node have some each: on a busy machine, the link to the node may just have been lost. Returns how many.
 */
const placeOnBoth = async (world: World, least: number): Promise<number> => {
  let placed = 0
  await untilTrue("calls of either", async () => {
    const numbers = numbersOf(placed === 0 ? least : placed + 1).slice(placed)
    await placeAll(world, numbers)
    placed += numbers.length
    const nodes = new Set((await attempts(world)).map(({ node }) => node))
    return nodes.has("left") && nodes.has("journey")
  })
  return placed
}

t.test("given a call node, when clients place calls", { buffered: true }, async (t) => {
  const { world } = await open(t)
  const { api, emulator } = world
  emulator.letTalk(true)
  const placed = await placeOnBoth(world, 10)
  await untilTrue("calls that are up", () => emulator.log.count("answered") === placed)
  t.equal((await api.call(world.agentUuid, numberOf(0))).status, 409, "and a callee who is in a call is not called again")
  emulator.letTalk(false)
  await untilTrue("ends", async () => (await attempts(world)).every(({ isRunOver }) => isRunOver))
  t.strictSame([...new Set((await attempts(world)).map(({ outcome }) => outcome))], ["answered"], "and its run shows how it ended")
  t.strictSame(await recordsOfHungUp(world), [], "and none is hung up by us")
  await placeAll(world, numbersOf(6, "02"))
  await untilTrue("ends", async () => (await attempts(world)).filter(({ outcome }) => outcome === "busy").length === 6)
  t.equal(emulator.log.dialsByNumber().size, placed + 6, "nobody is called who was not to be")
})

t.test("given single calls on a call node, when the dispatcher is killed, then they go on", { buffered: true }, async (t) => {
  const { node, world } = await open(t)
  const { emulator } = world
  emulator.letTalk(true)
  const placed = await placeOnBoth(world, 8)
  await untilTrue("calls that are up", async () => {
    const [row] = await world.sql<Array<{ up: number }>>`SELECT count(*)::int AS up FROM attempts WHERE state = 'answered'`
    return row?.up === placed
  })
  const its = (await attempts(world)).filter(({ node }) => node === "left").length
  await world.end("SIGKILL")
  world.become({ ...node, url: await node.ready })
  emulator.letTalk(false)
  await untilTrue("ends", async () => (await attempts(world)).every(({ isRunOver }) => isRunOver))
  const known = (await attempts(world)).filter(({ node, outcome }) => node === "left" && outcome === "answered")
  t.equal(known.length, its, "and how they end is known")
  t.equal(emulator.log.count("originate"), placed, "and nobody is called twice")
})

t.test("given single calls, when their call node is killed, then they end and their clients can see it", { buffered: true }, async (t) => {
  const { node, world } = await open(t)
  const { emulator } = world
  emulator.letTalk(true)
  const placed = await placeOnBoth(world, 8)
  await untilTrue("calls that are up", () => emulator.log.count("answered") === placed)
  const its = (await attempts(world)).filter((attempt) => attempt.node === "left").length
  node.kill("SIGKILL")
  await untilTrue("ends of its calls", () => hungUpByUs(world).length === its)
  await untilTrue("their runs", async () => (await attempts(world)).every((attempt) => attempt.node === "journey" || attempt.isRunOver))
  emulator.letTalk(false)
  await untilTrue("ends of the others", async () => (await attempts(world)).every(({ isRunOver }) => isRunOver))
  t.equal(emulator.log.count("originate"), placed, "and nobody is called twice")
})

t.test("given engines that carry three calls with audio each, when clients place eight at once", { buffered: true }, async (t) => {
  const { world } = await open(t, { MAX_LIVE_MEDIA: "3", RECORDINGS: "on" })
  const { api, emulator } = world
  emulator.letTalk(true)
  const replies = await Promise.all(numbersOf(8).map((number) => api.call(world.agentUuid, number)))
  const refused = numbersOf(8).filter((_, index) => replies[index]?.status !== 200)
  t.ok(refused.length >= 2, "then two at least are refused")
  // A busy machine refuses more at first.
  await placeAll(world, refused.slice(2))
  await untilTrue("calls that are up", () => emulator.log.count("answered") === 6)
  const nodes = (await attempts(world)).map(({ node }) => node).toSorted()
  t.strictSame(nodes, ["journey", "journey", "journey", "left", "left", "left"], "three by each of them")
  emulator.letTalk(false)
  await untilTrue("ends", async () => (await attempts(world)).every(({ isRunOver }) => isRunOver))
})

t.test("given a call node that stands still again and again, when clients place calls on it", { buffered: true }, async (t) => {
  const { node, world } = await open(t)
  const { api, emulator } = world
  emulator.letTalk(true)
  const replies = Promise.all(
    numbersOf(20).map(async (number) => {
      const began = nowMillis()
      const { status } = await api.call(world.agentUuid, number)
      return { isPlaced: status === 200, millis: nowMillis() - began, number }
    })
  )
  // Each stop is longer than a permission lives.
  for (const began = nowMillis(); nowMillis() < began + 4000; ) {
    node.kill("SIGSTOP")
    await wait(300)
    node.kill("SIGCONT")
    await node.turned()
    await wait(20)
  }
  const refused = (await replies).filter(({ isPlaced }) => !isPlaced)
  const early = refused.filter(({ millis }) => millis < waitMillis)
  t.strictSame(early, [], "then none is refused early")
  // On a busy machine, a call may wait in vain.
  await placeAll(
    world,
    refused.map(({ number }) => number)
  )
  await untilTrue("calls that are up", () => emulator.log.count("answered") === 20)
  const carriesSome = (await attempts(world)).some((attempt) => attempt.node === "left")
  t.ok(carriesSome, "and the call node carries some")
  emulator.letTalk(false)
  await untilTrue("ends", async () => (await attempts(world)).every(({ isRunOver }) => isRunOver))
  t.equal(emulator.log.count("originate"), 20, "and nobody is called twice")
})
