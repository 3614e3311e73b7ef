/**
 * The addresses that carriers are given. Each says for what it was made, and carries a keyed hash over that, so that nobody else can make one up.
 */
import type { CallId, TelephonyConfigId } from "#core/Id.ts"

export interface CallbackAddress {
  readonly configurationId: TelephonyConfigId
  /** Undefined: it is not made for one call. */
  readonly callId: CallId | undefined
  /** The adapter's own name for what arrives there, `[a-z-]`. */
  readonly kind: string
}

/** Outside the documented API: only carriers use it, each with addresses that it was given. */
export const CALLBACK_ROUTE = "/api/v1/carrier-callbacks/:configuration/:call/:kind/:seal"

const NO_CALL = "-"

/** What the seal of an address is made over, and its path without the seal. */
export const sealedPart = ({ callId, configurationId, kind }: CallbackAddress): string => `${configurationId}/${callId ?? NO_CALL}/${kind}`

export const pathOf = (address: CallbackAddress, seal: string): string => `/api/v1/carrier-callbacks/${sealedPart(address)}/${seal}`

/** The call as its path names it; undefined where it names none. */
export const callNamed = (text: string): string | undefined => (text === NO_CALL ? undefined : text)
