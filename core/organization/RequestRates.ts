/**
 * How many requests each organization sends: so many at once, and then so many a second. Counted by each engine in memory, before anything is
 * asked of the database, so that no number of requests at once slips through. Operators are not counted: they come to set limits.
 */
import type { Clock } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { Caller } from "./Caller.ts"
import { defaultAllowance, TooManyRequests } from "./Quota.ts"

interface Budget {
  left: number
  /** When that was so. */
  at: SteadyTime.SteadyMillis
}

export class RequestRates {
  /** Of organizations that there are: one of these for each. */
  private readonly budgets = new Map<OrganizationId, Budget>()
  private readonly clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.clock = clock
  }

  /** Counts a request; undefined when it may be answered. */
  refusal({ allowance = defaultAllowance, isOperator, organizationId }: Caller): TooManyRequests | undefined {
    if (isOperator === true) return undefined
    const now = SteadyTime.nowOf(this.clock)
    const perSecond = allowance.requestsPerSecond
    const budget = this.budgetOf(organizationId, allowance.requestBurst, now)
    budget.left = Math.min(allowance.requestBurst, budget.left + ((now - budget.at) / 1000) * perSecond)
    budget.at = now
    if (budget.left < 1) return new TooManyRequests({ perSecond, retryAfterSeconds: Math.max(1, Math.ceil((1 - budget.left) / perSecond)) })
    budget.left--
    return undefined
  }

  private budgetOf(id: OrganizationId, left: number, at: SteadyTime.SteadyMillis): Budget {
    const found = this.budgets.get(id)
    if (found !== undefined) return found
    const made = { left, at }
    this.budgets.set(id, made)
    return made
  }
}
