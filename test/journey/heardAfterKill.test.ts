/** An engine that is killed while another one decides, and started again on its own disk: what only it can know of the calls that it had, it tells. */
import t from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { sharing } from "./cluster.ts"

/** A request of the call node, whose application has its name. */
const isOfNode = (path: string) => path.includes(".left.")
const isOriginate = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === "POST" && path.startsWith("/ari/channels?")

t.test("given a request of a call node that arrives only once the node has been killed, and started again", async (t) => {
  let proxy: HttpProxy | undefined
  t.teardown(() => proxy?.stop())
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 500 },
    environment: { ...(await sharing(t)), ORG_CONCURRENCY: "4" },
    ways: { asterisk: async (url) => (proxy = await HttpProxy.start(url)).url }
  })
  const { emulator, sql } = world
  const folder = temporaryFolder(t)
  const node = await startCallNode(t, world, "left", { DATA_DIR: folder })
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let held: string | undefined
  let isBlind = true
  if (proxy === undefined) throw new Error("the engine was given no proxy")
  proxy.fateOf = ({ method, path }) => {
    if (isOriginate({ method, path }) && isOfNode(path) && held === undefined) {
      held = new URLSearchParams(path.split("?")[1]).get("channelId") ?? ""
      return fates.holdUntil(released)
    }
    // Looks must not find out before the event is there.
    return isBlind && path === `/ari/channels/${held}` && method === "GET" ? fates.error(503) : fates.pass
  }
  // So few that the other engine has called them all before this one is back, which has then no other reason to listen.
  const { id } = await world.campaign(numbersOf(12, ["02"]), { max_concurrency: 4, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("request that is held", () => held !== undefined)

  node.kill("SIGKILL")
  await node.exited
  const before = proxy.sockets.length
  await startCallNode(t, world, "left", { DATA_DIR: folder })
  await untilTrue(
    "events for it",
    () => proxy?.sockets.slice(before).some(({ path, until }) => isOfNode(path) && until === undefined) === true
  )
  release()
  await untilTrue("end of the call", () => emulator.log.entries.some(({ channelId, kind }) => channelId === held && kind === "ended"))
  isBlind = false
  const attempt = async () => {
    const [row] = await sql<Array<{ state: string; outcome: string | null }>>`SELECT state, outcome FROM attempts WHERE id = ${held ?? ""}`
    return row
  }
  await untilTrue("record of the call", async () => (await attempt())?.state === "ended")
  t.match(await attempt(), { outcome: "error" }, "then it is known that nobody was reached")
})

t.test("given a call node that is killed right before a request leaves, when it is started again", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 500 },
    environment: { ...(await sharing(t)), ORG_CONCURRENCY: "4", TAKEOVER_AFTER: "300" }
  })
  const { emulator, sql } = world
  const folder = temporaryFolder(t)
  const node = await startCallNode(t, world, "left", { DATA_DIR: folder, CRASH_AT: "marked sent" })
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: 4, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await node.exited
  const left = await sql<Array<{ id: string; row: number }>>`SELECT id, row_no AS row FROM attempts WHERE node = 'left' AND state = 'sent'`
  t.ok(left.length > 0, "then it had calls that had not left")
  await startCallNode(t, world, "left", { DATA_DIR: folder })
  await world.api.untilState(id, "completed")
  const states = await sql`SELECT DISTINCT state, outcome FROM attempts WHERE id = ANY (${left.map((attempt) => attempt.id)}::uuid[])`
  t.strictSame([...states], [{ state: "void", outcome: null }], "then it is certain that nobody was called by them")
  await judge(t, world, id, 4)
  t.equal(
    new Set(emulator.log.entries.flatMap(({ kind, number }) => (kind === "originate" ? [number] : []))).size,
    40,
    "and all are called"
  )
})
