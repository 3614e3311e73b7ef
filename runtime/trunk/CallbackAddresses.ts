/** Makes the addresses that carriers are given, and opens them again: a keyed hash tells ours from any others. */
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { type CallbackAddress, callNamed, pathOf, sealedPart } from "#core/provider/CallbackAddress.ts"
import { CarrierHost, type SetupHost } from "#core/provider/Setup.ts"
import type { CarrierCall } from "#core/provider/CarrierCallbacks.ts"
import { MEDIA_ROUTE, type MediaUpgrade } from "#core/provider/CarrierMedia.ts"
import { Config } from "#runtime/config/config.ts"

interface Addresses {
  /** Undefined: the engine has no public URL, so carriers cannot reach it. */
  readonly urlOf: ((address: CallbackAddress) => string) | undefined
  /** Undefined: we did not make this address. */
  readonly open: (parts: CarrierCall["address"]) => CallbackAddress | undefined
  /** Where the carrier opens a websocket for the audio of a call. */
  readonly mediaUrlOf: ((callId: CallId) => string) | undefined
  /** The call that this address was made for. Undefined: we did not make it. */
  readonly openMedia: (parts: MediaUpgrade["address"]) => CallId | undefined
}

/** Without the layer below there are none. */
export const CallbackAddresses = Context.Reference<Addresses>("runtime/trunk/CallbackAddresses", {
  defaultValue: () => ({ mediaUrlOf: undefined, open: () => undefined, openMedia: () => undefined, urlOf: undefined })
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

const isCallId = Schema.is(CallId)

const addressesOf = (secret: string, publicUrl: string | undefined): Addresses => {
  const hashOf = (text: string): Buffer => createHmac("sha256", secret).update(text).digest()
  const sealOf = (address: CallbackAddress): string => hashOf(sealedPart(address)).toString("base64url")
  // Begins unlike the sealed part of any other address, so that neither passes for the other.
  const mediaSealOf = (callId: CallId): string => hashOf(`media/${callId}`).toString("base64url")
  // `ws:` for `http:`, `wss:` for `https:`.
  const socketOrigin = publicUrl?.replace(/^http/, "ws")
  return {
    urlOf: publicUrl === undefined ? undefined : (address) => publicUrl + pathOf(address, sealOf(address)),
    open: ({ call, configuration, kind, seal }) => {
      const parts = Option.getOrUndefined(partsOf({ call: callNamed(call), configuration, kind }))
      if (parts === undefined) return undefined
      const address: CallbackAddress = { callId: parts.call, configurationId: parts.configuration, kind: parts.kind }
      return isSeal(seal, sealOf(address)) ? address : undefined
    },
    mediaUrlOf: socketOrigin === undefined ? undefined : (callId) => socketOrigin + mediaPathOf(callId, mediaSealOf(callId)),
    openMedia: ({ call, seal }) => (isCallId(call) && isSeal(seal, mediaSealOf(call)) ? call : undefined)
  }
}

const mediaPathOf = (callId: CallId, seal: string): string => MEDIA_ROUTE.replace(":call", callId).replace(":seal", seal)

const isSeal = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given, "base64url"), Buffer.from(expected, "base64url")]
  return one.length === other.length && timingSafeEqual(one, other)
}
