/** Implements core/telephony/NationalNumbers.ts. */
import { Effect, Layer } from "effect"
import { NationalNumbers } from "#core/telephony/NationalNumbers.ts"

export const layer = Layer.succeed(NationalNumbers, {
  international: (digits, countryCode) =>
    Effect.promise(() => import("./numberingPlan.ts")).pipe(Effect.map(({ internationalOf }) => internationalOf(digits, countryCode)))
})
