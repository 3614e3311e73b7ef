/** What an adapter declares about itself and its provider. */
import type { TransferRequest } from "./Transfer.ts"

/**
 * What a carrier reports about its calls besides answers and ends.
 * - `ringing`: that the phone rings (`Rang`).
 * - `queue`: that a call is still in the carrier's queue (`lookup` says `queued`).
 * - `undialed`: that a call was removed from the queue before it was dialed (`lookup` says `never_placed`), whichever process requested that.
 *   Its contact is then called again; without the proof it is not.
 * - `keys`: the keys that the callee presses (`Dtmf`).
 * - `marks`: that a mark in the audio has been played. If it is not reported, our own clock computes it.
 * - `answerer`: who has answered, if a request asks for it (`Detected`).
 * - `cost`: what a call has cost (`Billed`), in a callback or later in its record.
 * - `joined`: that the destination of a transfer has answered, as soon as it does (`Transferred`). If it is not reported then, the engine
 *   assumes it if the callee has not come back by the time the destination must have stopped ringing.
 * - `declined`: that the destination of a transfer has not answered, and why (`Transferred`). If it is not reported, the
 *   audio must end and come back over another stream, which shows it.
 * - `unnamed`: the state of a call whose own id we never got, because the reply was lost: `lookup` finds it by our id or by its numbers.
 */
type Told = "ringing" | "queue" | "undialed" | "keys" | "marks" | "answerer" | "cost" | "joined" | "declined" | "unnamed"

/**
 * What shows that a callee has answered; whichever comes first is the answer, and the others only confirm it.
 * - `event`: a report, in a callback or over the trunk's connection.
 * - `document`: the request for the document that says what to do with the answered call.
 * - `media`: the start of the call's audio.
 */
type Answer = "event" | "document" | "media"

/**
 * What the signature of a callback covers, so that a change to it is detected. Anybody who has seen a callback can change what is not listed.
 * - `address`: the address up to its query; `query`: the query as well.
 * - `body`: every byte or field of the body. A nonce does not protect a body. Without `body`, no callback ends a call: it is only a claim (`EndClaimed`).
 * - `time`: when it was sent, so that an old one is refused.
 * - `nonce`: a value that is used once, which `read` returns.
 * - `socket`: not the callback but the request that opens a media socket is signed.
 */
type Signed = "address" | "query" | "body" | "time" | "nonce" | "socket"

export interface Manifest {
  /** The version of this contract. */
  readonly contract: 2
  /** The provider's name in the API: `[a-z0-9_]`. */
  readonly provider: string
  readonly displayName: string
  readonly docsUrl: string
  /** Originate requests per second for one configuration, unless the operator overrides it. */
  readonly callsPerSecond: number
  /** How many originate requests may wait for a reply at once. */
  readonly originatesInFlight: number
  /** The longest that the provider lets a callee's phone ring. A request never asks for more, however long the operator's setting is. */
  readonly longestRingSeconds?: number
  /** The longest that the provider lets a call last. A request never asks for more, however long the agent may talk. */
  readonly longestCallSeconds?: number
  /** Calls need a caller ID, so every request has a `from`. If omitted, the provider has a caller ID of its own. */
  readonly needsCallerId?: boolean
  /** Empty if omitted. The conformance suite checks that the adapter reports exactly these. */
  readonly tells?: ReadonlyArray<Told>
  /** Each of these alone reports an answer (`Answered`); `event` if omitted. The conformance suite checks it as well. */
  readonly answers?: ReadonlyArray<Answer>
  /** What callbacks' signatures cover; empty if omitted. The conformance suite checks it as well. */
  readonly signs?: ReadonlyArray<Signed>
  /** How calls can be transferred to somebody else (`Trunk.transfer`). If omitted, they cannot. */
  readonly transfers?: ReadonlyArray<TransferRequest["kind"]>
  /** Whether the records of calls contain a price some time after the call's end, which `lookup` then reports. */
  readonly pricesRecords?: boolean
  /** The field that names the account: inbound calls of this provider are told apart by account and called number. */
  readonly accountField?: string
  /** The field that lists the extensions that may be called, see `Extensions`. If omitted, there are none. */
  readonly extensionsField?: string
}
