/**
 * How long a claim takes with 1,000,000 contacts in its campaign, for the engine and as the database counts it; beside it the same claim with
 * 1,000 on another database, alternately. Each claims one contact, as a campaign does whose slots become free one by one. Commits do not wait
 * for the disk: that wait would hide the growth.
 */
import { Effect, type Scope } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type ClaimPlace, type ContactRows, openClaimPlace } from "./ClaimPlace.ts"
import { type Figure, quantile } from "./Figure.ts"

const few = 1000
const warmUp = 50
/** More than the measured claims take. */
const claimable: ContactRows = { count: 2000, state: "pending" }
const due = 500
const together = 50
const retryMillis = 60_000

interface Case {
  readonly name: string
  readonly lists: (contacts: number) => ReadonlyArray<ContactRows>
  /** The share of the contacts that are called before, without a vacuum. */
  readonly called?: number
  /** Whether a reader keeps a snapshot from before these calls, as a dump does. */
  readonly isRead?: boolean
}

const pending: Case["lists"] = (count) => [{ count, state: "pending" }, claimable]

const cases: ReadonlyArray<Case> = [
  { name: "all pending", lists: pending },
  { name: "retries, none due", lists: (count) => [{ count, state: "retry_wait" }, claimable] },
  { name: "retries, few due", lists: (count) => [{ count, state: "retry_wait", due }, claimable] },
  {
    name: "nine tenths done",
    lists: (count) => [{ count: 0.9 * count, state: "completed" }, { count: 0.1 * count, state: "pending" }, claimable]
  },
  { name: "in progress", lists: pending, called: 0.1 },
  { name: "in progress, while a dump is made", lists: pending, called: 0.02, isRead: true }
]

/**
 * Calls this many contacts of the campaign; one in three is busy, and is called again a minute later, by a clock that advances a second at a
 * time.
 */
const call = Effect.fnUntraced(function* (place: ClaimPlace, contacts: number) {
  let now = Date.now()
  for (let called = 0; called < contacts; called += together) {
    now += 1000
    const claimed = yield* place.claim(together, now)
    const dueAt = now + retryMillis
    yield* place.end(claimed, now, (index) => (index % 3 === 0 ? { state: "retry_wait", dueAt, reason: "busy" } : { state: "completed" }))
  }
  return now
})

/** Keeps a snapshot of the database for as long as the scope is open. */
const read = ({ database: { sql } }: ClaimPlace) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const reader = await sql.reserve()
      await reader`BEGIN ISOLATION LEVEL REPEATABLE READ`
      await reader`SELECT count(*) FROM campaigns`
      return reader
    }),
    (reader) =>
      Effect.promise(async () => {
        await reader`ROLLBACK`
        reader.release()
      })
  )

interface Claims {
  /** The durations as the engine sees them. */
  readonly millis: Array<number>
  /** The durations of the statement in the database. */
  readonly statementMillis: Array<number>
  /** Claims one contact, and ends its call. */
  readonly once: Effect.Effect<void>
  /** The blocks touched by a claim. */
  readonly blocks: Effect.Effect<number>
}

/** What the database has counted of claims. */
const counted = ({ database: { sql } }: ClaimPlace) =>
  Effect.promise(async () => {
    const [row] = await sql<Array<{ calls: number; millis: number; blocks: number }>>`
      SELECT calls::float8, total_exec_time AS millis, (shared_blks_hit + shared_blks_read)::float8 AS blocks FROM pg_stat_statements
      WHERE query LIKE '%INSERT INTO attempts%' AND query NOT LIKE '%pg_stat_statements%' ORDER BY calls DESC LIMIT 1`
    return row ?? { blocks: 0, calls: 0, millis: 0 }
  })

const prepare = Effect.fnUntraced(function* (
  place: ClaimPlace,
  { called = 0, isRead = false, lists }: Case,
  contacts: number
): Effect.fn.Return<Claims, never, Scope.Scope> {
  yield* place.fill(lists(contacts))
  if (isRead) yield* read(place)
  const now = yield* call(place, called * contacts)
  const millis: Array<number> = []
  const statementMillis: Array<number> = []
  const once = Effect.gen(function* () {
    const before = yield* counted(place)
    const began = performance.now()
    const claimed = yield* place.claim(1, now)
    millis.push(performance.now() - began)
    statementMillis.push((yield* counted(place)).millis - before.millis)
    if (claimed.attempts.length !== 1) return yield* Effect.die(new Error("nothing was claimed"))
    yield* place.end(claimed, now, () => ({ state: "completed" }))
  })
  return { blocks: Effect.map(counted(place), ({ blocks, calls }) => blocks / calls), millis, once, statementMillis }
})

const measureCase = (places: { readonly small: ClaimPlace; readonly large: ClaimPlace }, one: Case, { quick }: Options) =>
  Effect.gen(function* () {
    const small = yield* prepare(places.small, one, few)
    const large = yield* prepare(places.large, one, quick ? 10_000 : 1_000_000)
    const inTurn = Effect.andThen(small.once, large.once)
    // The first ones plan their statements and fill caches.
    yield* Effect.replicateEffect(inTurn, warmUp, { discard: true })
    for (const { claims, place } of [
      { claims: small, place: places.small },
      { claims: large, place: places.large }
    ]) {
      claims.millis.length = 0
      claims.statementMillis.length = 0
      yield* Effect.promise(() => place.database.sql`SELECT pg_stat_statements_reset()`)
    }
    yield* Effect.replicateEffect(inTurn, quick ? 50 : 400, { discard: true })
    return yield* figuresOf(one.name, small, large)
  }).pipe(Effect.scoped)

/** Compares the durations at this quantile. */
const compared = (name: string, share: number, large: ReadonlyArray<number>, small: ReadonlyArray<number>): Figure => ({
  name,
  value: quantile(large, share),
  unit: "ms",
  control: quantile(small, share)
})
const timesSlower = ({ control = Number.NaN, name, value }: Figure): Figure => ({
  name: `${name}, times slower`,
  value: value / control,
  unit: "",
  goal: { atMost: 1.1 }
})

const figuresOf = Effect.fnUntraced(function* (name: string, small: Claims, large: Claims) {
  const p50 = compared(`claim, ${name}, p50`, 0.5, large.millis, small.millis)
  const statement = compared(`claim, ${name}, in the database, p50`, 0.5, large.statementMillis, small.statementMillis)
  const figures: ReadonlyArray<Figure> = [
    p50,
    timesSlower(p50),
    compared(`claim, ${name}, p99`, 0.99, large.millis, small.millis),
    statement,
    timesSlower(statement),
    { name: `claim, ${name}, blocks touched`, value: yield* large.blocks, unit: "", control: yield* small.blocks }
  ]
  return figures
})

const measure = (options: Options) =>
  Effect.gen(function* () {
    const places = { small: yield* openClaimPlace, large: yield* openClaimPlace }
    const figures = yield* Effect.forEach(cases, (one) => measureCase(places, one, options))
    return figures.flat()
  }).pipe(Effect.scoped)

export const claim: Benchmark = { name: "claim", run: measure }
