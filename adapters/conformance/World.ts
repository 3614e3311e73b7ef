/**
 * What the author of an adapter supplies: a stand-in for the carrier on this machine, with its callees. A world judges nothing. It reports what
 * the carrier's own log shows, and misbehaves on demand. What it cannot do, it leaves out and explains in `cannot`: the cases that need it are
 * then skipped and say so.
 */
import { randomInt } from "node:crypto"
import type { OriginateRefused } from "#core/provider/Adapter.ts"

export type Config = Readonly<Record<string, unknown>>

/** The behavior of a callee. */
export type Callee =
  /** Rings, answers, makes a continuous sound, and stays until we hang up. */
  | "stays"
  /** Rings, answers, and hangs up after a moment. */
  | "leaves"
  /** Rings until the carrier or the engine gives up. */
  | "ringsOut"
  | "busy"
  | "declines"
  /** The network gives up, possibly after some ringing. */
  | "doesNotAnswer"
  | "doesNotExist"
  /** The network has no free line to them. */
  | "congested"
  /** Answers, presses the keys `1234#`, and hangs up some time later. */
  | "presses"
  /** A machine with a greeting, for the carrier's own machine detection. */
  | "machine"
  /** Like `leaves`, but the call's events arrive twice, out of order, and before the reply to its request. */
  | "disorderly"
  /** Answers, and the line breaks during the conversation. */
  | "breaks"

/** What a callee's phone has seen. Each part may be missing, with its reason in `cannot`. */
export interface Phone {
  /** How often it was called. */
  readonly rung?: number
  /** Where the latest call stands; undefined before the first. */
  readonly state?: "dialing" | "ringing" | "up" | "ended" | undefined
  /** Who ended that call; undefined until then. */
  readonly endedBy?: "us" | "callee" | "timeout" | undefined
  /** What was heard from us, in samples of 16 bits at 8 kHz. */
  readonly heard?: ArrayLike<number>
  /** The keys that were sent to the callee. */
  readonly pressed?: string
}

/** A reply in place of the carrier's. */
export interface CarrierReply {
  readonly status: number
  /** A text is sent as HTML, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `heardAtOnce`: what a phone has heard can be seen without delay. `restart`: calls go on while the engine is away. */
export type Ability =
  | keyof Phone
  | "heardAtOnce"
  | "calleeHertz"
  | "requested"
  | "spoil"
  | "spoilTransfer"
  | "replyLate"
  | "refusals"
  | "holdQueue"
  | "unreachable"
  | "restart"
  | "wrongConfig"

export interface World {
  readonly config: Config
  /** The same with different secrets throughout, like a stranger's account. */
  readonly wrongConfig?: Config
  /** Where the stand-in is, for an adapter that uses `apiOrigin`. */
  readonly apiOrigin?: URL
  /** The same configuration with an address where nobody listens; not needed with an `apiOrigin`. */
  readonly unreachableConfig?: Config
  /** One of the account's numbers, which calls show; undefined if they show none. */
  readonly callerId?: string
  /** A number, never dialed before, of a callee with this behavior. Undefined: there is no such callee. */
  readonly number: (callee: Callee) => string | undefined
  readonly phone: (number: string) => Phone | Promise<Phone>
  /** The pitch of the sound that `stays` makes. */
  readonly calleeHertz?: number
  /** How many requests to call this number have arrived, whatever their result. */
  readonly requested?: (number: string) => number | Promise<number>
  /**
   * What the next request for a call gets instead of the carrier's reply: its connection breaks (`lost`), there is no reply before `replyLate`
   * (`late`), or something else answers. `places`: the carrier places the call nevertheless. Returns false if it cannot do that.
   */
  readonly spoil?: (places: boolean, reply: "lost" | "late" | CarrierReply) => boolean
  /** The same for the next request for a transfer, whose connection breaks. Needed if the manifest says that calls can be transferred. */
  readonly spoilTransfer?: (places: boolean) => boolean
  /** Sends the late reply. */
  readonly replyLate?: () => void
  /** The carrier's own words when it refuses a call, at least for `rate_limited`, unless it never does. */
  readonly refusals?: Readonly<Partial<Record<OriginateRefused["reason"], CarrierReply>>>
  /** On: calls stay in the carrier's queue. Needed if the manifest declares a `queue`. */
  readonly holdQueue?: (on: boolean) => void
  /** Why something is missing. */
  readonly cannot?: Readonly<Partial<Record<Ability | Callee, string>>>
  readonly close: () => Promise<void>
}

let last = randomInt(500_000)

/** For a world in which a number's last digits choose the callee. Every number is dialed by only one case. */
export const numbersEnding =
  (endings: Readonly<Partial<Record<Callee, string>>>): World["number"] =>
  (callee) => {
    const ending = endings[callee]
    last += 1
    return ending === undefined ? undefined : `+1555${String(last).padStart(6, "0")}${ending}`
  }
