/**
 * Counts the connections of each organization that follow events. A place is taken synchronously when a client asks to follow, and given back
 * when its stream ends. If the stream never starts, because the client has gone, the place lapses.
 */
import { type Clock, Effect, type Scope } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"

/** A stream starts right after it was requested, unless its client has gone. */
const lapsesAfterMillis = 30_000

interface Places {
  open: number
  /** When places were taken whose streams have not started yet, oldest first. */
  readonly taken: Array<SteadyTime.SteadyMillis>
}

export class FollowerPlaces {
  private readonly byOrganization = new Map<OrganizationId, Places>()
  private readonly clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.clock = clock
  }

  readonly count = (id: OrganizationId): number => {
    const places = this.byOrganization.get(id)
    if (places === undefined) return 0
    const lapsed = SteadyTime.nowOf(this.clock) - lapsesAfterMillis
    while (places.taken[0] !== undefined && places.taken[0] <= lapsed) places.taken.shift()
    return places.open + places.taken.length
  }

  /** Takes a place. False if the organization already has `most`. */
  take(id: OrganizationId, most: number): boolean {
    if (this.count(id) >= most) return false
    const places = this.byOrganization.get(id) ?? { open: 0, taken: [] }
    places.taken.push(SteadyTime.nowOf(this.clock))
    this.byOrganization.set(id, places)
    return true
  }

  /** Marks a taken place as in use until the scope closes. */
  begun(id: OrganizationId): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => this.begin(id)),
      () => Effect.sync(() => this.end(id))
    )
  }

  private begin(id: OrganizationId): void {
    const places = this.byOrganization.get(id) ?? { open: 0, taken: [] }
    places.taken.shift()
    places.open++
    this.byOrganization.set(id, places)
  }

  private end(id: OrganizationId): void {
    const places = this.byOrganization.get(id)
    if (places === undefined) return
    places.open--
    if (places.open === 0 && places.taken.length === 0) this.byOrganization.delete(id)
  }
}
