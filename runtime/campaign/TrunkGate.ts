/**
 * Whether a campaign may dial through its trunk now, and when it gives the trunk up. Campaigns share a trunk and its health (`TrunkHealth`);
 * how long a campaign has waited for it, and what its log already says, is kept here for each campaign.
 */
import type { AutomaticStop } from "#core/campaign/CampaignOwnership.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Trouble } from "#core/provider/TrunkHealth.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import * as Stops from "./stops.ts"

/** A trunk that has been down, or has kept failing, for this long pauses the campaign: as long as six tries take with the rests between them. */
const GIVE_UP_MILLIS = 135_000
/** The last of these tries may fail a little before the time is up. */
const SLACK_MILLIS = 5000
/** The log mentions trouble with a trunk no more often than this. */
const LOG_AGAIN_MILLIS = 60_000

/** `until` is steady time; undefined: until there is news of the trunk. */
export type Gate =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Shut"; readonly until: SteadyMillis | undefined }
  | { readonly _tag: "GiveUp"; readonly stop: AutomaticStop }
const open: Gate = { _tag: "Open" }
const shut = (until?: SteadyMillis): Gate => ({ _tag: "Shut", until })
const giveUp = (stop: AutomaticStop): Gate => ({ _tag: "GiveUp", stop })

export class TrunkGate {
  #downSince: SteadyMillis | undefined
  /** The trouble as it stood when the campaign began to wait for its end. */
  #met: { readonly since: SteadyMillis; readonly at: SteadyMillis; readonly failures: number } | undefined
  /** The log has an entry about the trouble, and none yet about its end. */
  #told = false
  #toldAt = Number.NEGATIVE_INFINITY
  /** Endpoints of which the log has said that they are in trouble: when, and whether it has said since that they are not. */
  readonly #endpoints = new Map<string, { readonly toldAt: SteadyMillis; isOver: boolean }>()

  /** Nothing is to be dialed at the moment, so it does not matter how the trunk is. */
  rest(): void {
    this.#downSince = undefined
    this.#met = undefined
  }

  /** What the state of the trunk's connection allows. */
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

  /** What earlier requests came to. Open while one call may probe the trunk, which admits no second one. */
  health(trunk: LiveTrunk, now: SteadyMillis): Gate {
    const trouble = trunk.trouble()
    if (trouble === undefined) {
      this.#met = undefined
      return open
    }
    if (this.#met?.since !== trouble.since) this.#met = { at: now, failures: trouble.failures, since: trouble.since }
    // Not by time alone: as long as no call has probed the trunk, nobody knows how it is.
    const isGivenUp = trouble.failures > this.#met.failures && trouble.failedAt >= this.#met.at + GIVE_UP_MILLIS - SLACK_MILLIS
    if (isGivenUp) return giveUp(Stops.unreachable(Stops.whatFails(trouble)))
    if (trunk.admits()) return open
    return shut(now < trouble.until ? trouble.until : undefined)
  }

  /** The same as `note`, of each of several endpoints. Of trouble that all of them have, the trunk's own entry tells. */
  endpointNotes(trunk: LiveTrunk, now: SteadyMillis): ReadonlyArray<Stops.Note> {
    const endpoints = trunk.endpoints()
    if (endpoints.length < 2 || trunk.trouble() !== undefined) return []
    return endpoints.flatMap(({ name, trouble }) => {
      const told = this.#endpoints.get(name)
      if (told !== undefined && !told.isOver) {
        if (trouble !== undefined) return []
        told.isOver = true
        return [Stops.endpointRecovered(name)]
      }
      if (trouble === undefined || (told !== undefined && now < told.toldAt + LOG_AGAIN_MILLIS)) return []
      this.#endpoints.set(name, { toldAt: now, isOver: false })
      return [Stops.endpointTrouble(name, trouble)]
    })
  }

  /** The entry that the campaign's log needs now, if any: one when trouble begins, and one when it is over. */
  note(trouble: Trouble | undefined, now: SteadyMillis): Stops.Note | undefined {
    if (this.#told) {
      if (trouble !== undefined) return undefined
      this.#told = false
      return Stops.trunkRecovered
    }
    if (trouble === undefined || now < this.#toldAt + LOG_AGAIN_MILLIS) return undefined
    this.#told = true
    this.#toldAt = now
    return Stops.trunkTrouble(trouble, trouble.until - now)
  }
}
