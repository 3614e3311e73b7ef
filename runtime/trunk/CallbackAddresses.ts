/** Creates the addresses that carriers are given, and opens them again: a keyed hash distinguishes ours from all others. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { type CallbackAddress, callNamed, pathOf, sealedPart, sealedText } from "#core/provider/CallbackAddress.ts"
import { CarrierHost, type SetupHost } from "#core/provider/Setup.ts"
import type { CarrierCall } from "#core/provider/CarrierCallbacks.ts"
import { MEDIA_ROUTE, type MediaUpgrade } from "#core/provider/CarrierMedia.ts"
import { Config } from "#runtime/config/config.ts"

export interface OpenedAddress extends CallbackAddress {
  /** As given to the carrier; empty if there is no public URL. */
  readonly url: string
}

/** The engine asks for these itself, see `PublicAddress.ts`; no adapter and no call has them. */
export const PROBED_KIND = "probe"
export const UNCONFIGURED = TelephonyConfigId.make(0)
export const PROBED_CALL = CallId.make("00000000-0000-7000-8000-000000000000")

export interface Addresses {
  /** Undefined if the engine has no public URL, so carriers cannot reach it. */
  readonly urlOf: ((address: CallbackAddress) => string) | undefined
  /** Undefined if we did not create this address. */
  readonly open: (parts: CarrierCall["address"]) => OpenedAddress | undefined
  /** Where the carrier opens a websocket for the audio of a call. */
  readonly mediaUrlOf: ((callId: CallId) => string) | undefined
  /** The call that this address was created for; undefined if we did not create it. */
  readonly openMedia: (parts: MediaUpgrade["address"]) => CallId | undefined
  /** What only an engine of this installation can answer to the text. */
  readonly proofOf: (text: string) => string
}

/** Without the layer below there are no addresses. */
export const CallbackAddresses = Context.Reference<Addresses>("runtime/trunk/CallbackAddresses", {
  defaultValue: () => ({ mediaUrlOf: undefined, open: () => undefined, openMedia: () => undefined, proofOf: () => "", urlOf: undefined })
})

/** The addresses survive a restart, and every node can open them. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { mediaUrl, publicUrl } = yield* Config
    const secret = yield* InstallationSecrets.use((secrets) => secrets.get("carrier-callbacks"))
    const addresses = addressesOf(Redacted.value(secret), publicUrl, mediaUrl ?? publicUrl)
    const { urlOf } = addresses
    const host = (configurationId: TelephonyConfigId): SetupHost => ({
      callbackUrl: urlOf && ((kind) => urlOf({ callId: undefined, configurationId, kind })),
      publicUrl
    })
    return Layer.mergeAll(Layer.succeed(CallbackAddresses, addresses), Layer.succeed(CarrierHost, host))
  })
).pipe(Layer.provide(InstallationSecrets.layer))

const isCallId = Schema.is(CallId)

const addressesOf = (secret: string, publicUrl: string | undefined, mediaUrl: string | undefined): Addresses => {
  const sealOf = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url")
  // Starts differently from the sealed part of any other address, so that neither can pass for the other.
  const mediaSealOf = (callId: CallId): string => sealOf(`media/${callId}`)
  const proofOf = (text: string): string => sealOf(`probe/${text}`)
  // `ws:` for `http:`, `wss:` for `https:`.
  const socketOrigin = mediaUrl?.replace(/^http/, "ws")
  return {
    proofOf,
    urlOf: publicUrl === undefined ? undefined : (address) => publicUrl + pathOf(address, sealOf(sealedPart(address))),
    open: ({ call, configuration, kind, seal }) => {
      if (!isSeal(seal, sealOf(sealedText(configuration, call, kind)))) return undefined
      // The casts hold because only our addresses have this seal. None of their parts contains a slash, so no other parts produce the same text.
      const address = { callId: callNamed(call) as CallId | undefined, configurationId: Number(configuration) as TelephonyConfigId, kind }
      return { ...address, url: publicUrl === undefined ? "" : publicUrl + pathOf(address, seal) }
    },
    mediaUrlOf: socketOrigin === undefined ? undefined : (callId) => socketOrigin + mediaPathOf(callId, mediaSealOf(callId)),
    openMedia: ({ call, seal }) => (isCallId(call) && isSeal(seal, mediaSealOf(call)) ? call : undefined)
  }
}

const mediaPathOf = (callId: CallId, seal: string): string => MEDIA_ROUTE.replace(":call", callId).replace(":seal", seal)

const isSeal = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
