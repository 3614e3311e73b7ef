/**
 * Cloudonix signs nothing. A domain can be set up to send a fixed key with its requests, which proves the sender but not the content: the
 * address has to carry a token of our own, and ends are confirmed by a lookup.
 */
import type { Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { isSameText } from "#adapters/shared/hmac.ts"

/** `key`: from the configuration; empty if the domain sends none. */
export const proofOf = ({ headers }: CarrierRequest, key: string): Proof | undefined => {
  const given = headers["x-cx-apikey"] ?? /^Bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1]
  return key === "" || isSameText(given, key) ? { coversBody: false, nonce: undefined } : undefined
}
