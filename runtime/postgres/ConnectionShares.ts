/**
 * Shares the connections fairly among requests. An organization may hold all but two of the request connections; the one that holds fewest comes
 * first. Requests without an organization (log-ins, keys, uploads) share a part of the engine's own connections by address, so that calls always
 * find one.
 */
import { Context, Effect, type Fiber, type Scope } from "effect"
import { FairTurns } from "#core/load/FairTurns.ts"
import type { OrganizationId } from "#core/Id.ts"
import { subscriberOf } from "#core/egress/Network.ts"
import { CurrentAddress, CurrentTenant } from "#core/organization/CurrentTenant.ts"

/** The connections for requests, each of which holds one only for a statement or a transaction. */
export const requestConnections = 8
const leftForOthers = 2
const ofTheEngine = 4
const ofTheEngineEach = 2
const patienceMillis = 10_000
const retryAfterSeconds = 2

/** How long a statement may take in a light request, and in heavy work. */
export const StatementDeadlines = Context.Reference<{ readonly lightMillis: number; readonly heavyMillis: number }>(
  "runtime/StatementDeadlines",
  { defaultValue: () => ({ lightMillis: 10_000, heavyMillis: 25_000 }) }
)

type AnyFiber = Fiber.Fiber<unknown, unknown>

const atLeastOne = (count: number): number => Math.max(1, count)

export class ConnectionShares {
  private readonly organizations: FairTurns<OrganizationId>
  private readonly addresses: FairTurns<string>

  constructor(maxConnections: number) {
    const waits = { patienceMillis, retryAfterSeconds }
    const places = Math.min(requestConnections, maxConnections)
    this.organizations = new FairTurns({
      ...waits,
      places,
      placesEach: atLeastOne(places - leftForOthers),
      waiting: 2000,
      waitingEach: 500
    })
    const open = atLeastOne(Math.min(ofTheEngine, maxConnections - 1))
    this.addresses = new FairTurns({
      ...waits,
      places: open,
      placesEach: atLeastOne(Math.min(ofTheEngineEach, open - 1)),
      waiting: 1000,
      waitingEach: 200
    })
  }

  /** Runs work that holds a connection throughout. The engine's own work does not wait for a turn. */
  take<A, E, R>(fiber: AnyFiber, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const tenant = fiber.getRef(CurrentTenant)
    if (tenant !== undefined) return this.organizations.take(tenant, work)
    const address = fiber.getRef(CurrentAddress)
    return address === undefined ? work : this.addresses.take(subscriberOf(address), work)
  }

  /** Holds a turn until the scope closes. */
  hold(fiber: AnyFiber): Effect.Effect<void, never, Scope.Scope> {
    const tenant = fiber.getRef(CurrentTenant)
    if (tenant !== undefined) return this.organizations.hold(tenant)
    const address = fiber.getRef(CurrentAddress)
    return address === undefined ? Effect.void : this.addresses.hold(subscriberOf(address))
  }
}
