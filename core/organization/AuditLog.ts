/**
 * Who changed what, who logged in, and who has read what people said; when, and from where. Entries are written a moment after the fact and many
 * at a time, so that no request waits for its own, and the commits of calls do not queue behind one commit for each request; a node that is
 * killed may lose those of its last moment. What was sent is never part of an entry.
 */
import { Context, Effect, Fiber, Latch, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { AuditEntry, AuditRecord } from "./AuditEntry.ts"
import * as store from "./AuditLogStore.ts"
import { CurrentTenant } from "./CurrentTenant.ts"

/** Entries of all organizations are written together, whoever's request happens to do it. */
const ofAll = Effect.provideService(CurrentTenant, undefined)

const waitingLimit = 10_000
const batchLimit = 500
/** For others to come along. */
const gathering = "100 millis"
const retryAfter = "1 second"
const lastChance = "5 seconds"

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Does not wait. When the database has been gone for long, entries are dropped, and that is logged. */
    readonly record: (entry: AuditEntry) => Effect.Effect<void>
    /** Newest first, what this node has recorded included. Only entries before `before`, the id of one. */
    readonly list: (
      organizationId: OrganizationId,
      page: { readonly before: number | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<AuditRecord>>
  }
>()("core/organization/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const waiting: Array<AuditEntry> = []
      const news = Latch.makeUnsafe(false)
      const one = Semaphore.makeUnsafe(1)

      const writeBatch = Effect.suspend(() => {
        const batch = waiting.slice(0, batchLimit)
        return Effect.andThen(
          store.insert(sql, batch),
          Effect.sync(() => waiting.splice(0, batch.length))
        )
      })
      // Not interrupted between the database and the list: an entry would be written twice.
      const writeAll = Effect.gen(function* () {
        while (waiting.length > 0) yield* Effect.uninterruptible(writeBatch)
      }).pipe(one.withPermit, ofAll)
      const writer = Effect.gen(function* () {
        yield* news.await
        yield* Effect.sleep(gathering)
        news.closeUnsafe()
        yield* writeAll
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning("entries of the audit log could not be written yet", cause).pipe(
            Effect.andThen(Effect.sleep(retryAfter)),
            Effect.andThen(news.open)
          )
        ),
        Effect.forever
      )
      yield* Effect.addFinalizer(() =>
        // What hangs in the database cannot be interrupted, and is not waited for.
        Effect.forkDetach(writeAll).pipe(
          Effect.flatMap(Fiber.join),
          Effect.timeout(lastChance),
          Effect.catchCause((cause) => Effect.logError("entries of the audit log were lost", cause))
        )
      )
      yield* Effect.forkScoped(writer)

      return AuditLog.of({
        record: (entry) =>
          Effect.suspend(() => {
            if (waiting.length >= waitingLimit) return Effect.logError("an entry of the audit log was dropped")
            waiting.push(entry)
            news.openUnsafe()
            return Effect.void
          }),
        list: Effect.fn("AuditLog.list")((organizationId, page) =>
          // Who is no member any more is named all the same.
          Effect.orDie(Effect.andThen(writeAll, ofAll(store.list(sql, organizationId, page))))
        )
      })
    })
  )
}
