/**
 * Heavy work takes long because of its size: reading a list of a hundred thousand contacts, say, or checking a graph of half a megabyte. It has
 * lanes of its own, so that light work does not queue behind it: two at once, one for each organization, in turns. A lane then rests as long
 * as it has worked, and the organization six times as long, within limits: all requests share one thread with the calls.
 */
import { Context, Effect } from "effect"
import { FairTurns } from "./FairTurns.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"

/** A request has thirty seconds: half of them to wait, the rest to work. */
const usualPatienceMillis = 15_000
const rest = { place: { times: 1, mostMillis: 500 }, worker: { times: 6, mostMillis: 2000 } }

export const makeHeavyLanes = (patienceMillis: number): FairTurns<OrganizationId | undefined> =>
  new FairTurns({ places: 2, placesEach: 1, waiting: 100, waitingEach: 20, patienceMillis, rest, retryAfterSeconds: 5 })

export const HeavyLanes = Context.Reference<FairTurns<OrganizationId | undefined>>("core/load/HeavyLanes", {
  defaultValue: () => makeHeavyLanes(usualPatienceMillis)
})

/** Whether the current fiber has a lane: its statements may take longer. */
export const IsHeavy = Context.Reference<boolean>("core/load/IsHeavy", { defaultValue: () => false })

/** Runs `work` in a lane, on behalf of `organizationId` or else of the organization that the fiber works for. */
export const heavy = <A, E, R>(work: Effect.Effect<A, E, R>, organizationId?: OrganizationId): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    // A fiber that has a lane must not wait for a second one: it could wait for itself.
    fiber.getRef(IsHeavy)
      ? work
      : fiber.getRef(HeavyLanes).take(organizationId ?? fiber.getRef(CurrentTenant), Effect.provideService(work, IsHeavy, true))
  )
