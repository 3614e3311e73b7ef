/** A call node as those who dial see it, and what its calls need. */
import type { CallId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Permit } from "#runtime/call/LiveCall.ts"
import type { LendableDeparture } from "#runtime/dispatch/CallRate.ts"

/** What is to carry calls, if not this engine itself. */
export interface Carrier {
  /** The name and the journal that its attempts refer to. */
  readonly node: string
  readonly journal: string
  /** How many more calls with audio it can carry. */
  readonly room: () => number
  /** These calls are to be handed over to it as soon as they have their attempts. They count as its calls for as long as they hold their slots. */
  readonly expect: (callIds: ReadonlyArray<CallId>, needsAudio: boolean) => void
}

/** What a call needs until its request is sent; see `Dialing`. */
export interface RemoteDialing {
  readonly from: string | undefined
  readonly marked: boolean
  readonly departure: LendableDeparture
  readonly permit: Permit
  /** Whether its slot is one of a call with audio. */
  readonly needsAudio: boolean
  readonly freedAt?: SteadyMillis | undefined
  /** The provider has accepted the call, or it is unknown whether it has. */
  readonly placed?: (() => void) | undefined
  /** The call was given back: it was never sent, and never will be. */
  readonly returned?: (() => void) | undefined
}
