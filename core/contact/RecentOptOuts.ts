/**
 * The numbers that have opted out recently, in the memory of the engine that dials. Claims check opt-outs in the database; this stops contacts
 * that were claimed before such a row was written, in the same step that would send their request.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import { nowOf } from "#core/SteadyTime.ts"

/** Longer than any claimed call waits before its request leaves. */
const REMEMBERED_MILLIS = 3_600_000

export class RecentOptOuts extends Context.Service<
  RecentOptOuts,
  {
    readonly add: (organizationId: OrganizationId, phoneNumbers: ReadonlyArray<string>) => void
    readonly remove: (organizationId: OrganizationId, phoneNumber: string) => void
    readonly has: (organizationId: OrganizationId, phoneNumber: string) => boolean
    /** All remembered numbers, by organization. */
    readonly all: () => ReadonlyMap<OrganizationId, ReadonlyArray<string>>
  }
>()("core/contact/RecentOptOuts") {
  static readonly layer = Layer.effect(
    RecentOptOuts,
    Effect.map(Clock.Clock, (clock) => {
      /** When each number was added, earliest first. */
      const addedAt = new Map<string, { readonly at: number; readonly organizationId: OrganizationId; readonly phoneNumber: string }>()
      const keyOf = (organizationId: OrganizationId, phoneNumber: string) => `${organizationId} ${phoneNumber}`
      const forget = (now: number): void => {
        for (const [key, { at }] of addedAt) {
          if (at > now - REMEMBERED_MILLIS) return
          addedAt.delete(key)
        }
      }
      return RecentOptOuts.of({
        add: (organizationId, phoneNumbers) => {
          const now = nowOf(clock)
          forget(now)
          for (const phoneNumber of phoneNumbers) {
            const key = keyOf(organizationId, phoneNumber)
            // Deleted first, so that it moves to the end.
            addedAt.delete(key)
            addedAt.set(key, { at: now, organizationId, phoneNumber })
          }
        },
        remove: (organizationId, phoneNumber) => void addedAt.delete(keyOf(organizationId, phoneNumber)),
        has: (organizationId, phoneNumber) => addedAt.size > 0 && addedAt.has(keyOf(organizationId, phoneNumber)),
        all: () =>
          new Map(
            [...Map.groupBy(addedAt.values(), (one) => one.organizationId)].map(([id, ones]) => [id, ones.map((one) => one.phoneNumber)])
          )
      })
    })
  )
}
