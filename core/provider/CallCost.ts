/** What a call cost, as reported by its carrier. */
import type { TrunkEvent } from "./TrunkEvent.ts"

export interface CallCost {
  /** A non-negative decimal in the currency's main unit. It keeps the carrier's own digits, which a floating-point number would not. */
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
}

/** The latest report of a cost. Undefined if there is none that can be understood. */
export const costIn = (events: ReadonlyArray<TrunkEvent>): CallCost | undefined => {
  const bills = events.flatMap((event) => (event._tag === "Billed" && isCost(event) ? [event] : []))
  const last = bills.at(-1)
  return last === undefined ? undefined : { amount: last.amount, currency: last.currency }
}

const isCost = ({ amount, currency }: CallCost): boolean => /^\d{1,9}(\.\d{1,12})?$/.test(amount) && /^[A-Z]{3}$/.test(currency)
