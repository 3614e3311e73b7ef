/**
 * How a hosted carrier talks to the engine: it sends requests to addresses that it was given. The gateway receives them and checks that the
 * address is one of ours; the adapter checks the carrier's signature and interprets them.
 */
import type { CallId } from "#core/Id.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"
import type { CallRef } from "./CallRef.ts"

/** A status callback, a request for an answer document, or the upgrade of a media socket. Signatures cover these parts byte for byte. */
export interface CarrierRequest {
  readonly method: "GET" | "POST"
  /** The address that the carrier was given: `PUBLIC_URL` with the raw path and query, never the `Host` header. Upgrades have `wss:`. */
  readonly url: string
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The raw bytes; none for a GET. */
  readonly body: Uint8Array
  /** When it arrived, in epoch milliseconds. */
  readonly at: number
}

/** A request from a carrier to an address made by `callbackUrl`. */
export interface Callback extends CarrierRequest {
  /** As passed to `callbackUrl`. */
  readonly kind: string
  /** The call that the address was made for. Undefined if it was not made for a single call, or if the call is no longer known. */
  readonly call: CallRef | undefined
  /** What `TrunkContext.mediaUrl` returns for that call. Undefined if the address was not made for a single call. */
  readonly mediaUrl?: string | undefined
  /** Whether the call is still wanted. If not, the answer document must hang up on a callee who answers. */
  readonly isWanted: boolean
}

/** The meaning of a callback. */
export interface CallbackRead {
  readonly events: ReadonlyArray<{
    /** The call that the event is about. If omitted, it is the call that the address was made for. */
    readonly call?: { readonly callId: CallId } | { readonly providerCallId: string }
    readonly event: TrunkEvent
  }>
  /**
   * The same for each repeat of a delivery, and different for every other delivery of this call or configuration. Undefined if the carrier has
   * none.
   */
  readonly deliveryId?: string
  /** A value that the carrier uses only once, so that another delivery with the same value is a replay. */
  readonly nonce?: string
  /**
   * The body of the response, such as a document with instructions. It depends on this request alone: on its address, on whether the call is
   * wanted, and on what the carrier reports in it, such as the result of a dial. Undefined: an empty 200.
   */
  readonly reply?: { readonly mediaType: string; readonly body: string }
}
