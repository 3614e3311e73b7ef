/** Port: handles a carrier's request to one of the addresses that it was given. */
import { Context, type Effect } from "effect"

/** A header that marks a request as passed on by another engine, and to whom. The owner of the call does not pass it on again. */
export const PASSED_ON = "x-trunkline-passed-on"
export type PassedTo = "decider" | "owner"

export interface CarrierCall {
  readonly method: "GET" | "POST"
  /** The parts of the path, as they arrived. */
  readonly address: { readonly configuration: string; readonly call: string; readonly kind: string; readonly seal: string }
  /** Raw, without the question mark. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface CarrierAnswer {
  /** 403: the request was forged or altered. 503: it could not be stored, and the carrier should send it again. */
  readonly status: 200 | 400 | 403 | 503
  readonly mediaType: string | undefined
  readonly body: string
}

export class CarrierCallbacks extends Context.Service<
  CarrierCallbacks,
  { readonly take: (call: CarrierCall) => Effect.Effect<CarrierAnswer> }
>()("core/provider/CarrierCallbacks") {}
