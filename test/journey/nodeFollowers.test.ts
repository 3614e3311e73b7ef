/** Clients that watch calls on call nodes: they see what is said, and of other calls nothing is told. Judged by the clients and by what passes on the link. */
import { once } from "node:events"
import t, { type Test } from "tap"
import { WebSocket } from "ws"
import { startCallNode } from "#test/support/callNode.ts"
import type { Environment } from "#test/support/EngineProcess.ts"
import { freePort } from "#test/support/freePort.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { untilTrue, World } from "#test/support/engine.ts"
import { installRecognizer, recognizerName } from "#test/support/installRecognizer.ts"
import { placeAll } from "#test/support/singleCalls.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { makeMouth } from "#test/support/utterances.ts"

const skip = (await redisUnavailable()) ?? false

const words = "Quinces ripen behind the lighthouse. Do you want one?"
/** What callees could say. None does, but an agent converses only if it can hear. */
const answer = makeMouth()("yes please", { voice: "rms" })
const position = { x: 0, y: 0 }
const workflow_definition = {
  nodes: [
    { id: "1", type: "startCall", position, data: { name: "Offer", prompt: "Offer a quince.", greeting: words } },
    { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
  ],
  edges: [{ id: "on", source: "1", target: "2", data: { label: "On", condition: "They want one." } }]
}

/** An engine whose agent converses, and a second one beside it. */
const openTwo = async (t: Test, environment: Environment = {}) => {
  const folder = temporaryFolder(t)
  const world = await World.open(t, {
    emulator: { ringMillis: 50, seed: 11, talkMillis: 300 },
    environment: {
      ...installRecognizer(folder, { callees: new Map([["yes please", answer]]) }),
      FILES_DIR: folder,
      ORG_CONCURRENCY: "20",
      RECORDINGS: "off",
      SECRETS_KEY: "5".repeat(64),
      ...environment
    },
    folder
  })
  const { body } = await world.api.ask("POST", "/workflow/create/definition", { name: "Quinces", workflow_definition })
  // The cast holds because the route documents this shape.
  const agent = body as { readonly id: number; readonly workflow_uuid: string }
  const workflow_configurations = { model_overrides: { stt: { provider: recognizerName } } }
  t.equal((await world.api.ask("PUT", `/workflow/${agent.id}`, { workflow_configurations })).status, 200)
  const port = await freePort()
  const node = await startCallNode(t, world, "left", { PORT: String(port) })
  return { agentUuid: agent.workflow_uuid, node, there: `http://127.0.0.1:${port}`, world }
}

/** A call node, and all that it says to the dispatcher. */
const open = async (t: Test) => {
  const { agentUuid, node, world } = await openTwo(t)
  const [row] = await world.sql<Array<{ address: string }>>`SELECT address FROM leaving_engines`
  const { hostname: host, port } = new URL(`http://${row?.address}`)
  let said = ""
  const proxy = await TcpProxy.start({ host, port: Number(port) }, () => ({
    fromServer: (chunk) => {
      said += chunk.toString("latin1")
      return 0
    }
  }))
  t.teardown(() => proxy.stop())
  // A dispatcher reads the address when it meets the node.
  node.kill("SIGSTOP")
  await world.end("SIGKILL")
  await world.sql`UPDATE leaving_engines SET address = ${`127.0.0.1:${proxy.port}`}`
  await world.launch({ TAKEOVER_AFTER: "300" })
  node.kill("SIGCONT")
  await untilTrue("a call node that takes calls", () => world.output().split('"node":"left"').length > 2 && said.includes("Room"))
  return { agentUuid, said: () => said, world }
}

const numbers = Array.from({ length: 8 }, (_, index) => `+155512300${index}01`)

/** The runs of calls that an engine carries, in order of their numbers. */
const runsOn = async ({ sql }: World, name: string) => [
  ...(await sql<Array<{ id: number; number: string }>>`
    SELECT r.id, a.phone_number AS number FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE a.node = ${name} ORDER BY a.phone_number`)
]

/** A client that watches a run, with what it is told, and the code with which the engine ends that. */
const watch = async (t: Test, { apiKey }: World, engine: string, run: number | undefined) => {
  const socket = new WebSocket(`${engine.replace("http", "ws")}/api/v1/events/ws?run_id=${run}`, { headers: { "x-api-key": apiKey } })
  t.teardown(() => socket.terminate())
  const events: Array<string> = []
  let code: number | undefined
  socket.on("message", (data) => void events.push(String(data))).on("close", (ended) => void (code = ended))
  await once(socket, "open")
  return { code: () => code, events }
}

t.test("given calls on a call node, when a client watches one of them", { buffered: true }, async (t) => {
  const { agentUuid, said, world } = await open(t)
  world.emulator.letRing(true)
  world.emulator.letTalk(true)
  await placeAll(world, numbers, agentUuid)
  await world.seen("ringing", numbers.length)
  const [run, ...others] = await runsOn(world, "left")
  t.ok(run !== undefined && others.length > 0, "the node has several")
  const { events } = await watch(t, world, world.engine.url, run?.id)
  world.emulator.letRing(false)
  await untilTrue("what is said", () => events.some((event) => event.includes(words)))
  t.pass("then it sees what is said in that call")
  await world.seen("answered", numbers.length)
  world.emulator.letTalk(false)
  await untilTrue("ends", async () => {
    const [row] = await world.sql<Array<{ open: number }>>`SELECT count(*)::int AS open FROM runs WHERE NOT is_completed`
    return row?.open === 0
  })
  const told = said().split('"_tag":"Feedback"').slice(1)
  t.ok(told.length > 0 && told.every((event) => event.includes(`"runId":${run?.id}`)), "and of the others, nothing is told")
})

for (const isShared of variantsOfRun([false, true], 1)) {
  const what = isShared ? "two engines with a Redis" : "two engines without a Redis"
  t.test(`given ${what}, when clients watch calls of the other engine`, { buffered: true, skip: isShared && skip }, async (t) => {
    const redis = isShared ? await startRedis(t) : undefined
    const { agentUuid, there, world } = await openTwo(t, redis === undefined ? {} : { REDIS_URL: redis.url })
    const here = world.engine.url
    world.emulator.letRing(true)
    world.emulator.letTalk(true)
    await placeAll(world, numbers, agentUuid)
    await world.seen("ringing", numbers.length)
    const [[ofDecider], [ofNode]] = [await runsOn(world, "journey"), await runsOn(world, "left")]
    const watchers = await Promise.all([
      watch(t, world, there, ofDecider?.id),
      watch(t, world, here, ofNode?.id),
      watch(t, world, there, ofNode?.id),
      watch(t, world, here, ofDecider?.id)
    ])
    world.emulator.letRing(false)
    await untilTrue("what is said", () => watchers.every(({ events }) => events.some((event) => event.includes(words))))
    world.emulator.letTalk(false)
    await untilTrue("ends", async () => {
      const [row] = await world.sql<Array<{ open: number }>>`SELECT count(*)::int AS open FROM runs WHERE NOT is_completed`
      return row?.open === 0
    })
    const told = watchers.map(({ events }) => events.filter((event) => event.includes(words)).length)
    t.strictSame(told, [1, 1, 1, 1], "then each is told once, wherever it is connected")
    if (redis === undefined) return
    await redis.stop()
    await untilTrue("end of what is followed where nothing more is heard", () => watchers[0]?.code() === 1012)
    t.equal(watchers[1]?.code(), undefined, "when Redis is away, then only those who would miss something are asked to connect again")
  })
}
