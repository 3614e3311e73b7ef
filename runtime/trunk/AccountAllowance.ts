/** How often each organization may have its provider accounts queried: the organization chose where we connect to, but we bear the wait. */
import type { OrganizationId } from "#core/Id.ts"
import { Budgets } from "#core/organization/Budgets.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"

const allowance = { atOnce: 6, everyMillis: 10_000 }
const MOST_AT_ONCE = 2
const BUSY_SECONDS = 5
/** Requests of one organization in the background, including those under way. */
const MOST_IN_BACKGROUND = 20
const MOST_BUDGETS = 10_000

export class AccountAllowance {
  readonly #budgets = new Budgets(allowance, MOST_BUDGETS)
  readonly #running = new Map<OrganizationId, number>()
  readonly #inBackground = new Map<OrganizationId, number>()

  /** Undefined if it may begin; it then counts until `end`. Otherwise the number of seconds to wait. */
  begin(organizationId: OrganizationId, now: SteadyMillis): number | undefined {
    const key = String(organizationId)
    const waitMillis = this.#budgets.waitMillis(key, now)
    if (waitMillis > 0) return Math.ceil(waitMillis / 1000)
    if (countOf(this.#running, organizationId) >= MOST_AT_ONCE) return BUSY_SECONDS
    this.#budgets.spend(key, now)
    add(this.#running, organizationId)
    return undefined
  }

  end(organizationId: OrganizationId): void {
    subtract(this.#running, organizationId)
  }

  /** False if no more may wait. Otherwise it counts until `leaveBackground`. */
  enterBackground(organizationId: OrganizationId): boolean {
    if (countOf(this.#inBackground, organizationId) >= MOST_IN_BACKGROUND) return false
    add(this.#inBackground, organizationId)
    return true
  }

  leaveBackground(organizationId: OrganizationId): void {
    subtract(this.#inBackground, organizationId)
  }
}

type Counts = Map<OrganizationId, number>

const countOf = (counts: Counts, organizationId: OrganizationId): number => counts.get(organizationId) ?? 0
const add = (counts: Counts, organizationId: OrganizationId) => counts.set(organizationId, countOf(counts, organizationId) + 1)
const subtract = (counts: Counts, organizationId: OrganizationId) => {
  const left = (counts.get(organizationId) ?? 1) - 1
  if (left === 0) counts.delete(organizationId)
  else counts.set(organizationId, left)
}
