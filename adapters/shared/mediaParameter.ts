/** For carriers that ask for a document: who makes it knows nothing but the address that is asked, so that names the socket of the call's audio. */
import type { Callback } from "#core/provider/Callback.ts"
import { pairsOf, partsOf } from "./CarrierRequest.ts"

const PARAMETER = "media"

export const withMedia = (address: string, mediaUrl: string | undefined): string =>
  mediaUrl === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}${PARAMETER}=${encodeURIComponent(mediaUrl)}`

/** Undefined: the address names none. */
export const mediaUrlIn = ({ url }: Callback): string | undefined => {
  const [, mediaUrl = ""] = pairsOf(partsOf(url)?.query ?? "").find(([name]) => name === PARAMETER) ?? []
  return /^wss?:\/\/[^\s?#]+$/.test(mediaUrl) ? mediaUrl : undefined
}
