/**
 * `X-Vobiz-Signature-V3`: HMAC-SHA256 over the address without its query and a nonce, keyed with the auth token. Neither the query nor the body
 * is covered, and no time: what a callback says has to be confirmed by a lookup, and the nonces of the last ten minutes remembered.
 */
import { partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac, isEqual } from "#adapters/shared/hmac.ts"

/** V2 is what old accounts send. It has no separator, so it also fits an address that is longer by the first digits of the nonce. */
const versions = [
  { name: "v3", separator: "." },
  { name: "v2", separator: "" }
]

export const proofOf = ({ headers, url }: CarrierRequest, authToken: string): Proof | undefined => {
  const parts = partsOf(url)
  if (parts === undefined || authToken === "") return undefined
  const address = `${parts.scheme}://${parts.host}${parts.port}${parts.path}`
  for (const { name, separator } of versions) {
    const nonce = headers[`x-vobiz-signature-${name}-nonce`] ?? ""
    const expected = hmac("sha256", authToken, address + separator + nonce)
    // A subaccount's callbacks also carry a signature of its parent.
    const given = [headers[`x-vobiz-signature-${name}`], headers[`x-vobiz-signature-ma-${name}`]]
    if (nonce !== "" && given.some((one) => isEqual(Buffer.from(one ?? "", "base64"), expected))) return { coversBody: false, nonce }
  }
  return undefined
}
