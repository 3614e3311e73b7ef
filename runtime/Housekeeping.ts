/**
 * Deletes what nobody needs any more: uploads of which nothing was made, recordings and transcripts that their organization keeps no longer,
 * kept answers that are too old to count, log-ins that have expired, old entries of the audit log. (Events are their sequencer's to delete.)
 * Counts files that nobody has counted.
 * At the start and then every hour, a few rows at a time; any number of nodes may be at it at
 * once, because whoever is second passes over what the first has locked.
 */
import { Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { condemn, condemnedAtOnce, forget } from "#core/file/AbandonedUploads.ts"
import * as Idempotency from "#core/Idempotency.ts"
import * as sessions from "#core/organization/SessionStore.ts"
import * as auditLog from "#core/organization/AuditLogStore.ts"
import { filesOfRecording } from "#core/file/RecordingFormat.ts"
import * as retention from "#core/file/RetentionStore.ts"
import { Config } from "./config/config.ts"
import { countFiles } from "./storage/countedFiles.ts"
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

const removesAll = (files: Files["Service"], keys: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(keys, (key) => removes(files, key)),
    (gone) => gone.every((isGone) => isGone)
  )

/** Recordings or transcripts that an organization keeps no longer; how many runs lost one. */
const expiredArtifacts = Effect.fnUntraced(function* (sql: Sql, files: Files["Service"], kind: retention.ArtifactKind) {
  let gone = 0
  for (const organization of yield* retention.limited(sql, kind)) {
    while (true) {
      const runs = yield* retention.expired(sql, organization, kind)
      const kept = yield* Effect.findFirst(runs, ({ key }) =>
        key === null ? Effect.succeed(false) : Effect.map(removesAll(files, filesOfRecording(key)), (areGone) => !areGone)
      )
      const failed = Option.getOrUndefined(kept)
      // Nothing behind a file that cannot be removed is looked at until it can.
      const done = failed === undefined ? runs : runs.slice(0, runs.indexOf(failed))
      const last = done.at(-1)
      if (failed !== undefined) yield* Effect.logWarning("a file that is kept no longer could not be removed")
      if (last === undefined) break
      yield* retention.forget(
        sql,
        organization,
        kind,
        done.map(({ id }) => id)
      )
      yield* retention.advance(sql, organization, kind, last.id)
      gone += done.filter(({ key }) => key !== null).length
      if (runs.length < retention.atOnce || failed !== undefined) break
      yield* Effect.sleep(BREATH)
    }
  }
  return gone
})

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
  yield* ofItself(countFiles(sql, files))
  const gone = {
    uploads: yield* ofItself(abandonedUploads(sql, files)),
    recordings: yield* ofItself(expiredArtifacts(sql, files, "recording")),
    transcripts: yield* ofItself(expiredArtifacts(sql, files, "transcript")),
    idempotencyKeys: yield* ofItself(inBatches(Idempotency.prune(sql), Idempotency.prunedAtOnce)),
    auditEntries: auditDays === 0 ? 0 : yield* ofItself(inBatches(auditLog.prune(sql, auditDays), auditLog.prunedAtOnce))
  }
  if (Object.values(gone).some((count) => count > 0)) {
    yield* Effect.logInfo("what nobody needs any more was deleted").pipe(Effect.annotateLogs(gone))
  }
})

export const layer = Layer.effectDiscard(keepHouse.pipe(Effect.repeat(Schedule.spaced(EVERY)), Effect.forkScoped))
