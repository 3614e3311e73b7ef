/**
 * Deletes what nobody needs any more: uploads of which nothing was made, kept answers that are too old to count, log-ins that have expired,
 * old entries of the audit log. (Events are their sequencer's to delete.) At the start and then every hour, a few rows at a time; any number of nodes may be at it at
 * once, because whoever is second passes over what the first has locked.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { condemn, condemnedAtOnce, forget } from "#core/campaign/AbandonedUploads.ts"
import * as Idempotency from "#core/Idempotency.ts"
import * as sessions from "#core/organization/SessionStore.ts"
import * as auditLog from "#core/organization/AuditLogStore.ts"
import { Config } from "./config.ts"
import { Files } from "./storage/Files.ts"

const EVERY = "1 hour"
/** Between two batches, so that others get their turn. */
const BREATH = "100 millis"
/** Names an upload that lies before all others. */
const first = ""

type Sql = SqlClient.SqlClient

/** How many went. A file that cannot be removed keeps its row, and is tried again the next time. */
const abandonedUploads = Effect.fnUntraced(function* (sql: Sql, files: Files["Service"]) {
  let gone = 0
  let left = 0
  let after = first
  while (true) {
    const keys = yield* condemn(sql, after)
    const removed = yield* Effect.filter(keys, (key) => removes(files, key))
    gone += yield* forget(sql, removed)
    left += keys.length - removed.length
    after = keys.at(-1) ?? first
    if (keys.length < condemnedAtOnce) break
    yield* Effect.sleep(BREATH)
  }
  if (left > 0) yield* Effect.logWarning("abandoned uploads could not be removed").pipe(Effect.annotateLogs({ files: left }))
  return gone
})

const removes = (files: Files["Service"], key: string) =>
  files.remove(key).pipe(
    Effect.as(true),
    // No file can lie there.
    Effect.catchTag("FileKeyRefused", () => Effect.succeed(true)),
    Effect.catchTag("FileFailed", () => Effect.succeed(false))
  )

/** One batch after another, until one is not full. */
const inBatches = Effect.fnUntraced(function* <E>(prune: Effect.Effect<number, E>, atOnce: number) {
  let gone = 0
  while (true) {
    const batch = yield* prune
    gone += batch
    if (batch < atOnce) return gone
    yield* Effect.sleep(BREATH)
  }
})

/** 0 when it fails: the others go on, and the next hour tries again. */
const ofItself = <E, R>(work: Effect.Effect<number, E, R>) =>
  Effect.catchCause(work, (cause) => Effect.as(Effect.logWarning("a part of the housekeeping failed", cause), 0))

/** All of it, once. */
export const keepHouse = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files
  const { auditDays } = yield* Config
  yield* ofItself(inBatches(sessions.prune(sql), sessions.prunedAtOnce))
  const gone = {
    uploads: yield* ofItself(abandonedUploads(sql, files)),
    idempotencyKeys: yield* ofItself(inBatches(Idempotency.prune(sql), Idempotency.prunedAtOnce)),
    auditEntries: auditDays === 0 ? 0 : yield* ofItself(inBatches(auditLog.prune(sql, auditDays), auditLog.prunedAtOnce))
  }
  if (gone.uploads + gone.idempotencyKeys + gone.auditEntries > 0) {
    yield* Effect.logInfo("what nobody needs any more was deleted").pipe(Effect.annotateLogs(gone))
  }
})

export const layer = Layer.effectDiscard(keepHouse.pipe(Effect.repeat(Schedule.spaced(EVERY)), Effect.forkScoped))
