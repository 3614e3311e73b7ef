/**
 * What an author of an adapter supplies: a stand-in of the carrier on this machine, with the callees that live there. A world judges nothing. It says
 * what the carrier's own log shows, and misbehaves on demand. What it cannot do, it leaves out and says so in `cannot`: the cases that need it
 * are then not asked, and say that.
 */
import { randomInt } from "node:crypto"
import type { OriginateRefused } from "#core/provider/Adapter.ts"

export type Config = Readonly<Record<string, unknown>>

/** How somebody behaves who is called. */
export type Callee =
  /** Rings, answers, makes a sound all the time, and stays until we hang up. */
  | "stays"
  /** Rings, answers, and hangs up after a moment. */
  | "leaves"
  /** Rings until somebody gives up. */
  | "ringsOut"
  | "busy"
  | "declines"
  /** The network gives up, after a while of ringing or without. */
  | "doesNotAnswer"
  | "doesNotExist"
  /** The network has no line to them. */
  | "congested"
  /** Answers, presses the keys `1234#`, and hangs up some time later. */
  | "presses"
  /** A machine that greets, for the carrier's own machine detection. */
  | "machine"
  /** Like `leaves`, but what is told of the call comes twice, in disorder, and before the reply to its request. */
  | "disorderly"
  /** Answers, and the line breaks in the middle of the conversation. */
  | "breaks"

/** What somebody's phone has seen. Each part may be missing, with its reason in `cannot`. */
export interface Phone {
  /** How often it was called. */
  readonly rung?: number
  /** Where the latest call stands; undefined before the first. */
  readonly state?: "dialing" | "ringing" | "up" | "ended" | undefined
  /** Who ended that call; undefined until then. */
  readonly endedBy?: "us" | "callee" | "timeout" | undefined
  /** What was heard from us, in samples of 16 bits at 8 kHz. */
  readonly heard?: ArrayLike<number>
  /** The keys that we sent. */
  readonly pressed?: string
}

/** A reply in the place of the carrier's. */
export interface CarrierReply {
  readonly status: number
  /** A text is sent as HTML, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `heardAtOnce`: what a phone has heard can be seen without delay. */
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

export interface World {
  readonly config: Config
  /** The same with other secrets throughout, as a stranger's account would have them. */
  readonly wrongConfig: Config
  /** Where the stand-in is, for an adapter that minds `apiOrigin`. */
  readonly apiOrigin?: URL
  /** The same configuration where nobody listens; not needed with an `apiOrigin`. */
  readonly unreachableConfig?: Config
  /** One of the account's numbers, which calls show; undefined where they show none. */
  readonly callerId?: string
  /** A number that was never dialed, of somebody who behaves so. Undefined: there is nobody like that. */
  readonly number: (callee: Callee) => string | undefined
  readonly phone: (number: string) => Phone | Promise<Phone>
  /** The pitch of the sound that `stays` makes. */
  readonly calleeHertz?: number
  /** How many requests to call this number have arrived, whatever came of them. */
  readonly requested?: (number: string) => number | Promise<number>
  /**
   * What the next request for a call gets instead of the carrier's reply: its connection breaks (`lost`), nothing before `replyLate` (`late`), or
   * something else answers. `places`: the carrier places the call nevertheless. False: it cannot do that.
   */
  readonly spoil?: (places: boolean, reply: "lost" | "late" | CarrierReply) => boolean
  /** The same for the next request for a transfer, whose connection breaks. Needed where the manifest says that calls can be transferred. */
  readonly spoilTransfer?: (places: boolean) => boolean
  /** Sends the reply that is late. */
  readonly replyLate?: () => void
  /** The carrier's own words when it refuses a call, at least for `rate_limited`, unless it never does. */
  readonly refusals?: Readonly<Partial<Record<OriginateRefused["reason"], CarrierReply>>>
  /** On: calls stay in the carrier's queue. Needed where the manifest tells of a `queue`. */
  readonly holdQueue?: (on: boolean) => void
  /** Why it lacks what it lacks. */
  readonly cannot?: Readonly<Partial<Record<Ability | Callee, string>>>
  readonly close: () => Promise<void>
}

let last = randomInt(500_000)

/** For a world whose callees are chosen by how a number ends. Every number is dialed by one case alone. */
export const numbersEnding =
  (endings: Readonly<Partial<Record<Callee, string>>>): World["number"] =>
  (callee) => {
    const ending = endings[callee]
    last += 1
    return ending === undefined ? undefined : `+1555${String(last).padStart(6, "0")}${ending}`
  }
