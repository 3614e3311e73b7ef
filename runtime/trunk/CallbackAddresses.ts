/** Makes the addresses that carriers are given, and opens them again: a keyed hash tells ours from any others. */
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { type CallbackAddress, callNamed, pathOf, sealedPart } from "#core/provider/CallbackAddress.ts"
import { CarrierHost, type SetupHost } from "#core/provider/Setup.ts"
import type { CarrierCall } from "#core/provider/CarrierCallbacks.ts"
import { Config } from "#runtime/config/config.ts"

interface Addresses {
  /** Undefined: the engine has no public URL, so carriers cannot reach it. */
  readonly urlOf: ((address: CallbackAddress) => string) | undefined
  /** Undefined: we did not make this address. */
  readonly open: (parts: CarrierCall["address"]) => CallbackAddress | undefined
}

/** Without the layer below there are none. */
export const CallbackAddresses = Context.Reference<Addresses>("runtime/trunk/CallbackAddresses", {
  defaultValue: () => ({ open: () => undefined, urlOf: undefined })
})

const Parts = Schema.Struct({
  call: Schema.UndefinedOr(CallId),
  configuration: Schema.FiniteFromString.pipe(Schema.decodeTo(TelephonyConfigId)),
  kind: Schema.String.check(Schema.isPattern(/^[a-z-]{1,32}$/))
})
const partsOf = Schema.decodeUnknownOption(Parts)

/** The addresses survive a restart, and every node opens them. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* Config
    const secret = yield* InstallationSecrets.use((secrets) => secrets.get("carrier-callbacks"))
    const addresses = addressesOf(Redacted.value(secret), publicUrl)
    const { urlOf } = addresses
    const host = (configurationId: TelephonyConfigId): SetupHost => ({
      callbackUrl: urlOf && ((kind) => urlOf({ callId: undefined, configurationId, kind })),
      publicUrl
    })
    return Layer.mergeAll(Layer.succeed(CallbackAddresses, addresses), Layer.succeed(CarrierHost, host))
  })
).pipe(Layer.provide(InstallationSecrets.layer))

const addressesOf = (secret: string, publicUrl: string | undefined): Addresses => {
  const sealOf = (address: CallbackAddress): Buffer => createHmac("sha256", secret).update(sealedPart(address)).digest()
  return {
    urlOf: publicUrl === undefined ? undefined : (address) => publicUrl + pathOf(address, sealOf(address).toString("base64url")),
    open: ({ call, configuration, kind, seal }) => {
      const parts = Option.getOrUndefined(partsOf({ call: callNamed(call), configuration, kind }))
      if (parts === undefined) return undefined
      const address: CallbackAddress = { callId: parts.call, configurationId: parts.configuration, kind: parts.kind }
      const [expected, given] = [sealOf(address), Buffer.from(seal, "base64url")]
      return given.length === expected.length && timingSafeEqual(given, expected) ? address : undefined
    }
  }
}
