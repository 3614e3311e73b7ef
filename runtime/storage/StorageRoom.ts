/**
 * Knows whether an organization has room for another recording. Calls never wait for this: the answer is a few seconds old, so an organization
 * may exceed its quota by the recordings in progress. Also writes the sizes of the files that calls leave behind, many at a time. Sizes lost
 * when a process is killed are counted again within the hour.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as storedFiles from "#core/file/StoredFiles.ts"
import type { StoredFile } from "#core/file/StoredFiles.ts"

const EVERY = "1 second"
/** If there is nothing to write, quotas are checked only every this many turns. */
const IDLE_TURNS = 5
const AT_ONCE = 500
const MOST_WAITING = 100_000
const LAST_CHANCE = "5 seconds"

interface Room {
  readonly isFull: (organizationId: OrganizationId) => boolean
  /** The file is on the disk, and its size will be counted. */
  readonly kept: (file: StoredFile) => void
}

export const StorageRoom = Context.Reference<Room>("runtime/storage/StorageRoom", {
  defaultValue: () => ({ isFull: () => false, kept: () => undefined })
})

type Sql = SqlClient.SqlClient

class Watch {
  readonly waiting: Array<StoredFile> = []
  /** Undefined before the first check. */
  private full: ReadonlySet<OrganizationId> | undefined
  private readonly sql: Sql
  private turns = 0

  constructor(sql: Sql) {
    this.sql = sql
  }

  readonly isFull = (organizationId: OrganizationId): boolean => this.full?.has(organizationId) ?? false

  readonly kept = (file: StoredFile): void => {
    if (this.waiting.length < MOST_WAITING) this.waiting.push(file)
  }

  /** Uninterruptible, so that a written batch is always removed from the list. */
  readonly written = Effect.suspend(() => {
    const batch = this.waiting.slice(0, AT_ONCE)
    return Effect.map(storedFiles.add(this.sql, batch), () => this.waiting.splice(0, batch.length).length)
  }).pipe(Effect.uninterruptible)

  readonly look = Effect.suspend(() => {
    if (this.waiting.length === 0 && this.turns++ % IDLE_TURNS !== 0) return Effect.void
    return Effect.andThen(this.allWritten(), this.noticed())
  })

  allWritten() {
    return Effect.whileLoop({ while: () => this.waiting.length > 0, body: () => this.written, step: () => undefined })
  }

  private noticed() {
    return Effect.gen({ self: this }, function* () {
      const before = this.full
      const found = yield* storedFiles.full(this.sql)
      this.full = new Set(found.map(({ organizationId }) => organizationId))
      for (const one of found) {
        if (before?.has(one.organizationId) === true) continue
        yield* Effect.logWarning("the storage of an organization is full: its calls are not recorded").pipe(
          Effect.annotateLogs({ organizationId: one.organizationId, usedBytes: one.used })
        )
        // Not reported at startup, when it is not new.
        if (before !== undefined) yield* storedFiles.tellFull(this.sql, one)
      }
    })
  }
}

export const layer = Layer.effect(
  StorageRoom,
  Effect.gen(function* () {
    const watch = new Watch(yield* SqlClient.SqlClient)
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(watch.allWritten(), LAST_CHANCE)))
    const looking = Effect.catchCause(watch.look, (cause) =>
      Effect.logWarning("the storage quotas of organizations could not be checked", cause)
    )
    yield* Effect.forkScoped(Effect.repeat(looking, Schedule.spaced(EVERY)))
    return { isFull: watch.isFull, kept: watch.kept }
  })
)
