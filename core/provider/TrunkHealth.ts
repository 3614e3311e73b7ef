/**
 * How a trunk is doing, and which calls may leave through it. All campaigns and single calls that dial through a trunk share one. An adapter
 * whose trunks have several endpoints keeps one for each endpoint as well.
 *
 *     Well ----third doubt in a row, doubt with an error, unreachable, rate_limited----> Resting
 *     Resting --the rest is over, nothing is in flight, and a call asks to leave--> Probing
 *     Probing --accepted or number_refused, or a sign of life of a call in flight or in doubt--> Well
 *     Probing --doubt, unreachable, rate_limited--> Resting, for longer
 *     Probing --any other refusal, or the call never left--> Resting, without a longer rest: the next call may probe at once
 *     Resting because of doubt --accepted or number_refused, or such a sign of life--> Well
 *
 * Unless it is Well, only the probing call may leave, because every probe that ends in doubt costs a contact. A reconnect, or a person who
 * resumes a campaign, can hurry the next probe but does not make the trunk well: otherwise a trunk with a flapping socket would be dialed
 * without end.
 */
import type { Clock } from "effect"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { TrunkStatus } from "./Adapter.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"

/** How long the trunk rests after the first failure, the second, and so on. */
const REST_MILLIS = [5000, 10_000, 20_000, 40_000, 60_000] as const
const restAfter = (failures: number): number => REST_MILLIS[Math.min(failures, REST_MILLIS.length) - 1] ?? 0
/** Upper limit for a `Retry-After`. */
const LONGEST_RETRY_AFTER_MILLIS = 300_000
/** A single request can be lost for any reason; this many in a row without an answer mean that the provider is stuck. */
const DOUBTS_TO_SUSPECT = 3
/** A rest is cut short at most once in this time. */
const HURRY_AGAIN_MILLIS = 60_000

/** `doubted`: the outcome of requests is unknown. `limited`: the provider asks for fewer. `unreachable`: requests do not reach it. */
export type TroubleKind = "doubted" | "limited" | "unreachable"
export interface Trouble {
  readonly kind: TroubleKind
  /** When it began. */
  readonly since: SteadyTime.SteadyMillis
  /** When the latest try failed. */
  readonly failedAt: SteadyTime.SteadyMillis
  /** Failed tries, including the first. */
  readonly failures: number
  /** Why the latest try failed, in the provider's own words if it gave any. */
  readonly detail: string
  /** No call leaves before then. */
  readonly until: SteadyTime.SteadyMillis
  /** Until when the provider asked to be left alone. Nothing cuts this short. */
  readonly askedUntil: SteadyTime.SteadyMillis
}

interface Doubted {
  /** An error came back that proves nothing about the call. */
  readonly answered: boolean
  readonly retryAfterMillis: number | undefined
  readonly detail: string
}

export interface TrunkHealth {
  readonly status: () => TrunkStatus
  /** Calls `listener` at each change until the function it returns is called. */
  readonly watch: (listener: () => void) => () => void
  /** Undefined while it is well. */
  readonly trouble: () => Trouble | undefined
  /** Whether a call has got through since the trunk was opened. */
  readonly hasReached: () => boolean
  /** Whether a call may be claimed for the trunk: any call while it is well, otherwise one at a time after each rest. */
  readonly admits: () => boolean
  /** The call is about to leave, as the probe if the trunk is not well. False: it must not leave. */
  readonly admit: (callId: CallId) => boolean
  /** Asked right before the request leaves. */
  readonly mayLeave: (callId: CallId) => boolean
  /** The first byte of its request is being written. */
  readonly left: (callId: CallId) => void
  /** The call has not left and will not, or its result says nothing about the trunk. Idempotent. */
  readonly dismiss: (callId: CallId) => void
  /** The provider accepted the call, refused its number, or lists it: the trunk works. */
  readonly reached: (callId: CallId) => void
  /** An event of any call. An event of a call whose request got no answer counts as the answer. */
  readonly heard: (callId: string, event: TrunkEvent) => void
  /** The request certainly did not get through. `detail` is in the provider's own words, here and below. */
  readonly unreachable: (callId: CallId, detail: string) => void
  readonly rateLimited: (callId: CallId, retryAfterMillis: number | undefined, detail: string) => void
  /** It is unknown whether the request got through. */
  readonly doubted: (callId: CallId, doubt: Doubted) => void
  /** The cause of the trouble may have been repaired: try now rather than at the end of the rest. */
  readonly hurry: () => void
}

type State =
  | { readonly _tag: "Well"; readonly doubts: number }
  | { readonly _tag: "Resting"; readonly trouble: Trouble }
  | { readonly _tag: "Probing"; readonly trouble: Trouble; readonly probe: string }

const well: State = { _tag: "Well", doubts: 0 }

/** What is known of a trunk's requests, and what follows from it. `changed` wakes the watchers. */
class Condition {
  state: State = well
  hasReached = false
  readonly #clock: Clock.Clock
  readonly #changed: () => void
  #hurriedAt = Number.NEGATIVE_INFINITY
  /** Requests that have left and have no answer yet. */
  readonly #inFlight = new Set<string>()
  /** Requests that never got an answer, since the trunk was last well. */
  readonly #doubtful = new Set<string>()

  constructor(clock: Clock.Clock, changed: () => void) {
    this.#clock = clock
    this.#changed = changed
  }

  get #now(): SteadyTime.SteadyMillis {
    return SteadyTime.nowOf(this.#clock)
  }

  #move(to: State): void {
    this.state = to
    this.#changed()
  }

  #recover(): void {
    this.#doubtful.clear()
    const isNews = this.state._tag !== "Well" || !this.hasReached
    this.hasReached = true
    if (isNews) this.#move(well)
    else if (this.state._tag === "Well" && this.state.doubts > 0) this.state = well
  }

  #askedUntil(retryAfterMillis: number | undefined): number {
    return retryAfterMillis === undefined ? Number.NEGATIVE_INFINITY : this.#now + Math.min(retryAfterMillis, LONGEST_RETRY_AFTER_MILLIS)
  }

  /** Starts the rest after the first failure, or after a failed probe. */
  #startRest(kind: TroubleKind, retryAfterMillis: number | undefined, detail: string): void {
    const failedAt = this.#now
    const before = this.state._tag === "Well" ? undefined : this.state.trouble
    const failures = (before?.failures ?? 0) + 1
    const askedUntil = Math.max(before?.askedUntil ?? Number.NEGATIVE_INFINITY, this.#askedUntil(retryAfterMillis))
    const until = Math.max(failedAt + restAfter(failures), askedUntil)
    this.#move({ _tag: "Resting", trouble: { askedUntil, detail, failedAt, failures, kind, since: before?.since ?? failedAt, until } })
  }

  /**
   * Requests that were in flight together count as one failure. An error restarts the rest without lengthening it, except where the provider
   * asks for more. A request without an answer changes nothing: it says nothing about how the trunk is now.
   */
  #extendRest(trouble: Trouble, retryAfterMillis: number | undefined, isSilent: boolean): void {
    const askedUntil = Math.max(trouble.askedUntil, this.#askedUntil(retryAfterMillis))
    const until = isSilent ? trouble.until : Math.max(trouble.until, this.#now + restAfter(trouble.failures))
    this.#move({ _tag: "Resting", trouble: { ...trouble, askedUntil, until: Math.max(until, askedUntil) } })
  }

  failed(callId: CallId, kind: TroubleKind, retryAfterMillis: number | undefined, detail: string, isSilent = false): void {
    this.#inFlight.delete(callId)
    if (this.state._tag === "Resting") return this.#extendRest(this.state.trouble, retryAfterMillis, isSilent)
    // While a probe is under way, nothing else is in flight.
    this.#startRest(kind, retryAfterMillis, detail)
  }

  admits(): boolean {
    const { state } = this
    return state._tag === "Well" || (state._tag === "Resting" && this.#inFlight.size === 0 && this.#now >= state.trouble.until)
  }

  admit(callId: CallId): boolean {
    if (!this.admits()) return false
    if (this.state._tag === "Resting") this.state = { _tag: "Probing", probe: callId, trouble: this.state.trouble }
    return true
  }

  left(callId: CallId): void {
    this.#inFlight.add(callId)
  }

  dismiss(callId: CallId): void {
    const wasInFlight = this.#inFlight.delete(callId)
    const { state } = this
    if (state._tag === "Probing" && state.probe === callId) this.#move({ _tag: "Resting", trouble: state.trouble })
    else if (wasInFlight && state._tag === "Resting") this.#changed()
  }

  reached(callId: CallId): void {
    const counts = this.state._tag !== "Resting" || this.state.trouble.kind === "doubted"
    this.#inFlight.delete(callId)
    if (counts) this.#recover()
    else this.#changed()
  }

  heard(callId: string, event: TrunkEvent): void {
    if (!this.#doubtful.has(callId) && !this.#inFlight.has(callId)) return
    // Reported for a call that was not found after a reconnect, so it is not a sign of life.
    if (event._tag === "HungUp" && event.cause === "trunk_lost") return
    // A claim is not proof: anybody may have sent it.
    if (event._tag === "EndClaimed") return
    if (this.state._tag !== "Resting" || this.state.trouble.kind === "doubted") this.#recover()
  }

  doubted(callId: CallId, { answered, detail, retryAfterMillis }: Doubted): void {
    this.#doubtful.add(callId)
    if (this.state._tag !== "Well" || answered) return this.failed(callId, "doubted", retryAfterMillis, detail, !answered)
    this.#inFlight.delete(callId)
    if (this.state.doubts + 1 < DOUBTS_TO_SUSPECT) this.state = { _tag: "Well", doubts: this.state.doubts + 1 }
    else this.#startRest("doubted", undefined, detail)
  }

  hurry(): void {
    const now = this.#now
    if (this.state._tag !== "Resting" || now < this.#hurriedAt + HURRY_AGAIN_MILLIS) return
    this.#hurriedAt = now
    const { trouble } = this.state
    this.#move({ _tag: "Resting", trouble: { ...trouble, until: Math.max(now, trouble.askedUntil) } })
  }
}

/** `onStatus` takes what the trunk reports; `changed` wakes the watchers. */
export const makeHealth = (clock: Clock.Clock) => {
  let status: TrunkStatus = { _tag: "Connecting" }
  const watchers = new Set<() => void>()
  const changed = () => {
    for (const watcher of watchers) watcher()
  }
  const condition = new Condition(clock, changed)
  const health: TrunkHealth = {
    status: () => status,
    watch: (listener) => {
      watchers.add(listener)
      return () => {
        watchers.delete(listener)
      }
    },
    trouble: () => (condition.state._tag === "Well" ? undefined : condition.state.trouble),
    hasReached: () => condition.hasReached,
    admits: () => condition.admits(),
    admit: (callId) => condition.admit(callId),
    mayLeave: (callId) => {
      const { state } = condition
      return state._tag === "Well" || (state._tag === "Probing" && state.probe === callId)
    },
    left: (callId) => condition.left(callId),
    dismiss: (callId) => condition.dismiss(callId),
    reached: (callId) => condition.reached(callId),
    heard: (callId, event) => condition.heard(callId, event),
    unreachable: (callId, detail) => condition.failed(callId, "unreachable", undefined, detail),
    rateLimited: (callId, retryAfterMillis, detail) => condition.failed(callId, "limited", retryAfterMillis, detail),
    doubted: (callId, doubt) => condition.doubted(callId, doubt),
    hurry: () => condition.hurry()
  }
  const onStatus = (next: TrunkStatus) => {
    status = next
    if (next._tag === "Up") condition.hurry()
    changed()
  }
  return { changed, health, onStatus }
}
