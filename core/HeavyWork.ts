/**
 * What takes seconds for its sheer size, such as reading a list of a hundred thousand contacts. It goes through lanes of its own, so that light work
 * never queues behind it: few at once, since each takes a good part of a processor, one for each organization, and in turns.
 */
import { Context, Effect } from "effect"
import { FairTurns } from "./FairTurns.ts"
import type { OrganizationId } from "./Id.ts"
import { CurrentTenant } from "./organization/CurrentTenant.ts"

/** A request gets thirty seconds: half of them to wait, the rest to work. */
const patienceMillis = 15_000

export const HeavyLanes = Context.Reference<FairTurns<OrganizationId | undefined>>("core/HeavyLanes", {
  defaultValue: () => new FairTurns({ places: 2, placesEach: 1, waiting: 100, waitingEach: 20, patienceMillis, retryAfterSeconds: 5 })
})

/** Whether the current fiber has a lane: its statements may take longer. */
export const IsHeavy = Context.Reference<boolean>("core/IsHeavy", { defaultValue: () => false })

export const heavy = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    // To ask for a second lane while it has one could take for ever.
    fiber.getRef(IsHeavy) ? work : fiber.getRef(HeavyLanes).take(fiber.getRef(CurrentTenant), Effect.provideService(work, IsHeavy, true))
  )
