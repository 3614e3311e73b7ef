/** A callback of Vobiz. The signature covers its address without the query, and a nonce, but neither the body nor the time. */
import { createHmac, randomBytes } from "node:crypto"

const base64 = (text: string, authToken: string): string => createHmac("sha256", authToken).update(text).digest("base64")

const newNonce = (): string => BigInt(`0x${randomBytes(8).toString("hex")}`).toString()

export const signatureOf = (url: string, authToken: string, nonce = newNonce()): Readonly<Record<string, string>> => {
  const address = url.replace(/[?#].*$/, "")
  return {
    "x-vobiz-signature-v2": base64(`${address}${nonce}`, authToken),
    "x-vobiz-signature-v2-nonce": nonce,
    "x-vobiz-signature-v3": base64(`${address}.${nonce}`, authToken),
    "x-vobiz-signature-v3-nonce": nonce
  }
}

export const signed = (url: string, fields: Readonly<Record<string, string>>, authToken: string) => ({
  url,
  headers: { "content-type": "application/x-www-form-urlencoded", ...signatureOf(url, authToken) },
  body: new URLSearchParams(fields).toString()
})
