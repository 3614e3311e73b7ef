/** When an engine takes over from another one, when it waits, and when it refuses. */
import { PgConnection } from "@effect/sql-pg"
import { Clock, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import t from "tap"
import { Config } from "#runtime/config/config.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { DatabaseTime } from "#runtime/lock/EngineClock.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { Beats } from "#runtime/lock/Beats.ts"
import { formerOf, judge, lastDeparture, makeSilence, PROOF_MILLIS, type Situation, type Verdict } from "#runtime/lock/Incumbent.ts"
import { Proof } from "#runtime/lock/Proof.ts"
import { Whereabouts } from "#runtime/lock/Whereabouts.ts"
import { descentOf } from "#runtime/postgres/Lineage.ts"
import { type LockStore, lockStore, type Seen } from "#runtime/postgres/LockStore.ts"
import { clientLayer } from "#runtime/postgres/postgres.ts"
import { applicationOf } from "#runtime/process/ProcessName.ts"
import { openDatabase, witness } from "#test/support/postgres.ts"
import { run, runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const incumbent: Seen = {
  address: null,
  backend: 10,
  beat: 5,
  epoch: 1,
  host: "elsewhere",
  node: "one",
  pid: 4242,
  process: "",
  released: false,
  since: new Date(0)
}
const situation: Situation = { holder: 10, isGone: false, seen: incumbent, silentMillis: 0, takeoverMillis: 4000 }

t.test("given whoever has the lock, or had it", async (t) => {
  const check = (name: string, expected: Verdict, changes: Partial<Situation>, seen: Partial<Seen> = {}) =>
    t.equal(judge({ ...situation, seen: { ...incumbent, ...seen }, ...changes }), expected, name)
  const nobody = { holder: undefined }

  check("nobody ever had it", "take", { ...nobody, seen: undefined })
  check("somebody has it who is about to write his row", "wait", { seen: undefined })
  check("and never does", "end_session", { seen: undefined, silentMillis: 4000 })
  check("it was released", "take", nobody, { released: true })
  check("it is just being released", "wait", {}, { released: true })
  check("and never is", "end_session", { silentMillis: 4000 }, { released: true })

  check("its engine beats", "wait", {})
  check("its engine is late for a beat", "wait", { silentMillis: 3999 })
  check("its engine is silent", "end_session", { silentMillis: 4000 })
  check("its process is seen to have ended, and may have dialed a moment ago", "wait", { isGone: true, silentMillis: 2499 })
  check("its process is seen to have ended", "end_session", { isGone: true, silentMillis: 2500 })

  check("its session has ended, and it may come back", "wait", { ...nobody, silentMillis: 3999 })
  check("it does not come back", "take", { ...nobody, silentMillis: 4000 })
  check("its session has ended, and its process too", "take", { ...nobody, isGone: true })
  check("another one has taken it, and is about to write its row", "wait", { holder: 11, isGone: true, silentMillis: 3999 })
})

t.test("given looks at an engine without a heartbeat", async (t) => {
  const silenceOf = makeSilence()
  const silences = (...looks: ReadonlyArray<readonly [at: number, seen?: Partial<Seen>, holder?: number | "nobody"]>) =>
    looks.map(([at, seen, holder = 10]) => silenceOf({ ...incumbent, ...seen }, holder === "nobody" ? undefined : holder, at))
  t.strictSame(silences([1000], [1250], [1500]), [0, 250, 500], "then its silence grows")
  t.strictSame(silences([1750, { beat: 6 }], [2000, { beat: 6 }]), [0, 250], "from its last beat on")
  t.strictSame(silences([62_000, { beat: 6 }]), [750], "but hardly while we, or the database, stood still")
  t.strictSame(silences([62_250, { beat: 6 }, "nobody"]), [1000], "it continues when its session has ended")
  t.strictSame(silences([62_500, { beat: 6 }, 11]), [0], "but is not that of whoever has the lock since")
})

t.test("given an engine that is replaced, then it is known when the last call left that it sent or allowed", async (t) => {
  const [lookedAt, takenAt, grantMillis] = [10_000, 10_020, 250]
  const check = (name: string, silentMillis: number, sent: number, allowed: number) => {
    const former = formerOf(silentMillis, lookedAt, takenAt)
    t.strictSame([lastDeparture(former, 0), lastDeparture(former, grantMillis)], [sent, allowed], name)
  }
  check("one that was killed just now", 0, takenAt, takenAt + grantMillis)
  check("one whose proof was about to lapse", PROOF_MILLIS - 100, takenAt, lookedAt + 100)
  check("one that was silent for longer than its proof lasts", PROOF_MILLIS + 1000, lookedAt - 1000, lookedAt - 1000)
})

t.test("given a proof, then it holds for its time, and ahead of it as long as some is left", async (t) => {
  await run(
    Effect.gen(function* () {
      const proof = new Proof(yield* Clock.Clock, 1500)
      t.equal(proof.holds(), false)
      yield* proof.by(TestClock.adjust(1000).pipe(Effect.as(true)))
      t.strictSame([proof.holds(), proof.holds(499), proof.holds(500)], [true, true, false], "dated to before the work that proves it")
      yield* proof.by(Effect.succeed(false))
      yield* TestClock.adjust(499)
      t.strictSame([proof.holds(), proof.holds(1)], [true, false], "not renewed by work that proves nothing")
      yield* TestClock.adjust(1)
      t.equal(proof.holds(), false)
    })
  )
})

t.test("given where engines have dialed, then it is known what a database may lack", async (t) => {
  const lineage = { database: "5", system: "7000", table: "16400", timeline: "00000001" }
  t.equal(descentOf(undefined, lineage), "same", "where none has dialed, nothing is missing")
  t.equal(descentOf(lineage, undefined), "same", "nor where the server does not tell")
  t.equal(descentOf(lineage, lineage), "same")
  t.equal(descentOf(lineage, { ...lineage, timeline: "00000002" }), "failed_over")
  for (const other of [{ system: "7001" }, { database: "6" }, { table: "16500" }])
    t.equal(descentOf(lineage, { ...lineage, timeline: "00000002", ...other }), "copied")
})

t.test("given a database, then it says which one it is, and what was recorded", async (t) => {
  const { url } = await openDatabase(t)
  const seen = await runLive(
    Effect.gen(function* () {
      const store = lockStore(yield* PgConnection.make({ url: Redacted.make(url) }))
      yield* store.take({ host: "here", node: "one", pid: 1, process: "" }, undefined)
      const [lineage, unknown] = [yield* store.lineage, yield* store.knownLineage]
      if (lineage !== undefined) yield* store.keepLineage(1, lineage)
      return { known: yield* store.knownLineage, lineage, unknown }
    }).pipe(Effect.scoped, Effect.orDie)
  )
  t.match(seen.lineage, { database: /^[0-9]+$/, system: /^[0-9]+$/, table: /^[0-9]+$/, timeline: /^[0-9A-F]{8}$/ })
  t.equal(seen.unknown, undefined)
  t.strictSame(seen.known, seen.lineage)
})

t.test("given a standby that has failed over, then the repair is repeated until it succeeds", async (t) => {
  const lineage = (timeline: string, database = "5") => Effect.succeed({ database, system: "7000", table: "16400", timeline })
  const kept: Array<string> = []
  const listening: Array<string> = []
  const storeOf = (timeline: string, database?: string) =>
    ({
      keepLineage: (_: number, { timeline }: { timeline: string }) => Effect.sync(() => void kept.push(timeline)),
      knownLineage: Effect.succeed(undefined),
      listensAt: (_: number, address: string) => Effect.sync(() => void listening.push(address)),
      lineage: lineage(timeline, database)
    }) as unknown as LockStore
  const seen = await runLive(
    Effect.gen(function* () {
      const whereabouts = new Whereabouts()
      yield* whereabouts.begin(storeOf("1"), 1)
      whereabouts.listensAt("here:8000")
      yield* whereabouts.settled
      const complete: Array<number> = []
      whereabouts.mend = (until) =>
        Effect.andThen(
          Effect.sync(() => complete.push(until)),
          Effect.never
        )
      const lost = yield* whereabouts.mended(storeOf("2"), 1, 500, Effect.sleep("10 millis"))
      yield* whereabouts.keep
      whereabouts.mend = (until) => Effect.sync(() => void complete.push(until))
      const mended = yield* whereabouts.mended(storeOf("2"), 1, 600, Effect.never)
      yield* whereabouts.keep
      const same = yield* whereabouts.mended(storeOf("2"), 1, 700, Effect.never)
      yield* whereabouts.mended(storeOf("3"), 1, 800, Effect.never)
      t.strictSame(complete, [500, 500, 800], "then it covers what was lost in the first place")
      yield* whereabouts.keep
      return [lost, mended, same, yield* whereabouts.mended(storeOf("3", "6"), 1, 900, Effect.never)]
    }).pipe(Effect.orDie)
  )
  t.strictSame(seen, ["Lost", "Mended", "Same", "Elsewhere"])
  t.strictSame(kept, ["1", "2", "3"], "and written down once it has")
  t.strictSame(listening, ["here:8000", "here:8000", "here:8000"], "with the address, which may be lost as well")
})

t.test("given a host that dies and leaves its session behind, then a standby takes over, and not before", async (t) => {
  const { url } = await openDatabase(t)
  const address = Redacted.make(url)
  const process = "another boot and process"
  const row = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ epoch: number; node: string }>`SELECT epoch, node FROM engine_lock`)
  const lock = Layer.build(EngineLock.layer).pipe(
    Effect.provide(Charge.layer),
    Effect.provide(Config.layerOf({ NODE_NAME: "two", TAKEOVER_AFTER: "10" }))
  )
  await runLive(
    Effect.gen(function* () {
      const session = yield* PgConnection.make({ url: address })
      const dead = lockStore(session)
      t.equal(yield* dead.tryLock, true)
      yield* dead.take({ host: "elsewhere", node: "one", pid: 4242, process }, undefined)
      // It dies in the middle of a transaction, and the connection of its session is not closed.
      const pool = yield* PgConnection.make({ applicationName: applicationOf("one", process), url: address })
      yield* pool.query("BEGIN")
      yield* pool.query("LOCK TABLE campaigns")
      const waiting = yield* Effect.forkScoped(lock)
      for (let beats = 0; beats < 8; beats++) {
        yield* dead.beat(1)
        yield* Effect.sleep("500 millis")
      }
      t.match(yield* row, [{ epoch: 1, node: "one" }], "it waits for as long as the other one beats")
      t.equal(waiting.pollUnsafe(), undefined)
      yield* Fiber.join(waiting)
      t.match(yield* row, [{ epoch: 2, node: "two" }])
      t.ok(Exit.isFailure(yield* Effect.exit(dead.beat(1))), "and what was left of the first one's session is ended")
      const sql = yield* SqlClient.SqlClient
      t.strictSame(yield* sql`SELECT id FROM campaigns`, [], "and so are its transactions, whose locks were in the way")
    }).pipe(Effect.scoped, Effect.provide(clientLayer(address, { applicationName: "test" })), Effect.orDie)
  )
})

t.test(
  "given another engine's last beat, when the database's clock has been set since, then it may still have dialed just now",
  async (t) => {
    const address = Redacted.make((await openDatabase(t)).url)
    const taken = () =>
      runLive(
        Effect.map(EngineLock, ({ taken }) => taken).pipe(
          Effect.provide(EngineLock.layer.pipe(Layer.provide([Charge.layer, Config.layerOf({ NODE_NAME: "two" })]))),
          Effect.provide(clientLayer(address, { applicationName: "test" })),
          Effect.scoped,
          Effect.orDie
        )
      )
    t.equal((await taken()).former, undefined, "a new database has had none")
    const witnessed = witness(Redacted.value(address))
    t.teardown(() => witnessed.end())
    await witnessed`UPDATE engine_lock SET beat_at = beat_at - interval '1 hour'`
    const { at, former } = await taken()
    const before = at - (former?.decidedUntil ?? 0)
    t.ok(Math.abs(before) < 5000, `${before} ms before this one began`)
  }
)

t.test("given an engine that has the lock, then each beat asks the database for the time", async (t) => {
  const { url } = await openDatabase(t)
  const address = Redacted.make(url)
  const witnessed = witness(url)
  t.teardown(() => witnessed.end())
  const told: Array<number> = []
  const beats = async () => Number((await witnessed<Array<{ beat: string }>>`SELECT beat FROM engine_lock`)[0]?.beat ?? 0)
  const time = { isTold: (_: number, millis: number) => void told.push(millis), machineAhead: () => 0 }
  const before = Date.now()
  await runLive(
    Effect.promise(() => untilTrue("beats", async () => (await beats()) > 5)).pipe(
      Effect.provide(EngineLock.layer.pipe(Layer.provide([Charge.layer, Config.layerOf({ NODE_NAME: "two" })]))),
      Effect.provide(clientLayer(address, { applicationName: "test" })),
      Effect.provideService(DatabaseTime, time)
    )
  )
  // The answer to the last one may be on its way.
  t.ok(told.length >= 5, `the time was told ${told.length} times`)
  // Both clocks are those of this machine.
  t.ok(Math.min(...told) >= before && Math.max(...told) <= Date.now() + 1)
})

t.test("given beats of the last hour, then it is known when a database was cut off that has one of them", async (t) => {
  const beats = new Beats()
  for (let beat = 10; beat < 9800; beat++) beats.sent(beat, 400 * beat)
  t.equal(beats.completeUntil(9799), 400 * 9799)
  t.equal(beats.completeUntil(8000), 400 * 8000)
  t.equal(beats.completeUntil(9801), 400 * 9799, "also if the lock was taken back since")
  t.equal(beats.completeUntil(20), Number.NEGATIVE_INFINITY, "and of an older one it is not")
})
