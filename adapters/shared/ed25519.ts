/** Ed25519 signatures (RFC 8032), for carriers that sign with their own private key and publish the public one. */
import { createPublicKey, type KeyObject, verify } from "node:crypto"

/** What DER puts before the 32 bytes of a key (RFC 8410). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex")

/** A public key as portals show it: in base64, possibly in PEM armour or broken into lines. Undefined: not a valid key. */
export const publicKeyOf = (text: string): KeyObject | undefined => {
  const base64 = text.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, "")
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const bytes = Buffer.from(base64, "base64")
  const der = bytes.length === 32 ? Buffer.concat([derPrefix, bytes]) : bytes
  if (der.length !== derPrefix.length + 32 || !der.subarray(0, derPrefix.length).equals(derPrefix)) return undefined
  return createPublicKey({ key: der, format: "der", type: "spki" })
}

/** `signature`: in base64, of which only the text that encoding it gives is accepted. */
export const isSigned = (data: Uint8Array, publicKey: KeyObject, signature = ""): boolean => {
  const bytes = Buffer.from(signature, "base64")
  return bytes.toString("base64") === signature && verify(null, data, publicKey, bytes)
}
