/**
 * A request with an `Idempotency-Key` meets an engine that is killed in the middle of it, and is sent again. Whatever became of the first:
 * nothing is done twice, and the client is told the truth.
 */
import t, { type Test } from "tap"
import type { ResponseFault } from "#test/emulators/ari/AriEmulator.ts"
import { numbersOf, until, untilTrue, World } from "#test/support/engine.ts"

// Most of each story is waiting for the moment at which a call that nobody can find is written off.
t.jobs = 4

const key = "the-client's-own-key-1"

interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly isReplayed: boolean
}
const post = async (world: World, path: string, json: object): Promise<Answered> => {
  const headers = { "x-api-key": world.apiKey, "content-type": "application/json", "idempotency-key": key }
  const response = await fetch(`${world.engine.url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(json) })
  // Each answer of this API is an object.
  const body = (await response.json()) as Answered["body"]
  return { status: response.status, body, isReplayed: response.headers.get("idempotency-replayed") === "true" }
}
/** Nobody picks up while the engine is away, and nobody at all unless it is said. */
const open = async (t: Test, isPickedUp = false) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 1000 },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", RING_TIMEOUT: isPickedUp ? "300" : "15" }
  })
  world.emulator.letRing(true)
  return world
}

/** Of the request that the engine died over: as if the time for which it counts as being worked on were over. */
const leaseOver = ({ sql }: World) => sql`UPDATE idempotency_keys SET leased_until = now() WHERE status IS NULL`

/** What everybody is told who sends the same again, and who uses the key for something else. */
const thenItIsSettled = async (t: Test, world: World, path: string, json: object): Promise<Answered["body"]> => {
  t.match(await post(world, path, json), { status: 409, isReplayed: false }, "then nobody knows yet, and that is said")
  await leaseOver(world)
  const answer = await post(world, path, json)
  t.match(answer, { status: 200, isReplayed: false }, "then it is told what became of it")
  t.strictSame(await post(world, path, json), { ...answer, isReplayed: true }, "then that stays the answer")
  t.equal((await post(world, path, { ...json, initial_context: {}, name: "Another" })).status, 422, "then the key is taken")
  return answer.body
}

const number = "+15550000001"
/** Judged by the phone, once the call is over. */
const thenItRang = async (t: Test, world: World, runId: unknown, times: number, outcome: string): Promise<void> => {
  // Before, nobody would hear that it is picked up.
  await untilTrue("trunk that is up", async () => {
    const { body } = await world.api.ask("GET", "/organizations/telephony-trunks")
    return times === 0 || JSON.stringify(body).includes('"status":"up"')
  })
  world.emulator.letRing(false)
  const rows = () => world.sql<Array<{ run: number; state: string; outcome: string | null }>>`
    SELECT r.id AS run, a.state, a.outcome FROM attempts a LEFT JOIN runs r ON r.attempt_id = a.id`
  await until("end of the call", async () => ((await rows()).every(({ state }) => state === "ended") ? true : undefined))
  t.strictSame([...(await rows())], [{ run: runId, state: "ended", outcome }], "then there is one run, and it tells how it went")
  const { log } = world.emulator
  t.strictSame(
    log.entries.filter(({ kind }) => kind === "originate").map((entry) => entry.number),
    new Array<string>(times).fill(number),
    `then the phone rang ${times === 0 ? "never" : "once"}`
  )
}

const callPath = ({ agentUuid }: World) => `/public/agent/workflow/${agentUuid}`
const call = { phone_number: number, initial_context: { first_name: "Ada" } }

const underWay: ReadonlyArray<readonly [ResponseFault, times: number, outcome: string]> = [
  ["hang-after-placing", 1, "answered"],
  ["hang-before-placing", 0, "unknown"]
]
for (const [fault, times, outcome] of underWay) {
  t.test(`given a call that Asterisk was asked for (${fault}), when the engine dies before the answer`, { buffered: true }, async (t) => {
    const world = await open(t, times > 0)
    world.emulator.setResponseFault(fault, 1)
    const lost = t.rejects(post(world, callPath(world), call), "then the client hears nothing")
    await untilTrue("request", () => world.emulator.requests.length > 0)
    await world.end("SIGKILL")
    await lost
    await world.launch()
    const body = await thenItIsSettled(t, world, callPath(world), call)
    await thenItRang(t, world, body["workflow_run_id"], times, outcome)
  })
}

for (const [point, times, outcome] of [
  // It certainly never left: nobody has to find out.
  ["marked sent", 0, "failed"],
  ["accepted", 1, "answered"]
] as const) {
  t.test(`given a call that is asked for, when the engine dies at "${point}"`, { buffered: true }, async (t) => {
    const world = await open(t, times > 0)
    await world.end("SIGTERM")
    await world.launch({ CRASH_AT: point })
    await t.rejects(post(world, callPath(world), call), "then the client hears nothing")
    t.equal((await world.engine.exited).signal, "SIGKILL")
    await world.launch()
    const body = await thenItIsSettled(t, world, callPath(world), call)
    await thenItRang(t, world, body["workflow_run_id"], times, outcome)
  })
}

/** Statements of this kind wait there until they are let go. */
const lockId = 4711
const stopAt = async ({ sql }: World, statements: string) => {
  await sql.unsafe(`
    CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(${lockId}); RETURN NEW; END';
    CREATE TRIGGER stop_here BEFORE ${statements} EXECUTE FUNCTION stop_here()`)
  const holder = await sql.reserve()
  await holder`SELECT pg_advisory_lock(${lockId})`
  const waiting = () => sql<Array<{ pid: number }>>`
    SELECT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = current_database() AND locktype = 'advisory' AND objid = ${lockId} AND NOT granted`
  return {
    reached: () => untilTrue("statement that waits", async () => (await waiting()).length > 0),
    /** The statements end with the process that asked for them. */
    remove: async () => {
      for (const { pid } of await waiting()) await sql`SELECT pg_terminate_backend(${pid}::int, 5000)`
      await holder`SELECT pg_advisory_unlock(${lockId})`
      holder.release()
      await sql.unsafe("DROP FUNCTION stop_here CASCADE")
    }
  }
}

for (const [moment, statements, made] of [
  ["in the middle of its list", "INSERT ON contacts FOR EACH STATEMENT", 0],
  ["when it is there and its answer is not", "UPDATE OF status ON idempotency_keys FOR EACH ROW WHEN (NEW.status IS NOT NULL)", 1]
] as const) {
  t.test(`given a campaign that is being created, when the engine dies ${moment}`, { buffered: true }, async (t) => {
    const world = await open(t)
    const { sql } = world
    const count = async () => Number((await sql`SELECT count(*)::int AS count FROM campaigns`)[0]?.["count"])
    const source_id = await world.api.upload(["phone_number", ...numbersOf(20, ["01"]), ""].join("\n"))
    const campaign = { name: "Spring", workflow_id: world.agentId, source_type: "csv", source_id }
    const stop = await stopAt(world, statements)
    const lost = t.rejects(post(world, "/campaign/create", campaign), "then the client hears nothing")
    await stop.reached()
    await world.end("SIGKILL")
    await lost
    await stop.remove()
    t.equal(await count(), made)
    await world.launch()
    const body = await thenItIsSettled(t, world, "/campaign/create", campaign)
    t.match(await sql`SELECT id, total_rows FROM campaigns`, [{ id: body["id"], total_rows: 20 }], "then there is one, and it is whole")
    t.equal(await count(), 1)
  })
}
