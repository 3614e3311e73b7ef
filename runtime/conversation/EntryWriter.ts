/**
 * Writes the entries of all conversations of this node, in the order in which they arrive. Entries that arrive at about the same time share a
 * statement, whichever calls they belong to: a hundred conversations at once cost few statements more than one. While the database is
 * unreachable, they wait in memory.
 */
import { Deferred, Effect, Latch, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as store from "#core/conversation/ConversationStore.ts"
import type { EntryRow } from "#core/conversation/ConversationStore.ts"
import { persist } from "#runtime/postgres/persist.ts"
import type { ConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { isRefusedForContent } from "#runtime/postgres/sqlState.ts"

/** How long the first entry waits for others to share its statement. A kill may lose that much. */
const GATHER = "40 millis"
const AT_ONCE = 500
const LAST_CHANCE = "5 seconds"

export interface EntryWriter {
  readonly add: (rows: ReadonlyArray<EntryRow>) => void
  /** Returns once everything added before is in the database. */
  readonly written: Effect.Effect<void>
}

const lost = Effect.logError("the database refuses an entry of a conversation for its content: it is lost")

/** If the database refuses the content of one entry, the others are still written. */
const write = (sql: SqlClient.SqlClient, rows: ReadonlyArray<EntryRow>): Effect.Effect<void> =>
  Effect.catchCause(Effect.orDie(store.append(sql, rows)), (cause) => {
    if (!isRefusedForContent(cause)) return Effect.failCause(cause)
    return rows.length === 1 ? lost : Effect.forEach(rows, (row) => write(sql, [row]), { discard: true })
  })

export const makeEntryWriter = Effect.fnUntraced(function* (
  metrics: ConversationMetrics
): Effect.fn.Return<EntryWriter, never, Scope.Scope | SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const waiting: Array<EntryRow> = []
  /** The waiters, each with the number of entries that must have been written first. */
  const waiters: Array<{ readonly until: number; readonly done: Deferred.Deferred<void> }> = []
  const isWanted = Latch.makeUnsafe()
  let added = 0
  let done = 0
  const writeBatch = Effect.gen(function* () {
    const batch = waiting.slice(0, AT_ONCE)
    yield* persist(write(sql, batch))
    waiting.splice(0, batch.length)
    done += batch.length
    metrics.entriesWaiting = waiting.length
    for (const waiter of waiters.splice(0, waiters.filter(({ until }) => until <= done).length))
      yield* Deferred.succeed(waiter.done, undefined)
    if (waiting.length === 0) isWanted.closeUnsafe()
  })
  yield* isWanted.await.pipe(Effect.andThen(Effect.sleep(GATHER)), Effect.andThen(writeBatch), Effect.forever, Effect.forkScoped)
  const written = Effect.suspend(() => {
    if (done === added) return Effect.void
    const waiter = { until: added, done: Deferred.makeUnsafe<void>() }
    waiters.push(waiter)
    return Deferred.await(waiter.done)
  })
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(written, LAST_CHANCE)))
  return {
    written,
    add: (rows) => {
      if (rows.length === 0) return
      waiting.push(...rows)
      added += rows.length
      metrics.entriesWaiting = waiting.length
      isWanted.openUnsafe()
    }
  }
})
