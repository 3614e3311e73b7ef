/**
 * What takes long for its sheer size, such as reading a list of a hundred thousand contacts, or checking a graph of half a megabyte. It goes through
 * lanes of its own, so that light work does not queue behind it: few at once, one for each organization, in turns, and each lane rests as long
 * as it has worked, and whoever worked in it six times as long. All requests share one thread, and calls share it with them.
 */
import { Context, Effect } from "effect"
import { FairTurns } from "./FairTurns.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"

/** A request gets thirty seconds: half of them to wait, the rest to work. */
const patienceMillis = 15_000
const rest = { place: { times: 1, mostMillis: 500 }, worker: { times: 6, mostMillis: 2000 } }

export const HeavyLanes = Context.Reference<FairTurns<OrganizationId | undefined>>("core/load/HeavyLanes", {
  defaultValue: () => new FairTurns({ places: 2, placesEach: 1, waiting: 100, waitingEach: 20, patienceMillis, rest, retryAfterSeconds: 5 })
})

/** Whether the current fiber has a lane: its statements may take longer. */
export const IsHeavy = Context.Reference<boolean>("core/load/IsHeavy", { defaultValue: () => false })

/** For the organization that the fiber works for, or the one that is named. */
export const heavy = <A, E, R>(work: Effect.Effect<A, E, R>, organizationId?: OrganizationId): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    // To ask for a second lane while it has one could take for ever.
    fiber.getRef(IsHeavy)
      ? work
      : fiber.getRef(HeavyLanes).take(organizationId ?? fiber.getRef(CurrentTenant), Effect.provideService(work, IsHeavy, true))
  )
