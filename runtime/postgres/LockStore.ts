/** The engine's lock in Postgres: the advisory lock of one session, and the row that says whose it is. */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { Lineage } from "./Lineage.ts"
import { sessionMark } from "#runtime/process/ProcessName.ts"
import { destroy } from "./connectionSocket.ts"

/** A session that has not answered for this long is given up. */
const ANSWER_MILLIS = 3000

export interface Identity {
  readonly node: string
  readonly host: string
  readonly pid: number
  readonly process: string
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
  /** Where other engines reach its API, as `host:port`; null while it does not listen. */
  readonly address: string | null
}

// The schema is part of the key: engines in two schemas of one database have nothing in common.
const schema = "hashtext(coalesce(current_schema(), ''))"
const key = `7265872, ${schema}`
const holderOf = `
  (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = 7265872 AND objid = (${schema}::bigint & 4294967295)::oid) AS holder`

type Ask = (sql: string, params?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<PgConnection.Row>, SqlError.SqlError>

/** Runs statements on one connection, which is closed when it does not answer. */
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

export const lockStore = (connection: PgConnection.PgConnection) => {
  const ask = askOn(connection)
  return {
    // A beat that a crash of Postgres takes back has proven what it had to prove.
    prepare: ask("SELECT set_config('synchronous_commit', 'off', false)"),

    /** The row, undefined while no engine has ever had the lock, and the backend of the session that holds the lock now. */
    observe: Effect.map(ask(observation), observed),

    tryLock: Effect.map(ask(`SELECT pg_try_advisory_lock(${key}) AS taken`), ([row]) => row?.["taken"] === true),
    unlock: ask(`SELECT pg_advisory_unlock(${key})`),

    /** The epoch that is ours from now on; undefined when the row has changed since it was seen. */
    take: ({ host, node, pid, process }: Identity, seen: Seen | undefined) =>
      Effect.map(ask(taking, [node, host, pid, process, seen?.epoch ?? null, seen?.beat ?? null]), ([row]) =>
        typeof row?.["epoch"] === "number" ? row["epoch"] : undefined
      ),

    /** Continues as the same engine on a new session. False: another engine has had the lock since. */
    resume: (epoch: number) =>
      Effect.map(
        ask(
          `UPDATE engine_lock SET backend = pg_backend_pid(), beat = beat + 1, beat_at = clock_timestamp() WHERE epoch = $1::int RETURNING epoch`,
          [epoch]
        ),
        (rows) => rows.length > 0
      ),

    /** False: the row is not ours any more, or the statement reached another session than the one that has the lock. */
    beat: (epoch: number) =>
      Effect.map(
        ask(
          `UPDATE engine_lock SET beat = beat + 1, beat_at = clock_timestamp() WHERE epoch = $1::int AND backend = pg_backend_pid() RETURNING epoch`,
          [epoch]
        ),
        (rows) => rows.length > 0
      ),

    /** Which database this is. Undefined where the server does not tell, as some that are not quite Postgres do not. */
    lineage: Effect.map(Effect.option(ask(descending)), (rows) => lineageIn(Option.getOrUndefined(rows)?.[0]?.["lineage"])),

    /** The lineage that was written down last. */
    knownLineage: Effect.map(ask("SELECT lineage FROM engine_lock"), ([row]) => lineageIn(row?.["lineage"])),

    /** Writes down where the engine dials, once whatever may be missing has been dealt with. */
    keepLineage: (epoch: number, lineage: Lineage) =>
      ask(
        "UPDATE engine_lock SET lineage = $2::text::jsonb WHERE epoch = $1::int AND set_config('synchronous_commit', 'on', true) IS NOT NULL",
        [epoch, JSON.stringify(lineage)]
      ),

    listensAt: (epoch: number, address: string) => ask("UPDATE engine_lock SET address = $2 WHERE epoch = $1::int", [epoch, address]),

    release: (epoch: number) => ask("UPDATE engine_lock SET released = true, address = NULL WHERE epoch = $1::int", [epoch]),
    /** Ends the sessions of a process that has had the lock, as far as they are ours to end. */
    endSessionsOf: (process: string) => ask(ending, [sessionMark(process) ?? null]),
    /** Returns once it has ended, or after a second. */
    endSession: (backend: number) => ask("SELECT pg_terminate_backend($1::int, 1000)", [backend])
  }
}

export type LockStore = ReturnType<typeof lockStore>

const lineageIn = (stored: unknown): Lineage | undefined => Option.getOrUndefined(Schema.decodeUnknownOption(Lineage)(stored))

const descending = `
  SELECT jsonb_build_object('system', (SELECT system_identifier FROM pg_control_system())::text,
    'database', (SELECT oid FROM pg_database WHERE datname = current_database())::text, 'table', 'engine_lock'::regclass::oid::text,
    'timeline', left(pg_walfile_name(pg_current_wal_lsn()), 8)) AS lineage`

const observation = `
  SELECT l.epoch, l.node, l.host, l.pid, l.process, l.backend, l.since, l.beat, l.released, l.address, ${holderOf}
  FROM (SELECT 1) AS one LEFT JOIN engine_lock l ON true`

const observed = ([row]: ReadonlyArray<PgConnection.Row>) => {
  const holder = typeof row?.["holder"] === "number" ? row["holder"] : undefined
  // The columns are named as `Seen` names them, and none is null where there is a row.
  const seen = row === undefined || row["epoch"] === null ? undefined : (row as unknown as Seen)
  return { holder, seen }
}

const ending = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND pg_has_role(usesysid, 'MEMBER')
    AND $1::text = ANY (string_to_array(application_name, ' '))`

const taking = `
  INSERT INTO engine_lock (epoch, node, host, pid, process, backend) VALUES (1, $1, $2, $3, $4, pg_backend_pid())
  ON CONFLICT (single) DO UPDATE SET epoch = engine_lock.epoch + 1, node = excluded.node, host = excluded.host, pid = excluded.pid,
    process = excluded.process, backend = excluded.backend, since = excluded.since, beat = engine_lock.beat + 1,
    beat_at = excluded.beat_at, released = false, address = NULL
  WHERE engine_lock.epoch = $5::int AND engine_lock.beat = $6::int
  RETURNING epoch`
