/**
 * `telnyx-signature-ed25519`: Ed25519 over the time of sending and the raw body. It covers neither the address nor a nonce: within its five
 * minutes a replay is valid, and the id of the event tells it.
 * https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks#webhook-signing
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto"
import type { Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"

const MAX_AGE_SECONDS = 300
/** What DER puts before the 32 bytes of an Ed25519 key (RFC 8410). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex")

/** The account's public key as the portal shows it: base64, possibly in PEM armour or broken into lines. Undefined: it is no such key. */
export const publicKeyOf = (text: string): KeyObject | undefined => {
  const base64 = text.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, "")
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const bytes = Buffer.from(base64, "base64")
  const der = bytes.length === 32 ? Buffer.concat([derPrefix, bytes]) : bytes
  if (der.length !== derPrefix.length + 32 || !der.subarray(0, derPrefix.length).equals(derPrefix)) return undefined
  return createPublicKey({ key: der, format: "der", type: "spki" })
}

export const proofOf = ({ at, body, headers }: CarrierRequest, publicKey: KeyObject | undefined): Proof | undefined => {
  const timestamp = headers["telnyx-timestamp"] ?? ""
  if (publicKey === undefined || !/^\d{1,12}$/.test(timestamp)) return undefined
  if (Math.abs(Math.floor(at / 1000) - Number(timestamp)) > MAX_AGE_SECONDS) return undefined
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body])
  const signature = Buffer.from(headers["telnyx-signature-ed25519"] ?? "", "base64")
  return verify(null, signed, publicKey, signature) ? { coversBody: true, nonce: undefined } : undefined
}
