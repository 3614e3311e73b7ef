/**
 * A request with an `Idempotency-Key` is interrupted because the engine is killed, and is sent again. Whatever became of the first one:
 * nothing is done twice, and the client is told the truth.
 */
import t, { type Test } from "tap"
import type { ResponseFault } from "#test/emulators/ari/AriEmulator.ts"
import { numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { untilTrunkUp } from "#test/support/trunkUp.ts"

// Most of each story is waiting until a call that cannot be found is written off.
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
  // The cast holds because each answer of this API is an object.
  const body = (await response.json()) as Answered["body"]
  return { status: response.status, body, isReplayed: response.headers.get("idempotency-replayed") === "true" }
}
/** Nobody answers while the engine is away, and nobody at all unless `isPickedUp`. */
const open = async (t: Test, isPickedUp = false) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 1000 },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", RING_TIMEOUT: isPickedUp ? "300" : "15" }
  })
  world.emulator.letRing(true)
  return world
}

/** Makes the lease of the interrupted request expire, as it would after some time. */
const leaseOver = ({ sql }: World) => sql`UPDATE idempotency_keys SET leased_until = now() WHERE status IS NULL`

/** Checks the answers for clients that send the same request again, or use the key for another one. */
const thenItIsSettled = async (t: Test, world: World, path: string, json: object): Promise<Answered["body"]> => {
  t.match(await post(world, path, json), { status: 409, isReplayed: false }, "then the outcome is unknown, and the answer says so")
  await leaseOver(world)
  const answer = await post(world, path, json)
  t.match(answer, { status: 200, isReplayed: false }, "then the answer says what became of it")
  t.strictSame(await post(world, path, json), { ...answer, isReplayed: true }, "then that stays the answer")
  t.equal((await post(world, path, { ...json, initial_context: {}, name: "Another" })).status, 422, "then the key is taken")
  return answer.body
}

const number = "+15550000001"
/** Judges by the phone, once the call is over. */
const thenItRang = async (t: Test, world: World, runId: unknown, times: number, outcome: string): Promise<void> => {
  if (times > 0) await untilTrunkUp(world)
  world.emulator.letRing(false)
  const rows = () => world.sql<Array<{ run: number; state: string; outcome: string | null }>>`
    SELECT r.id AS run, a.state, a.outcome FROM attempts a LEFT JOIN runs r ON r.attempt_id = a.id`
  await until("end of the call", async () => ((await rows()).every(({ state }) => state === "ended") ? true : undefined))
  t.strictSame([...(await rows())], [{ run: runId, state: "ended", outcome }], "then there is one run, with the right outcome")
  const { log } = world.emulator
  const rang = log.entries.filter(({ kind }) => kind === "originate").map((entry) => entry.number)
  t.strictSame(rang, new Array<string>(times).fill(number), `then the phone rang ${times === 0 ? "never" : "once"}`)
}

const callPath = ({ agentUuid }: World) => `/public/agent/workflow/${agentUuid}`
const call = { phone_number: number, initial_context: { first_name: "Ada" } }

const underWay: ReadonlyArray<readonly [ResponseFault, times: number, outcome: string]> = [
  ["hang-after-placing", 1, "answered"],
  ["hang-before-placing", 0, "unknown"]
]
for (const [fault, times, outcome] of variantsOfRun(underWay, 1)) {
  t.test(
    `given a call that was requested from Asterisk (${fault}), when the engine dies before the answer`,
    { buffered: true },
    async (t) => {
      const world = await open(t, times > 0)
      world.emulator.setResponseFault(fault, 1)
      const lost = t.rejects(post(world, callPath(world), call), "then the client hears nothing")
      await untilTrue("request", () => world.emulator.requests.length > 0)
      await world.end("SIGKILL")
      await lost
      await world.launch()
      const body = await thenItIsSettled(t, world, callPath(world), call)
      await thenItRang(t, world, body["workflow_run_id"], times, outcome)
    }
  )
}

/**
 * An engine that dies before a call leaves. On a busy machine, a call may be refused because nothing left in time, and the engine lives on: then another
 * one tries.
 */
const openDying = async (t: Test, tries = 3): Promise<World> => {
  if (tries === 0) throw new Error("the engine does not die")
  const world = await open(t)
  await world.end("SIGTERM")
  await world.launch({ CRASH_AT: "marked sent" })
  const isAnswered = await post(world, callPath(world), call).then(
    () => true,
    () => false
  )
  return isAnswered ? await openDying(t, tries - 1) : world
}

t.test("given a requested call, when the engine dies before it leaves, then nothing has to be looked up", { buffered: true }, async (t) => {
  const world = await openDying(t)
  t.equal((await world.engine.exited).signal, "SIGKILL", "then the client hears nothing")
  await world.launch()
  const body = await thenItIsSettled(t, world, callPath(world), call)
  await thenItRang(t, world, body["workflow_run_id"], 0, "failed")
})

/** The advisory lock at which the chosen statements wait. */
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
    /** Ends the waiting statements, as they end with the process that sent them. */
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
    t.match(await sql`SELECT id, total_rows FROM campaigns`, [{ id: body["id"], total_rows: 20 }], "then there is one, and it is complete")
    t.equal(await count(), 1)
  })
}
