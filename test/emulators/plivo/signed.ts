/**
 * A callback of Plivo, signed as documented: the address without its fragment, the query and the fields by name, and a nonce.
 * https://www.plivo.com/docs/voice/concepts/signature-validation
 */
import { createHmac, randomBytes } from "node:crypto"

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number => (one < other ? -1 : one > other ? 1 : 0)

const newNonce = (): string => BigInt(`0x${randomBytes(8).toString("hex")}`).toString()
const base64 = (text: string, authToken: string): string => createHmac("sha256", authToken).update(text).digest("base64")

/** The headers of the request for a media socket, which is signed as a GET of plain http. */
export const upgradeHeaders = (url: string, authToken: string, nonce = newNonce()): Readonly<Record<string, string>> => ({
  "x-plivo-signature-v3": base64(`${url.replace(/^wss?:/, "http:")}.${nonce}`, authToken),
  "x-plivo-signature-v3-nonce": nonce
})

export const signed = (url: string, fields: Readonly<Record<string, string>>, authToken: string, nonce = newNonce()) => {
  const { hash, origin, pathname, searchParams } = new URL(url)
  const query = [...searchParams]
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&")
  const form = Object.entries(fields)
    .sort(byName)
    .map(([name, value]) => name + value)
    .join("")
  const text = `${origin}${pathname}?${query}${query === "" ? "" : "."}${form}.${nonce}`
  return {
    url: url.slice(0, url.length - hash.length),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Plivo",
      "x-plivo-signature-v3": base64(text, authToken),
      "x-plivo-signature-v3-nonce": nonce
    },
    body: new URLSearchParams(fields).toString()
  }
}
