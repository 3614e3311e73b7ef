/**
 * Who changed what, who logged in, and who read transcripts or listened to recordings; when, and from where. Entries are written in batches a
 * moment later, so that no request waits for its own entry, and calls do not queue behind one commit per request. A node that is killed may
 * lose the entries of its last moment. Request bodies are never part of an entry.
 */
import { Context, Effect, Fiber, Latch, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { AuditEntry, AuditRecord } from "./AuditEntry.ts"
import * as store from "./AuditLogStore.ts"
import { CurrentTenant } from "./CurrentTenant.ts"

/** One batch holds entries of several organizations, so it must not be bound to the tenant of the request that triggers it. */
const ofAll = Effect.provideService(CurrentTenant, undefined)

const waitingLimit = 10_000
const batchLimit = 500
/** How long the writer waits for more entries before it writes a batch. */
const gathering = "100 millis"
const retryAfter = "1 second"
const lastChance = "5 seconds"

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Does not wait. If the database stays away for long, entries are dropped, and that is logged. */
    readonly record: (entry: AuditEntry) => Effect.Effect<void>
    /** Newest first, including what this node has not written yet. Only entries whose id is below `before`. */
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
      // Uninterruptible: an interruption between the insert and the splice would write the batch twice.
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
        // A statement that hangs cannot be interrupted, so the fiber is detached and given up after `lastChance`.
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
          // Across tenants, so that users who are no longer members are still named.
          Effect.orDie(Effect.andThen(writeAll, ofAll(store.list(sql, organizationId, page))))
        )
      })
    })
  )
}
