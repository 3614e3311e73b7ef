/**
 * Why a provider refuses every call until a person has acted. `unexplained`: it refuses one number after the other in words that the adapter does not
 * know (`Unexplained.ts`).
 */
export const fatalReasons = ["auth_refused", "no_credit", "misconfigured", "unexplained"] as const
export type FatalReason = (typeof fatalReasons)[number]
export const isFatal = (reason: string): reason is FatalReason => fatalReasons.some((fatal) => fatal === reason)
