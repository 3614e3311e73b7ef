/** Counts files that have not been counted: those from before quotas existed, and those of a killed process. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as storedFiles from "#core/file/StoredFiles.ts"
import type { NamedFile } from "#core/file/StoredFiles.ts"
import type { Files } from "./Files.ts"

/** Pause between two batches, so that other work gets its turn. */
const BREATH = "100 millis"

/** Returns how many files it has counted. */
export const countFiles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, files: Files["Service"]) {
  let found = 0
  const counted = Effect.fnUntraced(function* (named: ReadonlyArray<NamedFile>) {
    const there = []
    for (const { key, organizationId } of named) {
      // A missing file takes no room.
      const size = yield* Effect.orElseSucceed(files.stat(key), () => undefined)
      if (size !== undefined) there.push({ key, organizationId, bytes: size.bytes })
    }
    if (there.length > 0) yield* storedFiles.add(sql, there)
    found += there.length
  })
  for (let runs = yield* storedFiles.uncountedOfRuns(sql, 0); runs !== undefined; ) {
    yield* counted(runs.files)
    if (runs.isLast) break
    yield* Effect.sleep(BREATH)
    runs = yield* storedFiles.uncountedOfRuns(sql, runs.until)
  }
  for (let recordings = yield* storedFiles.uncountedRecordings(sql, 0); recordings.length > 0; ) {
    yield* counted(recordings)
    recordings = yield* storedFiles.uncountedRecordings(sql, recordings.at(-1)?.id ?? 0)
  }
  yield* storedFiles.forgetUnnamed(sql)
  return found
})
