/**
 * `telnyx-signature-ed25519`: Ed25519 over the time of sending and the raw body. It covers neither the address nor a nonce: within its five
 * minutes a replay is valid, and only the id of the event reveals it.
 * https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks#webhook-signing
 */
import { isRecent, type Proof } from "#adapters/shared/CarrierRequest.ts"
import { isSigned, publicKeyOf } from "#adapters/shared/ed25519.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"

/** `key`: the account's public key, as it was entered. */
export const proofOf = (request: CarrierRequest, key: string): Proof | undefined => {
  const { body, headers } = request
  const [publicKey, timestamp = ""] = [publicKeyOf(key), headers["telnyx-timestamp"]]
  if (publicKey === undefined || !/^\d{1,12}$/.test(timestamp) || !isRecent(request, Number(timestamp))) return undefined
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body])
  return isSigned(signed, publicKey, headers["telnyx-signature-ed25519"]) ? { coversBody: true, nonce: undefined } : undefined
}
