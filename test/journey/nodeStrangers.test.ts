/** The link between the dispatcher and a call node, with a stranger at either end: it says nothing to one, and is not broken by what one says. */
import { once } from "node:events"
import t, { type Test } from "tap"
import { WebSocket, WebSocketServer } from "ws"
import { PROTOCOL } from "#runtime/nodes/messages.ts"
import { startCallNode } from "#test/support/callNode.ts"
import { judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 4

const open = async (t: Test) =>
  World.open(t, {
    emulator: { ringMillis: 50, seed: 11, talkMillis: 300 },
    environment: { ...(await sharing(t)), ORG_CONCURRENCY: String(cap) }
  })

const callsOf = async (world: World, node: string) => {
  const [row] = await world.sql<Array<{ calls: number }>>`SELECT count(*)::int AS calls FROM attempts WHERE node = ${node}`
  return row?.calls ?? 0
}

/** What a stranger may say first, given the call node's challenge. */
const openings = (schemaVersion: number): ReadonlyArray<(nonce: string) => string | Buffer> => {
  const hello = { _tag: "Hello", nonce: "n", protocol: PROTOCOL, schemaVersion }
  return [
    () => "null",
    () => "5",
    () => "[]",
    () => "[null]",
    () => "[[]]",
    () => "{}",
    () => "no JSON",
    () => Buffer.from([0xff, 0xfe]),
    () => "x".repeat(5000),
    () => JSON.stringify([{ _tag: "Ping" }]),
    () => JSON.stringify([hello]),
    () => JSON.stringify([{ ...hello, proof: null }]),
    () => JSON.stringify([null, hello]),
    (nonce) => JSON.stringify({ ...hello, proof: nonce }),
    (nonce) => JSON.stringify([{ ...hello, proof: nonce }]),
    (nonce) => JSON.stringify([{ ...hello, proof: nonce }, { _tag: "Ping" }])
  ]
}

t.test("given a call node, when strangers connect to it", { buffered: true }, async (t) => {
  const world = await open(t)
  await startCallNode(t, world)
  const [row] = await world.sql<Array<{ address: string; schemaVersion: number }>>`
    SELECT address, schema_version AS "schemaVersion" FROM leaving_engines`
  for (const opening of openings(row?.schemaVersion ?? 0)) {
    const socket = new WebSocket(`ws://${row?.address}/node-link`)
    const said: Array<string> = []
    socket.on("message", (data) => {
      said.push(String(data))
      if (said.length === 1) socket.send(opening(JSON.parse(String(data))[0].nonce))
    })
    socket.on("error", () => {})
    await once(socket, "close")
    t.match(said, [/"_tag":"Challenge"/], `then one hears nothing but the challenge, and is cut off: ${opening("").slice(0, 60)}`)
    t.equal(said.length, 1)
  }
  const { id } = await world.campaign(numbersOf(20, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  t.ok((await callsOf(world, "left")) >= 4, "and the call node goes on for the engine that dispatches")
})

/**
 * A server that is registered as a call node, and says these messages as soon as it is connected to. Returns what it was told; an empty text stands
 * for a connection.
 */
const startFalseNode = async (t: Test, world: World, messages: ReadonlyArray<string>) => {
  const told: Array<string> = []
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  t.teardown(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  server.on("connection", (socket) => {
    told.push("")
    socket.on("message", (data) => told.push(String(data)))
    for (const message of messages) socket.send(message)
  })
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const [row] = await world.sql<Array<{ journal: string }>>`
    INSERT INTO leaving_engines (journal, node, host, process, address, schema_version)
    SELECT gen_random_uuid(), 'false', 'elsewhere', 'elsewhere', ${`127.0.0.1:${port}`}, max(version) FROM schema_migrations RETURNING journal`
  const beats = setInterval(
    () =>
      void world.sql`UPDATE leaving_engines SET beat = beat + 1, beat_at = clock_timestamp() WHERE journal = ${row?.journal ?? ""}`.catch(
        () => {}
      ),
    300
  )
  t.teardown(() => clearInterval(beats))
  return told
}

t.test("given servers that pretend to be call nodes, and some that say anything, when a campaign runs", { buffered: true }, async (t) => {
  const world = await open(t)
  const challenge = JSON.stringify([{ _tag: "Challenge", nonce: "of a stranger" }])
  const pretended = [
    { _tag: "Has", callIds: [] },
    { _tag: "Room", calls: 100 }
  ].map((message) => JSON.stringify([message]))
  const over = { _tag: "Over", callId: "x" }
  const anything = [["null"], ["[null]"], ["5"], ["{}"], ["no JSON"], ["[]", "[[]]"], [JSON.stringify(over)], [JSON.stringify([over])]]
  const greeted = await startFalseNode(t, world, [challenge])
  const told = await startFalseNode(t, world, [challenge, ...pretended])
  const others: Array<ReadonlyArray<string>> = []
  for (const messages of anything) others.push(await startFalseNode(t, world, messages))
  const { id } = await world.campaign(numbersOf(20, ["01"]), { max_concurrency: cap })
  await untilTrue("all are connected to", () => others.every(({ length }) => length > 0))
  await untilTrue("two are greeted", () => greeted.some((text) => text.includes("Hello")) && told.length > 1)
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  t.equal(await callsOf(world, "false"), 0, "then they get no calls")
  const isTold = [...greeted, ...told, ...others.flat()].some((text) => /"Place"|\+1555/.test(text))
  t.notOk(isTold, "and hear of no contact")
})
