/** Parameters of a document that a carrier requests: they are in its address, which is all that is known when the document is made. */
import type { Callback } from "#core/provider/Callback.ts"
import { pairsOf, partsOf } from "./CarrierRequest.ts"

export const withParameter = (address: string, name: string, value: string): string =>
  `${address}${address.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`

/** Undefined: the address does not have it. */
export const parameterIn = ({ url }: Callback, name: string): string | undefined =>
  pairsOf(partsOf(url)?.query ?? "").find(([one]) => one === name)?.[1]
