/**
 * How many connections of each organization follow. A place is taken at once when somebody asks to follow, before anything is waited for, and
 * given back when the connection ends; one whose connection never begins, because the client has gone, lapses.
 */
import { type Clock, Effect, type Scope } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"

/** A stream begins right after it was asked for, unless nobody reads it any more. */
const lapsesAfterMillis = 30_000

interface Places {
  open: number
  /** When those were taken that have not begun, oldest first. */
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

  /** False: `most` are taken. */
  take(id: OrganizationId, most: number): boolean {
    if (this.count(id) >= most) return false
    const places = this.byOrganization.get(id) ?? { open: 0, taken: [] }
    places.taken.push(SteadyTime.nowOf(this.clock))
    this.byOrganization.set(id, places)
    return true
  }

  /** From now on a place that was taken is in use, to the end of the scope. */
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
