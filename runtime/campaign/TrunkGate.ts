/**
 * Whether a campaign may dial through its trunk just now, and when to give the trunk up. Several campaigns share a trunk and what is known of
 * it (`TrunkHealth`); how long one of them has been waiting for it, and what its log has been told, are its own.
 */
import type { AutomaticStop } from "#core/campaign/CampaignOwnership.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Trouble } from "../trunk/TrunkHealth.ts"
import type { LiveTrunk } from "../trunk/TrunkPool.ts"
import * as Stops from "./stops.ts"

/** A trunk that has been down or has failed for so long pauses the campaign: the time that six tries take, spaced by its rests. */
const GIVE_UP_MILLIS = 135_000
/** The try that is due when that time is up may fail a little earlier. */
const SLACK_MILLIS = 5000
/** The log says that a trunk is in trouble at most so often. */
const LOG_AGAIN_MILLIS = 60_000

/** `until`: steady; undefined: until there is news of the trunk. */
export type Gate =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Shut"; readonly until: SteadyMillis | undefined }
  | { readonly _tag: "GiveUp"; readonly stop: AutomaticStop }
const open: Gate = { _tag: "Open" }
const shut = (until?: SteadyMillis): Gate => ({ _tag: "Shut", until })
const giveUp = (stop: AutomaticStop): Gate => ({ _tag: "GiveUp", stop })

export class TrunkGate {
  #downSince: SteadyMillis | undefined
  /** The trouble as it was when the campaign first waited for it to end. */
  #met: { readonly since: SteadyMillis; readonly at: SteadyMillis; readonly failures: number } | undefined
  /** The log has been told of a trouble, and not yet of its end. */
  #told = false
  #toldAt = Number.NEGATIVE_INFINITY

  /** Nothing may be dialed, or there is nothing to dial: nobody minds what the trunk does. */
  rest(): void {
    this.#downSince = undefined
    this.#met = undefined
  }

  /** What the trunk's connection allows. */
  connection(trunk: LiveTrunk, now: SteadyMillis): Gate {
    const status = trunk.status()
    if (status._tag === "Up") {
      this.#downSince = undefined
      return open
    }
    if (status._tag === "Down" && status.reason === "auth") return giveUp(Stops.authFailed(status.detail))
    if (status._tag === "Down" && status.reason === "replaced") return giveUp(Stops.unreachable(status.detail))
    this.#downSince ??= now
    if (now < this.#downSince + GIVE_UP_MILLIS) return shut(this.#downSince + GIVE_UP_MILLIS)
    return giveUp(Stops.unreachable(status._tag === "Down" ? status.detail : "It did not connect."))
  }

  /** What came of the requests before. Open while one call may probe the trunk: it lets no second one pass. */
  health(trunk: LiveTrunk, now: SteadyMillis): Gate {
    const trouble = trunk.trouble()
    if (trouble === undefined) {
      this.#met = undefined
      return open
    }
    if (this.#met?.since !== trouble.since) this.#met = { at: now, failures: trouble.failures, since: trouble.since }
    // By failures, not by time alone: while no call could probe it, nobody knows how the trunk is.
    const isGivenUp = trouble.failures > this.#met.failures && trouble.failedAt >= this.#met.at + GIVE_UP_MILLIS - SLACK_MILLIS
    if (isGivenUp) return giveUp(Stops.unreachable(Stops.whatFails(trouble.kind)))
    if (trunk.admits()) return open
    return shut(now < trouble.until ? trouble.until : undefined)
  }

  /** What the campaign's log has to be told now, if anything: once when trouble begins, and once when that is over. */
  note(trouble: Trouble | undefined, now: SteadyMillis): Stops.Note | undefined {
    if (this.#told) {
      if (trouble !== undefined) return undefined
      this.#told = false
      return Stops.trunkRecovered
    }
    if (trouble === undefined || now < this.#toldAt + LOG_AGAIN_MILLIS) return undefined
    this.#told = true
    this.#toldAt = now
    return Stops.trunkTrouble(trouble.kind, trouble.until - now)
  }
}
