/**
 * Limits the requests of each organization: a burst, then a rate per second. Each engine counts in memory, before it queries the database, so
 * that no number of concurrent requests slips through, and what it hears of other engines counts as well. Operators are exempt, because they come
 * to set limits.
 */
import type { Clock } from "effect"
import { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { Caller } from "./Caller.ts"
import { defaultAllowance, TooManyRequests } from "./Quota.ts"
import { type SharedBudgets, type Spending, Untaken } from "./SharedBudgets.ts"

interface Budget {
  burst: number
  perSecond: number
  /** Less than 0: other engines have answered requests in the meantime. */
  left: number
  /** When `left` was computed. */
  at: SteadyTime.SteadyMillis
}

export class RequestRates {
  /** Only authenticated callers are counted, so there is at most one budget per existing organization. */
  private readonly budgets = new Map<OrganizationId, Budget>()
  private readonly clock: Clock.Clock
  private readonly untaken: Untaken<OrganizationId> | undefined

  constructor(clock: Clock.Clock, { share }: (typeof SharedBudgets)["Service"]) {
    this.clock = clock
    const tell = share("requests", { learn: (key, spent) => this.learn(key, spent), take: (most) => this.taken(most) })
    this.untaken = tell && new Untaken(Number.POSITIVE_INFINITY, tell)
  }

  /** Counts a request, and returns undefined if it may be answered. */
  refusal({ allowance = defaultAllowance, isOperator, organizationId }: Caller): TooManyRequests | undefined {
    if (isOperator === true) return undefined
    const { requestBurst, requestsPerSecond: perSecond } = allowance
    const budget = this.budgetOf(organizationId, requestBurst)
    budget.burst = requestBurst
    budget.perSecond = perSecond
    this.refill(budget)
    if (budget.left < 1) return new TooManyRequests({ perSecond, retryAfterSeconds: Math.max(1, Math.ceil((1 - budget.left) / perSecond)) })
    budget.left--
    this.untaken?.add(organizationId, 1)
    return undefined
  }

  private budgetOf(id: OrganizationId, burst: number): Budget {
    const found = this.budgets.get(id)
    if (found !== undefined) return found
    const made = { at: SteadyTime.nowOf(this.clock), burst, left: burst, perSecond: 0 }
    this.budgets.set(id, made)
    return made
  }

  private refill(budget: Budget): void {
    const now = SteadyTime.nowOf(this.clock)
    budget.left = Math.min(budget.burst, budget.left + ((now - budget.at) / 1000) * budget.perSecond)
    budget.at = now
  }

  private taken(most: number): ReadonlyArray<Spending> {
    return (this.untaken?.take(most) ?? []).flatMap(([id, sum]) => {
      const budget = this.budgets.get(id)
      if (budget === undefined) return []
      this.refill(budget)
      const amount = Math.min(sum, budget.burst - budget.left)
      return [{ amount, before: budget.burst - budget.left - amount, everyMillis: 1000 / budget.perSecond, key: String(id) }]
    })
  }

  private learn(key: string, spent: number): void {
    // The key is that of `taken`.
    const id = OrganizationId.make(Number(key))
    const budget = this.budgets.get(id)
    if (budget === undefined) return
    this.refill(budget)
    budget.left = budget.burst - spent - (this.untaken?.of(id) ?? 0)
  }
}
