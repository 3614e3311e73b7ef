/**
 * How a hosted carrier speaks to us: it sends requests to addresses that it was given. The gateway takes them, checks that the address is one of
 * ours, and hands them to the adapter, which checks the carrier's signature and says what they mean.
 */
import type { CallId } from "#core/Id.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"
import type { CallRef } from "./CallRef.ts"

/** A status callback, a request for an answer document, or the upgrade of a media socket. Signatures are made over these parts, byte for byte. */
export interface CarrierRequest {
  readonly method: "GET" | "POST"
  /** The address that the carrier was given: `PUBLIC_URL` with the raw path and query, never the `Host` header. Upgrades have `wss:`. */
  readonly url: string
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The raw bytes; none for a GET. */
  readonly body: Uint8Array
  /** When it arrived, in epoch milliseconds. */
  readonly at: number
}

/** A request of a carrier to an address that `callbackUrl` made. */
export interface Callback extends CarrierRequest {
  /** As given to `callbackUrl`. */
  readonly kind: string
  /** The call that the address was made for; undefined for an address that is not made for one call, and for a call that is not known any more. */
  readonly call: CallRef | undefined
  /** As given by `TrunkContext.mediaUrl` for that call. Undefined: the address is not made for one call. */
  readonly mediaUrl?: string | undefined
  /** Whether the call is still wanted: a callee who answers an unwanted call is to be hung up on, by the answer document. */
  readonly isWanted: boolean
}

/** What a callback means. */
export interface CallbackRead {
  readonly events: ReadonlyArray<{
    /** Which call the event is about; the address's own if omitted. */
    readonly call?: { readonly callId: CallId } | { readonly providerCallId: string }
    readonly event: TrunkEvent
  }>
  /** The same for each repeat of a delivery, and different for any other delivery of this call or configuration. Undefined: the carrier has none. */
  readonly deliveryId?: string
  /** A value that the carrier uses once: another delivery with the same one is a replay. */
  readonly nonce?: string
  /**
   * The body of the answer, such as a document with instructions. It is made of this request alone: of its address, of whether the call is wanted, and of
   * what the carrier says in it, such as how a dial went. Undefined: an empty 200.
   */
  readonly reply?: { readonly mediaType: string; readonly body: string }
}
