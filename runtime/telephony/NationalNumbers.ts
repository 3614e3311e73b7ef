/** Implements core/telephony/NationalNumbers.ts. */
import { Effect, Layer } from "effect"
import { NationalNumbers } from "#core/telephony/NationalNumbers.ts"

const plans = Effect.promise(() => import("./numberingPlan.ts"))

export const layer = Layer.succeed(NationalNumbers, {
  international: (digits, countryCode) => Effect.map(plans, ({ internationalOf }) => internationalOf(digits, countryCode)),
  plan: Effect.map(plans, ({ numberingPlan }) => numberingPlan)
})
