/** Two engines with calls, and what befalls one of them, their database, or their caps: nothing leaves that must not, and dialing goes on. */
import { randomUUID } from "node:crypto"
import t, { type Test } from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { attemptsOf, judge, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { type EngineProcess, type Environment, wrote } from "#test/support/EngineProcess.ts"
import { freePort } from "#test/support/freePort.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { type PostgresProxy, startPostgresProxy } from "#test/support/PostgresProxy.ts"
import { witness } from "#test/support/postgres.ts"
import { originatesSince, recordsOfHungUp } from "#test/support/rivals.ts"
import { another, sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 3

const cap = 6
/** No engine is taken for dead because it is late on a busy machine. */
const patient = { TAKEOVER_AFTER: "300" }

interface Scene {
  readonly database: PostgresProxy
  readonly id: number
  readonly node: EngineProcess
  readonly nodeUrl: string
  readonly world: World
}

/** The same database for a role that is no superuser, whose connections can be limited. */
const asOrdinary = async (t: Test, url: string): Promise<string> => {
  const sql = witness(url)
  const name = `ordinary_${randomUUID().slice(0, 8)}`
  await sql.unsafe(`CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD 'ordinary' IN ROLE "${new URL(url).username}"`)
  t.teardown(async () => {
    // The engines end before this, and their database is dropped after it.
    await sql.unsafe(`DROP OWNED BY ${name} CASCADE`)
    await sql.unsafe(`DROP ROLE ${name}`)
    await sql.end()
  })
  const address = new URL(url)
  address.username = name
  address.password = "ordinary"
  return address.href
}

/** Both engines have calls of a campaign. `more`: what else the second one is given, which may reach the database at its own address. */
const open = async (t: Test, contacts: number, more: (databaseUrl: string) => Environment = () => ({})): Promise<Scene> => {
  const ways: Array<PostgresProxy> = []
  let ordinary = ""
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 500 },
    environment: { ...(await sharing(t)), ...patient, COMPATIBILITY: "dograh", DRAIN: "600", ORG_CONCURRENCY: "50" },
    ways: {
      database: async (url) => {
        ordinary = await asOrdinary(t, url)
        const proxy = await startPostgresProxy(ordinary)
        ways.push(proxy)
        return proxy.url
      }
    }
  })
  const [database] = ways
  if (database === undefined) throw new Error("the engines were given no proxy")
  t.teardown(() => database.stop())
  const port = await freePort()
  const node = await startCallNode(t, world, "left", { PORT: String(port), ...more(ordinary) })
  const { id } = await world.campaign(numbersOf(contacts, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  const scene = { database, id, node, nodeUrl: `http://127.0.0.1:${port}`, world }
  await untilDials(scene, ["journey", "left"], 2)
  return scene
}

/** The engine that carries each call. */
const carriersOf = async ({ sql }: World) =>
  new Map((await sql<Array<{ id: string; node: string }>>`SELECT id, node FROM attempts`).map(({ id, node }) => [id, node]))

/** Dials of this engine that arrived since a moment. */
const dialsOf = async (world: World, name: string, since: number) => {
  const carriers = await carriersOf(world)
  return originatesSince(world, since).filter(({ channelId }) => carriers.get(channelId) === name)
}

const untilDials = async ({ world }: Pick<Scene, "world">, names: ReadonlyArray<string>, count: number) => {
  const since = nowMillis()
  for (const name of names) await untilTrue(`dials of ${name}`, async () => (await dialsOf(world, name, since)).length >= count)
}

/** `lost`: calls of an engine that was given up. `most`: the highest cap there was. */
const thenAllEndsWell = async (t: Test, { id, world }: Scene, { lost = new Set<string>(), most = cap } = {}) => {
  await world.api.untilState(id, "completed")
  await judge(t, world, id, most)
  const cutOff = (await recordsOfHungUp(world)).filter((call) => !lost.has(call.id))
  t.strictSame(cutOff, [], "no call is cut off")
  const placed = (await attemptsOf(world.sql, id)).filter((call) => call.state !== "void" && !lost.has(call.id))
  const unclear = placed.filter(({ outcome }) => outcome !== "answered")
  t.strictSame(unclear, [], "and what became of each is known")
}

const isReady = async (url: string) => (await fetch(`${url}/api/v1/health/ready`)).status === 200

t.test("given two engines with calls, when the disk of one is full", { buffered: true }, async (t) => {
  const scene = await open(t, 300)
  const { id, node, nodeUrl, world } = scene

  await t.test("of the one that only carries calls, then it dials nothing until there is room, and the other one goes on", async (t) => {
    node.setDisk("full")
    await wrote(node, "the local journal cannot be written")
    const full = nowMillis()
    await untilTrue("an engine that is not ready", async () => !(await isReady(nodeUrl)))
    await untilDials(scene, ["journey"], 3 * cap)
    t.strictSame(await dialsOf(world, "left", full), [])
    await untilTrue("the other one, which is ready", () => isReady(world.engine.url))
    const given = await world.sql`SELECT FROM attempts WHERE node = 'left' AND state = 'void'`
    t.ok(given.length <= 2 * cap, `and it is given no more calls that it cannot dial: ${given.length}`)
    node.setDisk("free")
    await untilDials(scene, ["left"], 2)
    await untilTrue("an engine that is ready again", () => isReady(nodeUrl))
  })

  await t.test("of the one that decides, then another one decides, and its calls go on", async (t) => {
    const { engine: old, emulator } = world
    emulator.letTalk(true)
    await untilTrue("calls up to the cap", () => emulator.live() === cap)
    old.setDisk("full")
    await old.turned()
    // It learns of its disk from the next call that it would dial itself.
    t.equal((await world.api.ask("PATCH", `/campaign/${id}`, { max_concurrency: 2 * cap })).status, 200)
    await wrote(old, "the local journal cannot be written")
    const [full, held] = [nowMillis(), emulator.live()]
    world.become({ ...node, url: await node.ready })
    t.ok(held > 0 && emulator.live() >= held, `while they are up: ${held}`)
    emulator.letTalk(false)
    await untilDials(scene, ["left"], 2 * cap)
    t.strictSame(await dialsOf(world, "journey", full), [], "the one whose disk is full dials nothing")
    t.equal((await old.exited).code, 1, "and ends once its calls are over")
    t.match(old.output(), /cannot write its journal/, "and says why")
    // However long its start takes, somebody is left to be called.
    emulator.letTalk(true)
    await startCallNode(t, world, "journey", { DATA_DIR: world.dataDir })
    emulator.letTalk(false)
    await untilDials(scene, ["journey", "left"], 2)
    await thenAllEndsWell(t, scene, { most: 2 * cap })
  })
})

t.test("given two engines with calls up to a cap", { buffered: true }, async (t) => {
  const scene = await open(t, 200, (databaseUrl) => ({ DATABASE_URL: databaseUrl, TAKEOVER_AFTER: "10" }))
  const { database, id, node, world } = scene
  const namesake = await another(t, world, { NODE_NAME: "left" })
  const { api, emulator } = world
  const lowered = 2
  const ways = {
    "the campaign's": [
      () => api.ask("PATCH", `/campaign/${id}`, { max_concurrency: lowered }),
      () => api.ask("PATCH", `/campaign/${id}`, { max_concurrency: cap })
    ],
    "the organization's": [
      () => api.ask("PUT", "/organizations/settings", { concurrency_limit: lowered, concurrency_reserve: 0 }),
      () => api.ask("PUT", "/organizations/settings", { concurrency_limit: 50, concurrency_reserve: 0 })
    ]
  } as const
  for (const [whose, [lower, raise]] of Object.entries(ways)) {
    await t.test(`when an operator lowers ${whose}`, async (t) => {
      emulator.letTalk(true)
      await untilTrue("calls up to the cap", () => emulator.live() === cap)
      t.equal((await lower()).status, 200)
      const from = emulator.log.entries.length
      emulator.letTalk(false)
      const dialsAfter = () => emulator.log.entries.slice(from).filter(({ kind }) => kind === "originate").length
      await untilTrue("later dials", () => dialsAfter() >= 5)
      let live = cap
      const ups = emulator.log.entries.slice(from).flatMap(({ kind }) => {
        if (kind === "ended") live--
        if (kind === "originate") live++
        return kind === "originate" ? [live] : []
      })
      t.ok(Math.max(...ups) <= lowered, `then no other call begins before fewer are up: ${ups}`)
      t.strictSame(await recordsOfHungUp(world), [], "and no call is cut off")
      t.equal((await raise()).status, 200)
      await untilDials(scene, ["journey", "left"], 1)
    })
  }

  await t.test("when a third one has the name of the second, then it carries no calls", async (t) => {
    // However long its start takes, somebody is left to be called.
    emulator.letTalk(true)
    await wrote(namesake, "another engine has the same NODE_NAME")
    const journals = await world.sql`SELECT DISTINCT journal FROM attempts WHERE node = 'left' AND state = 'ended'`
    t.equal(journals.length, 1)
    namesake.kill("SIGKILL")
  })

  await t.test("when the one that decides is cut off from the database, but not from Asterisk, then another one decides", async (t) => {
    const { engine: old } = world
    emulator.letTalk(true)
    await untilTrue("calls up to the cap", () => emulator.live() === cap)
    await database.tcp.refuse(true)
    database.tcp.cut()
    const [cut, lateness] = [nowMillis(), watchLateness()]
    world.become({ ...node, url: await node.ready })
    const lost = new Set([...(await carriersOf(world))].flatMap(([callId, name]) => (name === "journey" ? [callId] : [])))
    emulator.letTalk(false)
    await untilDials(scene, ["left"], 2 * cap)
    t.strictSame(await dialsOf(world, "journey", cut + lateness.allow(2000)), [], "the one that is cut off dials nothing")
    await database.tcp.refuse(false)
    t.equal((await old.exited).code, 1, "and ends when it learns of the other one")
    await thenAllEndsWell(t, scene, { lost })
  })
})

t.test("given two engines with calls", { buffered: true }, async (t) => {
  const scene = await open(t, 120)
  const { database, world } = scene
  const { emulator, sql } = world

  await t.test("when their database is slow, then dialing goes on, and none takes the other one for dead", async (t) => {
    database.tcp.delayMillis = 300
    await untilDials(scene, ["journey", "left"], 5)
    database.tcp.delayMillis = 0
    t.notMatch(world.output() + scene.node.output(), /has lost its lock|has given this one up|this engine takes over/)
  })

  await t.test("when it has no connections left, then calls go on and nothing is dialed until it has", async (t) => {
    emulator.letTalk(true)
    await untilTrue("calls up to the cap", () => emulator.live() === cap)
    const [row] = await sql<Array<{ name: string }>>`SELECT quote_ident(current_database()) AS name`
    await sql.unsafe(`ALTER DATABASE ${row?.name} CONNECTION LIMIT 0`)
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename LIKE 'ordinary%'`
    await wrote(world, "the engine has lost its lock")
    const without = nowMillis()
    emulator.letTalk(false)
    await untilTrue("the ends of the calls", () => emulator.live() === 0)
    t.strictSame(originatesSince(world, without), [])
    await sql.unsafe(`ALTER DATABASE ${row?.name} CONNECTION LIMIT -1`)
    await untilDials(scene, ["journey", "left"], 2)
    await thenAllEndsWell(t, scene)
  })
})
