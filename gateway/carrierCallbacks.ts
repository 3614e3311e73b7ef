/**
 * The endpoints for carriers' callbacks. They are not part of the documented API: an address is only useful to the carrier that got it, and the
 * carrier defines what it sends. Bodies are passed on byte for byte, because signatures cover them.
 */
import { Effect } from "effect"
import { CALLBACK_ROUTE } from "#core/provider/CallbackAddress.ts"
import { CarrierCallbacks, PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import type { Asked, Endpoint, Reply } from "./http/Endpoint.ts"

/** Carriers send a few KiB at most. */
const MAX_BYTES = 65_536

/** `headers`: those that any carrier's signature needs, in lower case. */
export const carrierEndpoints = (headers: ReadonlyArray<string>): ReadonlyArray<Endpoint<CarrierCallbacks>> => {
  const shared = {
    path: CALLBACK_ROUTE,
    headers: [...new Set(["content-type", PASSED_ON, ...headers])],
    hasQuery: true,
    isForCalls: true,
    isSealed: true,
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
