import { Effect, Layer } from "effect"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"

/** Reports that no trunk was ever down. */
export const noOutages = Layer.succeed(TrunkOutages, {
  began: () => Effect.void,
  ended: () => Effect.void,
  keepFor: () => Effect.void,
  tell: () => Effect.succeed({ isPending: false, told: [] }),
  untold: Effect.succeed([])
})
