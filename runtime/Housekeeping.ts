/**
 * Deletes what is no longer needed: abandoned uploads, recordings and transcripts beyond their organization's retention, expired idempotency
 * keys and sessions, and old entries of the audit log. (The event sequencer deletes old events.) Also counts files that have not been counted.
 * Runs at the start and then every hour, a few rows at a time. Any number of nodes may run it at once, because each skips rows that another
 * has locked.
 */
import { Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { condemn, condemnedAtOnce, forget } from "#core/file/AbandonedUploads.ts"
import * as Idempotency from "#core/Idempotency.ts"
import * as carrierDeliveries from "#core/provider/CarrierDeliveries.ts"
import * as conversations from "#core/conversation/ConversationStore.ts"
import * as sessions from "#core/organization/SessionStore.ts"
import * as auditLog from "#core/organization/AuditLogStore.ts"
import { filesOfRecording } from "#core/file/RecordingFormat.ts"
import * as retention from "#core/file/RetentionStore.ts"
import { Config } from "./config/config.ts"
import { countFiles } from "./storage/countedFiles.ts"
import { Files } from "./storage/Files.ts"

const EVERY = "1 hour"
/** Pause between two batches, so that other work gets its turn. */
const BREATH = "100 millis"
/** Sorts before the key of every upload. */
const first = ""

type Sql = SqlClient.SqlClient

/** Returns how many were deleted. A file that cannot be removed keeps its row, and is retried next time. */
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
    // No file can exist under such a key.
    Effect.catchTag("FileKeyRefused", () => Effect.succeed(true)),
    Effect.catchTags({ FileFailed: () => Effect.succeed(false), FilesAway: () => Effect.succeed(false) })
  )

const removesAll = (files: Files["Service"], keys: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(keys, (key) => removes(files, key)),
    (gone) => gone.every((isGone) => isGone)
  )

/** Deletes recordings or transcripts beyond their retention, and returns how many runs lost one. */
const expiredArtifacts = Effect.fnUntraced(function* (sql: Sql, files: Files["Service"], kind: retention.ArtifactKind) {
  let gone = 0
  for (const organization of yield* retention.limited(sql, kind)) {
    while (true) {
      const runs = yield* retention.expired(sql, organization, kind)
      const kept = yield* Effect.findFirst(runs, ({ key }) =>
        key === null ? Effect.succeed(false) : Effect.map(removesAll(files, filesOfRecording(key)), (areGone) => !areGone)
      )
      const failed = Option.getOrUndefined(kept)
      // A file that cannot be removed blocks those after it until it can be.
      const done = failed === undefined ? runs : runs.slice(0, runs.indexOf(failed))
      const last = done.at(-1)
      if (failed !== undefined) yield* Effect.logWarning("a file beyond its retention could not be removed")
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

/** Runs one batch after another until one is not full, and returns how many rows were deleted. */
const inBatches = Effect.fnUntraced(function* <E>(prune: Effect.Effect<number, E>, atOnce: number) {
  let gone = 0
  while (true) {
    const batch = yield* prune
    gone += batch
    if (batch < atOnce) return gone
    yield* Effect.sleep(BREATH)
  }
})

/** Returns 0 on failure: the other work continues, and the next hour tries again. */
const ofItself = <E, R>(work: Effect.Effect<number, E, R>) =>
  Effect.catchCause(work, (cause) => Effect.as(Effect.logWarning("a part of the housekeeping failed", cause), 0))

/** Runs all housekeeping once. */
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
  yield* ofItself(inBatches(carrierDeliveries.prune(sql), carrierDeliveries.prunedAtOnce))
  yield* ofItself(inBatches(conversations.forget(sql), conversations.forgottenAtOnce))
  if (Object.values(gone).some((count) => count > 0)) {
    yield* Effect.logInfo("expired data was deleted").pipe(Effect.annotateLogs(gone))
  }
})

export const layer = Layer.effectDiscard(keepHouse.pipe(Effect.repeat(Schedule.spaced(EVERY)), Effect.forkScoped))
