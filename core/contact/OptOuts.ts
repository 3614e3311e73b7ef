/** The opt-outs of an organization: adds, lists and removes them. Once `add` has returned, no request to these numbers leaves. */
import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { type OptOut, type OptOutId, OptOutNotFound, type OptOutSelection, type OptOutSource } from "./OptOut.ts"
import * as store from "./OptOutStore.ts"
import { RecentOptOuts } from "./RecentOptOuts.ts"

export class OptOuts extends Context.Service<
  OptOuts,
  {
    /** Returns how many of the numbers are new; each of these gets an event. Numbers that had already opted out stay as they are. */
    readonly add: (
      organizationId: OrganizationId,
      phoneNumbers: ReadonlyArray<string>,
      said: { readonly source: OptOutSource; readonly runId: RunId | undefined }
    ) => Effect.Effect<number>
    /** Sorted by number. */
    readonly list: (organizationId: OrganizationId, selection: OptOutSelection) => Effect.Effect<ReadonlyArray<OptOut>>
    /** The number may be dialed again. Contacts that were ended because of the opt-out stay ended. */
    readonly remove: (organizationId: OrganizationId, id: OptOutId) => Effect.Effect<void, OptOutNotFound>
  }
>()("core/contact/OptOuts") {
  static readonly layer = Layer.effect(
    OptOuts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const recent = yield* RecentOptOuts
      // One at a time, so that an addition and a removal of the same number reach the memory in the order of their commits.
      const one = Semaphore.makeUnsafe(1)
      // Once a write may have been committed, it must also reach the memory.
      const inOrder = <A, E>(write: Effect.Effect<A, E>) => one.withPermit(Effect.uninterruptible(write))
      return OptOuts.of({
        add: Effect.fn("OptOuts.add")((organizationId, phoneNumbers, said) =>
          store.add(sql, organizationId, phoneNumbers, said).pipe(
            Effect.orDie,
            // Known numbers as well: the process that added them may have died before it updated the memory.
            Effect.tap(() => Effect.sync(() => recent.add(organizationId, phoneNumbers))),
            inOrder
          )
        ),
        list: Effect.fn("OptOuts.list")((organizationId, selection) => Effect.orDie(store.list(sql, organizationId, selection))),
        remove: Effect.fn("OptOuts.remove")((organizationId, id) =>
          Effect.gen(function* () {
            const phoneNumber = yield* Effect.orDie(store.remove(sql, organizationId, id))
            if (phoneNumber === undefined) return yield* new OptOutNotFound()
            recent.remove(organizationId, phoneNumber)
          }).pipe(inOrder)
        )
      })
    })
  )
}
