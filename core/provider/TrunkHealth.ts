/**
 * How a trunk is doing, and who may leave through it. One for all that dial through it, campaigns and single calls alike. An adapter whose
 * trunks have several endpoints keeps one for each of them as well.
 *
 *     Well ----third doubt in a row, an error for an answer, not sent, told to slow down----> Resting
 *     Resting --its time is up, nothing is in flight, and a call asks to leave--> Probing
 *     Probing --accepted, or any sign of life--> Well
 *     Probing --doubt, unreachable, told to slow down--> Resting, for longer
 *     Probing --another refusal--> Resting, its time not lengthened
 *     Probing --the call never left--> Resting, its time still up
 *     Resting --a sign of life of a call that was in doubt--> Well
 *
 * Unless it is Well, only the probing call may leave, because every probe that ends in doubt costs a contact. A reconnect, or a person who
 * resumes a campaign, can hurry the next probe but does not make the trunk well: a trunk with a flapping socket would never be given up.
 */
import type { Clock } from "effect"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { TrunkEvent, TrunkStatus } from "./Adapter.ts"

/** How long to wait after the first failure, the second, and so on, in milliseconds. */
const REST_MILLIS = [5000, 10_000, 20_000, 40_000, 60_000] as const
const restAfter = (failures: number): number => REST_MILLIS[Math.min(failures, REST_MILLIS.length) - 1] ?? 0
/** No provider keeps a trunk at rest for longer, whatever its `Retry-After` says. */
const LONGEST_RETRY_AFTER_MILLIS = 300_000
/** A single request can be lost for any reason; so many in a row without an answer mean that the provider is stuck. */
const DOUBTS_TO_SUSPECT = 3
/** A rest is cut short no more often than this. */
const HURRY_AGAIN_MILLIS = 60_000

/** `doubted`: it is unknown what became of requests. `limited`: the provider wants fewer of them. `unreachable`: they do not get there. */
export type TroubleKind = "doubted" | "limited" | "unreachable"
export interface Trouble {
  readonly kind: TroubleKind
  /** When it began. */
  readonly since: SteadyTime.SteadyMillis
  /** When the newest try failed. */
  readonly failedAt: SteadyTime.SteadyMillis
  /** Tries that failed, the first included. */
  readonly failures: number
  /** What the newest of them failed with, in the provider's own words where it had any. */
  readonly detail: string
  /** No call leaves before then. */
  readonly until: SteadyTime.SteadyMillis
  /** Until when the provider asked to be left alone; nothing cuts that short. */
  readonly askedUntil: SteadyTime.SteadyMillis
}

interface Doubted {
  /** An error came back that proves nothing. */
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
  /** Whether a call may be claimed for it: any while it is well, and else one at a time after each rest. */
  readonly admits: () => boolean
  /** The call is about to leave, as the probe if the trunk is not well. False: it may not. */
  readonly admit: (callId: CallId) => boolean
  /** Ask right before the request leaves. */
  readonly mayLeave: (callId: CallId) => boolean
  /** The first byte of its request is being written. */
  readonly left: (callId: CallId) => void
  /** The call has not left and will not, or its result says nothing of the trunk. Idempotent. */
  readonly dismiss: (callId: CallId) => void
  /** The provider accepted the call, judged it, or shows it: it works. */
  readonly reached: (callId: CallId) => void
  /** An event of any call: a sign of life of one whose request got no answer is as good as the answer. */
  readonly heard: (callId: string, event: TrunkEvent) => void
  /** The request certainly did not get through. `detail`, here and below: the provider's own words. */
  readonly unreachable: (callId: CallId, detail: string) => void
  readonly rateLimited: (callId: CallId, retryAfterMillis: number | undefined, detail: string) => void
  /** It is unknown whether it did. */
  readonly doubted: (callId: CallId, doubt: Doubted) => void
  /** Refused for what only a person can repair: says nothing of the calls that follow, which meet the same. */
  readonly refused: (callId: CallId, detail: string) => void
  /** Of the newest refusal of that kind. */
  readonly refusal: () => string | undefined
  /** The cause of the trouble may have been repaired: try now rather than at the end of the rest. */
  readonly hurry: () => void
}

type State =
  | { readonly _tag: "Well"; readonly doubts: number }
  | { readonly _tag: "Resting"; readonly trouble: Trouble }
  | { readonly _tag: "Probing"; readonly trouble: Trouble; readonly probe: string }

const well: State = { _tag: "Well", doubts: 0 }

/** `onStatus` takes the trunk's word; `changed` wakes whoever watches it. */
export const makeHealth = (clock: Clock.Clock) => {
  const now = () => SteadyTime.nowOf(clock)
  let status: TrunkStatus = { _tag: "Connecting" }
  let state: State = well
  let refusal: string | undefined
  let hurriedAt = Number.NEGATIVE_INFINITY
  /** Requests that have left and have no answer yet. */
  const inFlight = new Set<string>()
  /** Requests that never got an answer, since the trunk was last well. */
  const doubtful = new Set<string>()
  const watchers = new Set<() => void>()
  const changed = () => {
    for (const watcher of watchers) watcher()
  }
  const move = (to: State) => {
    state = to
    changed()
  }
  const recover = () => {
    doubtful.clear()
    if (state._tag !== "Well") move(well)
    else if (state.doubts > 0) state = well
  }
  const askedUntil = (retryAfterMillis: number | undefined) =>
    retryAfterMillis === undefined ? Number.NEGATIVE_INFINITY : now() + Math.min(retryAfterMillis, LONGEST_RETRY_AFTER_MILLIS)
  /** One more try has failed, or the first. */
  const fail = (kind: TroubleKind, retryAfterMillis: number | undefined, detail: string) => {
    const failedAt = now()
    const before = state._tag === "Well" ? undefined : state.trouble
    const failures = (before?.failures ?? 0) + 1
    const asked = Math.max(before?.askedUntil ?? Number.NEGATIVE_INFINITY, askedUntil(retryAfterMillis))
    const until = Math.max(failedAt + restAfter(failures), asked)
    move({ _tag: "Resting", trouble: { askedUntil: asked, detail, failedAt, failures, kind, since: before?.since ?? failedAt, until } })
  }
  /**
   * Requests that were in flight together count as one failure. The rest counts from the last error that came back, and is as long as the
   * provider asked for; that a request got no answer says nothing of how the trunk is now.
   */
  const join = (trouble: Trouble, retryAfterMillis: number | undefined, silent: boolean) => {
    const asked = Math.max(trouble.askedUntil, askedUntil(retryAfterMillis))
    const until = silent ? trouble.until : Math.max(trouble.until, now() + restAfter(trouble.failures))
    move({ _tag: "Resting", trouble: { ...trouble, askedUntil: asked, until: Math.max(until, asked) } })
  }
  const failed = (callId: CallId, kind: TroubleKind, retryAfterMillis: number | undefined, detail: string, silent = false) => {
    inFlight.delete(callId)
    if (state._tag === "Resting") return join(state.trouble, retryAfterMillis, silent)
    // While a probe is under way, nothing else is in flight.
    fail(kind, retryAfterMillis, detail)
  }
  const admits = () => state._tag === "Well" || (state._tag === "Resting" && inFlight.size === 0 && now() >= state.trouble.until)

  const health: TrunkHealth = {
    status: () => status,
    watch: (listener) => {
      watchers.add(listener)
      return () => {
        watchers.delete(listener)
      }
    },
    trouble: () => (state._tag === "Well" ? undefined : state.trouble),
    admits,
    admit: (callId) => {
      if (!admits()) return false
      if (state._tag === "Resting") state = { _tag: "Probing", probe: callId, trouble: state.trouble }
      return true
    },
    mayLeave: (callId) => state._tag === "Well" || (state._tag === "Probing" && state.probe === callId),
    left: (callId) => void inFlight.add(callId),
    dismiss: (callId) => {
      const wasInFlight = inFlight.delete(callId)
      if (state._tag === "Probing" && state.probe === callId) move({ _tag: "Resting", trouble: state.trouble })
      else if (wasInFlight && state._tag === "Resting") changed()
    },
    reached: (callId) => {
      const counts = state._tag !== "Resting" || state.trouble.kind === "doubted"
      inFlight.delete(callId)
      if (counts) recover()
      else changed()
    },
    heard: (callId, event) => {
      if (!doubtful.has(callId) && !inFlight.has(callId)) return
      // Reported of a call that a reconnect did not find, which is no sign of life.
      if (event._tag === "HungUp" && event.cause === "trunk_lost") return
      if (state._tag !== "Resting" || state.trouble.kind === "doubted") recover()
    },
    unreachable: (callId, detail) => failed(callId, "unreachable", undefined, detail),
    rateLimited: (callId, retryAfterMillis, detail) => failed(callId, "limited", retryAfterMillis, detail),
    refused: (callId, detail) => {
      refusal = detail
      health.dismiss(callId)
    },
    refusal: () => refusal,
    doubted: (callId, { answered, detail, retryAfterMillis }) => {
      doubtful.add(callId)
      if (state._tag !== "Well" || answered) return failed(callId, "doubted", retryAfterMillis, detail, !answered)
      inFlight.delete(callId)
      if (state.doubts + 1 < DOUBTS_TO_SUSPECT) state = { _tag: "Well", doubts: state.doubts + 1 }
      else fail("doubted", undefined, detail)
    },
    hurry: () => {
      if (state._tag !== "Resting" || now() < hurriedAt + HURRY_AGAIN_MILLIS) return
      hurriedAt = now()
      move({ _tag: "Resting", trouble: { ...state.trouble, until: Math.max(hurriedAt, state.trouble.askedUntil) } })
    }
  }
  const onStatus = (next: TrunkStatus) => {
    status = next
    if (next._tag === "Up") health.hurry()
    changed()
  }
  return { changed, health, onStatus }
}
