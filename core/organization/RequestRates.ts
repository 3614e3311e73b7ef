/**
 * Limits the requests of each organization: a burst, then a rate per second. Each engine counts in memory, before it queries the database, so
 * that no number of concurrent requests slips through. Operators are exempt, because they come to set limits.
 */
import type { Clock } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { Caller } from "./Caller.ts"
import { defaultAllowance, TooManyRequests } from "./Quota.ts"

interface Budget {
  left: number
  /** When `left` was computed. */
  at: SteadyTime.SteadyMillis
}

export class RequestRates {
  /** Only authenticated callers are counted, so there is at most one budget per existing organization. */
  private readonly budgets = new Map<OrganizationId, Budget>()
  private readonly clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.clock = clock
  }

  /** Counts a request, and returns undefined if it may be answered. */
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
