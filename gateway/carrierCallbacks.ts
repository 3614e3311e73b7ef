/**
 * Where carriers call us. No part of the documented API: an address is of use only to the carrier that was given it, and what it may send is the
 * carrier's own affair. Bodies are passed on byte for byte, because signatures are made over them.
 */
import { Effect } from "effect"
import { CALLBACK_ROUTE } from "#core/provider/CallbackAddress.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import type { Asked, Endpoint, Reply } from "./http/Endpoint.ts"

/** Carriers send a few KiB at most. */
const MAX_BYTES = 65_536

/** `headers`: those that any carrier's signature needs, in lower case. */
export const carrierEndpoints = (headers: ReadonlyArray<string>): ReadonlyArray<Endpoint<CarrierCallbacks>> => {
  const shared = {
    path: CALLBACK_ROUTE,
    headers: [...new Set(["content-type", ...headers])],
    hasQuery: true,
    refusal: () => undefined
  }
  return [
    { ...shared, method: "get", body: "none", bodyLimit: 0, answer: (asked) => answer("GET", asked) },
    { ...shared, method: "post", body: "bytes", bodyLimit: MAX_BYTES, answer: (asked) => answer("POST", asked) }
  ]
}

const answer = (method: "GET" | "POST", { bytes, headers, params, query }: Asked): Effect.Effect<Reply, never, CarrierCallbacks> => {
  const { call = "", configuration = "", kind = "", seal = "" } = params
  return CarrierCallbacks.use((callbacks) =>
    Effect.map(
      callbacks.take({ address: { call, configuration, kind, seal }, body: bytes, headers, method, query }),
      ({ body, mediaType, status }): Reply => ({
        status,
        headers: mediaType === undefined ? [] : [["content-type", mediaType]],
        body
      })
    )
  )
}
