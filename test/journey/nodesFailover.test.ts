/** A database that fails over and has lost what call nodes did a moment ago: nobody is called twice, and what became of the calls is known. */
import t, { type Test } from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { attemptsOf, numbersOf, recounted, shownCounters, untilTrue, type Witness, World } from "#test/support/engine.ts"
import type { EngineProcess } from "#test/support/EngineProcess.ts"
import { witness } from "#test/support/postgres.ts"
import { ReplicatedPostgres } from "#test/support/ReplicatedPostgres.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { recordsOfHungUp } from "#test/support/rivals.ts"
import { placeAll } from "#test/support/singleCalls.ts"
import { sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 6
const contacts = 40

interface Cluster {
  readonly database: ReplicatedPostgres
  readonly node: EngineProcess
  readonly sql: Witness
  readonly world: World
}

interface Scene extends Cluster {
  readonly id: number
}

/** An engine and a call node, and a standby of their database that has everything so far. */
const open = async (t: Test): Promise<Cluster> => {
  const database = await ReplicatedPostgres.start(t)
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, seed: 3, talkMillis: 1500 },
    environment: { ...(await sharing(t)), DRAIN: "0", ORG_CONCURRENCY: "50" },
    ways: { database: async () => database.url }
  })
  const sql = witness(database.url)
  t.teardown(() => sql.end())
  return { database, node: await startCallNode(t, world), sql, world }
}

/** A campaign with calls on both. */
const openDialing = async (t: Test): Promise<Scene> => {
  const cluster = await open(t)
  const { world } = cluster
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(contacts, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.seen("answered", 8)
  return { ...cluster, id }
}

/** Claims, answers and ends on the call node and on the dispatcher that the standby will not have. */
const losing = async ({ database, sql, world }: Scene) => {
  const { log } = world.emulator
  await database.lag()
  const overOn = async (node: string) => (await sql`SELECT FROM attempts WHERE node = ${node} AND state = 'ended'`).length
  const before = { dialed: log.count("originate"), left: await overOn("left"), here: await overOn("journey") }
  await untilTrue(
    "calls on both that end, and others that begin",
    async () =>
      log.count("originate") >= before.dialed + 10 &&
      (await overOn("left")) >= before.left + 3 &&
      (await overOn("journey")) >= before.here + 2
  )
}

const thenNobodyIsCalledTwice = async (t: Test, { id, sql, world }: Scene) => {
  const { log } = world.emulator
  await world.api.untilState(id, "completed")
  await untilTrue("end of all calls", () => log.live() === 0)
  const twice = [...log.dialsByNumber()].filter(([, dials]) => dials !== 1)
  for (const [number] of twice) {
    t.comment(JSON.stringify(log.of(number)))
    t.comment(JSON.stringify(await sql`SELECT * FROM attempts WHERE campaign_id = ${id} AND phone_number = ${number} ORDER BY id`))
  }
  t.strictSame(twice, [], "then nobody is called twice")
  t.equal(log.dialsByNumber().size, contacts, "and nobody is forgotten")
  t.ok(log.mostLive() <= cap, "no call above the cap")
  t.strictSame(await shownCounters(world.api, id), await recounted(sql, id), "counters are what a recount gives")
}

const thenEachCallIsKnown = async (t: Test, scene: Scene) => {
  await thenNobodyIsCalledTwice(t, scene)
  t.strictSame(await recordsOfHungUp(scene.world), [], "no conversation is hung up by us")
  const unknown = (await attemptsOf(scene.sql, scene.id)).filter(({ outcome, state }) => state !== "void" && outcome !== "answered")
  t.strictSame(unknown, [], "and what became of each call is known")
}

const ways: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "the database fails over to it": ({ database }) => database.failOver(),
  "connections move to it one by one, and that of the lock last": ({ database }) =>
    database.moveOver(({ opening }) => opening.includes(" lock")),
  "the call node stands still while the database fails over": async ({ database, node, world }) => {
    node.kill("SIGSTOP")
    await database.failOver()
    await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
    node.kill("SIGCONT")
  }
}
for (const [what, go] of variantsOfRun(Object.entries(ways), 1)) {
  t.test(`given calls of a call node that are missing from a standby, when ${what}`, { buffered: true }, async (t) => {
    const scene = await openDialing(t)
    await losing(scene)
    await go(scene)
    await thenEachCallIsKnown(t, scene)
  })
}

t.test("given such calls, when the dispatcher dies with the database, and is started again", { buffered: true }, async (t) => {
  const scene = await openDialing(t)
  const { database, node, world } = scene
  await losing(scene)
  // So that it does not take over.
  node.kill("SIGSTOP")
  await world.end("SIGKILL")
  await database.failOver()
  await world.launch()
  node.kill("SIGCONT")
  await thenNobodyIsCalledTwice(t, scene)
})

t.test("given a single call on a call node that is missing from a standby, when the database fails over", { buffered: true }, async (t) => {
  const { database, sql, world } = await open(t)
  const { emulator } = world
  emulator.letTalk(true)
  await database.lag()
  const numbers = numbersOf(6, ["01"], "+1556")
  await placeAll(world, numbers)
  const answered = () => numbers.filter((number) => emulator.log.of(number).some(({ kind }) => kind === "answered"))
  await untilTrue("calls that are up", () => answered().length === numbers.length)
  const singles = async () => [
    ...(await sql<Array<{ id: string; node: string; outcome: string | null }>>`
      SELECT a.id, a.node, a.outcome FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE a.campaign_id IS NULL ORDER BY a.id`)
  ]
  const before = await singles()
  t.ok(before.some(({ node }) => node === "left"))
  await database.failOver()
  await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
  t.strictSame(
    (await singles()).map(({ id, node }) => [id, node]),
    before.map(({ id, node }) => [id, node]),
    "then each keeps its run, and its engine"
  )
  emulator.letTalk(false)
  await untilTrue("their ends", async () => (await singles()).every(({ outcome }) => outcome !== null))
  t.strictSame([...new Set((await singles()).map(({ outcome }) => outcome))], ["answered"], "and what became of them is known")
  t.strictSame(await recordsOfHungUp(world), [], "and none is hung up by us")
})
