/** The addresses that carriers are given. Each names its purpose and carries a keyed hash over that, so that nobody else can make one. */
import type { CarrierCall } from "./CarrierCallbacks.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"

export interface CallbackAddress {
  readonly configurationId: TelephonyConfigId
  /** Undefined if the address was not made for a single call. */
  readonly callId: CallId | undefined
  /** The adapter's own name for what arrives there, `[a-z-]`. */
  readonly kind: string
}

/** Not part of the documented API: only carriers use it, each with the addresses that it was given. */
export const CALLBACK_ROUTE = "/api/v1/carrier-callbacks/:configuration/:call/:kind/:seal"

const NO_CALL = "-"

/** The part of the path that the seal covers. */
export const sealedPart = ({ callId, configurationId, kind }: CallbackAddress): string =>
  sealedText(String(configurationId), callId ?? NO_CALL, kind)

/** The same, from the parts as they stand in the path. */
export const sealedText = (configuration: string, call: string, kind: string): string => `${configuration}/${call}/${kind}`

export const pathOf = (address: CallbackAddress, seal: string): string => `/api/v1/carrier-callbacks/${sealedPart(address)}/${seal}`

/** The path that these parts were taken from. */
export const callbackPathOf = (parts: CarrierCall["address"]): string =>
  CALLBACK_ROUTE.replace(/:(configuration|call|kind|seal)/g, (_, name: keyof typeof parts) => encodeURIComponent(parts[name]))

/** The call id in the path. Undefined if the address was not made for a single call. */
export const callNamed = (text: string): string | undefined => (text === NO_CALL ? undefined : text)
