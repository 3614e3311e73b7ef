/** The engine's lock in Postgres: the advisory lock of one session, and the row that says whose it is. */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Option, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Lineage } from "./Lineage.ts"
import { sessionMark } from "#runtime/process/ProcessName.ts"
import { destroy } from "./connectionSocket.ts"

/** A session that has not answered for this long is closed. */
const ANSWER_MILLIS = 3000

export interface Identity {
  readonly node: string
  readonly host: string
  readonly pid: number
  readonly process: string
}

/** How often to look whether a session has ended, and how many times at most. */
const LOOK = "10 millis"
const MOST_LOOKS = 100

/** How to reach an engine that was asked to stop, while its calls last. */
export interface LeavingEngine {
  /** The id of its local journal. */
  readonly journal: string
  /** Its calls in progress. */
  readonly calls: ReadonlyArray<CallId>
  /** As `host:port`. */
  readonly address: string
}

/** The lock's row. */
export interface Seen {
  readonly epoch: number
  readonly node: string
  readonly host: string
  readonly pid: number
  readonly process: string
  /** The server process (backend) of the session that wrote the row. */
  readonly backend: number
  readonly since: Date
  readonly beat: number
  readonly released: boolean
  /** Where other engines reach its API, or what is left of it while it is leaving, as `host:port`; null while it is not listening. */
  readonly address: string | null
}

// The schema is part of the key: engines in two schemas of one database are independent.
const schema = "hashtext(coalesce(current_schema(), ''))"
const key = `7265872, ${schema}`
const holderOf = `
  (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = 7265872 AND objid = (${schema}::bigint & 4294967295)::oid) AS holder`

const databaseNow = "extract(epoch FROM clock_timestamp())::float8 * 1000 AS now"

type Ask = (sql: string, params?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<PgConnection.Row>, SqlError.SqlError>

/** Runs statements on one connection, which is closed if it does not answer. */
const askOn =
  (connection: PgConnection.PgConnection): Ask =>
  (sql, params = []) =>
    Effect.raceFirst(
      Effect.map(connection.query(sql, params), ({ rows }) => rows),
      Effect.andThen(
        Effect.delay(
          Effect.sync(() => destroy(connection, "The session of the engine's lock does not answer")),
          ANSWER_MILLIS
        ),
        Effect.never
      )
    )

type IsTold = (askedAt: SteadyTime.SteadyMillis, millis: number) => void

/** For statements whose first row has `databaseNow`. */
const askWithTime =
  (ask: Ask, isTold: IsTold): Ask =>
  (sql, params) =>
    Effect.flatMap(SteadyTime.now, (askedAt) =>
      Effect.tap(ask(sql, params), ([row]) => Effect.sync(() => typeof row?.["now"] === "number" && isTold(askedAt, row["now"])))
    )

/** `isTold`: what to do with the time of the database's clock, and with when it was asked for. */
export const lockStore = (connection: PgConnection.PgConnection, isTold: IsTold = () => {}) => {
  const ask = askOn(connection)
  const askForTime = askWithTime(ask, isTold)
  return {
    // A beat may be lost in a crash of Postgres: by then it has served its purpose.
    prepare: ask("SELECT set_config('synchronous_commit', 'off', false)"),

    /** The row, undefined if no engine has ever had the lock, and the backend of the session that holds the lock now. */
    observe: Effect.map(askForTime(observation), observed),

    tryLock: Effect.map(ask(`SELECT pg_try_advisory_lock(${key}) AS taken`), ([row]) => row?.["taken"] === true),
    unlock: ask(`SELECT pg_advisory_unlock(${key})`),

    /** Our new epoch; undefined if the row has changed since it was seen. */
    take: ({ host, node, pid, process }: Identity, seen: Seen | undefined) =>
      Effect.map(ask(taking, [node, host, pid, process, seen?.epoch ?? null, seen?.beat ?? null]), ([row]) =>
        typeof row?.["epoch"] === "number" ? row["epoch"] : undefined
      ),

    /** Continues as the same engine on a new session. False if another engine has had the lock since. */
    resume: (epoch: number) =>
      Effect.map(
        ask(
          `UPDATE engine_lock SET backend = pg_backend_pid(), beat = beat + 1, beat_at = clock_timestamp() WHERE epoch = $1::int RETURNING epoch`,
          [epoch]
        ),
        (rows) => rows.length > 0
      ),

    /** The beat's number; undefined if the row is no longer ours, or the statement reached a session other than the one that has the lock. */
    beat: (epoch: number) =>
      Effect.map(
        askForTime(
          `UPDATE engine_lock SET beat = beat + 1, beat_at = clock_timestamp() WHERE epoch = $1::int AND backend = pg_backend_pid()
           RETURNING beat, ${databaseNow}`,
          [epoch]
        ),
        ([row]) => (row === undefined ? undefined : Number(row["beat"]))
      ),

    /** Identifies this database. Undefined if the server does not tell, as some near-Postgres servers do not. */
    lineage: Effect.map(Effect.option(ask(descending)), (rows) => lineageIn(Option.getOrUndefined(rows)?.[0]?.["lineage"])),

    /** The lineage last recorded. */
    knownLineage: Effect.map(ask("SELECT lineage FROM engine_lock"), ([row]) => lineageIn(row?.["lineage"])),

    /** Records which database the engine dials on, once whatever may be missing has been dealt with. */
    keepLineage: (epoch: number, lineage: Lineage) =>
      ask(
        "UPDATE engine_lock SET lineage = $2::text::jsonb WHERE epoch = $1::int AND set_config('synchronous_commit', 'on', true) IS NOT NULL",
        [epoch, JSON.stringify(lineage)]
      ),

    listensAt: (epoch: number, address: string) => ask("UPDATE engine_lock SET address = $2 WHERE epoch = $1::int", [epoch, address]),

    release: (epoch: number) => ask("UPDATE engine_lock SET released = true, address = NULL WHERE epoch = $1::int", [epoch]),

    ...leavingOn(ask),

    /** Ends the sessions of a process that has had the lock, as far as we are permitted to. */
    endSessionsOf: (process: string) => ask(ending, [sessionMark(process) ?? null]),
    endSession: (backend: number) => endSession(ask, backend)
  }
}

/** Returns once the session has ended, or after about a second. The database itself would look only every tenth of a second. */
const endSession = (ask: Ask, backend: number) =>
  Effect.andThen(
    ask("SELECT pg_terminate_backend($1::int)", [backend]),
    Effect.repeat(ask("SELECT FROM pg_stat_activity WHERE pid = $1::int", [backend]), {
      schedule: Schedule.spaced(LOOK),
      times: MOST_LOOKS,
      while: (rows) => rows.length > 0
    })
  )

/** For an engine that gives up the lock and keeps its calls. */
const leavingOn = (ask: Ask) => ({
  /** Gives up the lock while calls of this engine are still in progress. False if the lock is no longer ours. */
  leave: (epoch: number, me: Identity, leaving: LeavingEngine) =>
    Effect.map(
      ask(leavingSql, [epoch, leaving.journal, me.node, me.host, me.process, leaving.address, leaving.calls]),
      (rows) => rows.length > 0
    ),
  /** False if the dialing engine has given up on this one. */
  beatLeaving: (journal: string) =>
    Effect.map(
      ask("UPDATE leaving_engines SET beat = beat + 1, beat_at = clock_timestamp() WHERE journal = $1::uuid RETURNING beat", [journal]),
      (rows) => rows.length > 0
    ),
  /** Its calls are over. */
  left: (journal: string, address: string) => ask(leftSql, [journal, address]),
  /** The other processes of engines with this name that have calls, and have sent a beat in the last `seconds`. */
  othersAs: ({ node, process }: Identity, seconds: number) =>
    Effect.map(
      ask(
        `SELECT process FROM leaving_engines
         WHERE node = $1 AND process <> $3 AND beat_at > clock_timestamp() - $2::float8 * interval '1 second'`,
        [node, seconds, process]
      ),
      (rows) => rows.map(({ process }) => String(process))
    )
})

export type LockStore = ReturnType<typeof lockStore>

const lineageIn = (stored: unknown): Lineage | undefined => Option.getOrUndefined(Schema.decodeUnknownOption(Lineage)(stored))

const descending = `
  SELECT jsonb_build_object('system', (SELECT system_identifier FROM pg_control_system())::text,
    'database', (SELECT oid FROM pg_database WHERE datname = current_database())::text, 'table', 'engine_lock'::regclass::oid::text,
    'timeline', left(pg_walfile_name(pg_current_wal_lsn()), 8)) AS lineage`

const observation = `
  SELECT l.epoch, l.node, l.host, l.pid, l.process, l.backend, l.since, l.beat, l.released, l.address, ${holderOf}, ${databaseNow}
  FROM (SELECT 1) AS one LEFT JOIN engine_lock l ON true`

const observed = ([row]: ReadonlyArray<PgConnection.Row>) => {
  const holder = typeof row?.["holder"] === "number" ? row["holder"] : undefined
  // The columns have the names of `Seen`, and where there is a row, only `address` can be null.
  const seen = row === undefined || row["epoch"] === null ? undefined : (row as unknown as Seen)
  return { holder, seen }
}

const ending = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND pg_has_role(usesysid, 'MEMBER')
    AND $1::text = ANY (string_to_array(application_name, ' '))`

// Both are on disk when this returns, so whoever takes the lock next knows about the calls that remain.
const leavingSql = `
  WITH released AS (
    UPDATE engine_lock SET released = true, address = $6
    WHERE epoch = $1::int AND backend = pg_backend_pid() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    RETURNING epoch
  )
  INSERT INTO leaving_engines (journal, node, host, process, address, adopted)
  SELECT $2::uuid, $3, $4, $5, $6,
    ARRAY(SELECT id FROM attempts WHERE id = ANY ($7::uuid[]) AND journal IS DISTINCT FROM $2::uuid)
  FROM released
  ON CONFLICT DO NOTHING RETURNING journal`

const leftSql = `
  WITH gone AS (DELETE FROM leaving_engines WHERE journal = $1::uuid)
  UPDATE engine_lock SET address = NULL WHERE released AND address = $2`

const taking = `
  INSERT INTO engine_lock (epoch, node, host, pid, process, backend) VALUES (1, $1, $2, $3, $4, pg_backend_pid())
  ON CONFLICT (single) DO UPDATE SET epoch = engine_lock.epoch + 1, node = excluded.node, host = excluded.host, pid = excluded.pid,
    process = excluded.process, backend = excluded.backend, since = excluded.since, beat = engine_lock.beat + 1,
    beat_at = excluded.beat_at, released = false, address = NULL
  WHERE engine_lock.epoch = $5::int AND engine_lock.beat = $6::int
  RETURNING epoch`
