/** When the request to transfer a callee may leave: it rings a phone like any other, so the rate of the carrier's account counts it. */
import { Context, Effect, Layer } from "effect"
import type { CallId } from "#core/Id.ts"
import { CallRate, type Departure } from "#runtime/dispatch/CallRate.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"

export class TransferDepartures extends Context.Service<
  TransferDepartures,
  { readonly reserve: (callId: CallId, trunk: Pick<LiveTrunk, "configurationId" | "rate" | "rateKey">) => Departure }
>()("runtime/call/TransferDepartures") {
  /** As the engine that decides allows it, without asking anybody. */
  static readonly layerHere = Layer.effect(
    TransferDepartures,
    Effect.map(CallRate, ({ reserve }) => ({ reserve: (_, { rate, rateKey }) => reserve([{ key: rateKey, rate }]) }))
  )
}
