/**
 * Whether a campaign may dial through its trunk, and when it gives the trunk up. Campaigns share a trunk and its health (`TrunkHealth`); how
 * long one campaign has waited for the trunk, and what its log already says, is a `TrunkWatch`. Everything here is a pure function of it.
 */
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import type { Trouble } from "#core/provider/TrunkHealth.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { NumbersLacking } from "#core/telephony/CallerId.ts"
import type { AutomaticStop } from "./CampaignOwnership.ts"
import { detailOf, lastOf, type LastWord } from "./LastWords.ts"
import * as Stops from "./stops.ts"

/** A trunk that stays down, or keeps failing, this long pauses the campaign: six probes and the rests between them take that long. */
const GIVE_UP_MILLIS = 135_000
/** The last of these probes may fail slightly before the time is up. */
const SLACK_MILLIS = 5000
/** The log mentions trouble with a trunk at most this often. */
const LOG_AGAIN_MILLIS = 60_000

/** What the owner of a campaign sees of its trunk. */
export interface TrunkView {
  readonly status: TrunkStatus
  /** Undefined while requests succeed. */
  readonly trouble: Trouble | undefined
  /** A call has got through since the trunk was opened. Without that, no trouble only means that there is no news of it. */
  readonly hasReached: boolean
  /** A call may leave now, if only as a probe. */
  readonly admits: boolean
  /** Fewer than two: the trunk has no endpoints of its own to tell apart. */
  readonly endpoints: ReadonlyArray<{ readonly name: string; readonly trouble: string | undefined }>
  /** Its calls need a caller ID, and there is none. */
  readonly numbersLacking: NumbersLacking | undefined
}

/** What the owner of a campaign remembers of its trunk. */
export interface TrunkWatch {
  /** Since when the campaign has waited for the connection. */
  readonly downSince: SteadyMillis | undefined
  /** The trouble as it was when the campaign began to wait for its end. */
  readonly met: { readonly since: SteadyMillis; readonly at: SteadyMillis; readonly failures: number } | undefined
  /** The log has an entry for the trouble, and none yet for its end. */
  readonly isTold: boolean
  readonly toldAt: SteadyMillis
  /** Why the provider cannot reach us, as the log has it; undefined once it was seen to reach us again. */
  readonly unheard: string | undefined
  /** Endpoints whose trouble the log has mentioned. */
  readonly endpoints: ReadonlyMap<string, ToldEndpoint>
}

interface ToldEndpoint {
  readonly toldAt: SteadyMillis
  /** `former`: a former owner has mentioned it, and the endpoint has shown no trouble since, which does not prove that it takes calls. */
  readonly stands: "in trouble" | "former" | "over"
}

const troubleEvents = ["telephony_suspect", "provider_rate_limited"] as const

/** `words`: the newest first. */
export const trunkTold = (words: ReadonlyArray<LastWord>): TrunkWatch => {
  const isWhole = (word: LastWord) => endpointOf(word) === undefined
  const trouble = lastOf(words, troubleEvents, isWhole)
  const latest = lastOf(words, [...troubleEvents, "telephony_recovered"], isWhole)
  const unheard = lastOf(words, ["telephony_unreachable", "telephony_outage"], (word) => isWhole(word) && word.level !== "error")
  return {
    downSince: undefined,
    met: undefined,
    isTold: latest !== undefined && latest === trouble,
    toldAt: trouble?.at ?? Number.NEGATIVE_INFINITY,
    unheard: unheard?.event === "telephony_unreachable" ? detailOf(unheard, "detail") : undefined,
    endpoints: endpointsTold(words)
  }
}

const endpointOf = (word: LastWord) => detailOf(word, "endpoint")

const endpointsTold = (words: ReadonlyArray<LastWord>): TrunkWatch["endpoints"] => {
  const told = new Map<string, ToldEndpoint>()
  for (const word of words) {
    const name = endpointOf(word)
    if (name === undefined || told.has(name) || word.event === "telephony_outage") continue
    told.set(name, { toldAt: word.at, stands: word.event === "telephony_suspect" ? "former" : "over" })
  }
  return told
}

/** `until` is steady time; undefined: until there is news of the trunk. */
export type Gate =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Shut"; readonly until: SteadyMillis | undefined }
  | { readonly _tag: "GiveUp"; readonly stop: AutomaticStop }
type Gated = readonly [gate: Gate, watch: TrunkWatch]
const open: Gate = { _tag: "Open" }
const shut = (until?: SteadyMillis): Gate => ({ _tag: "Shut", until })
const giveUp = (stop: AutomaticStop): Gate => ({ _tag: "GiveUp", stop })

/** Nothing is to be dialed, so time spent without a trunk does not count. */
export const rested = (watch: TrunkWatch): TrunkWatch => ({ ...watch, downSince: undefined, met: undefined })

/** What the trunk's connection allows. */
export const connectionGate = (watch: TrunkWatch, { status }: TrunkView, now: SteadyMillis): Gated => {
  if (status._tag === "Up") return [open, watch.downSince === undefined ? watch : { ...watch, downSince: undefined }]
  if (status._tag === "Down" && status.reason === "auth") return [giveUp(Stops.authFailed(status.detail)), watch]
  if (status._tag === "Down" && status.reason === "replaced") return [giveUp(Stops.unreachable(status.detail)), watch]
  const unheard = unheardIn(status)
  const downSince = watch.downSince ?? now
  const waiting = { ...watch, downSince }
  if (now < downSince + GIVE_UP_MILLIS) return [shut(downSince + GIVE_UP_MILLIS), waiting]
  if (unheard !== undefined) return [giveUp(Stops.unheard(unheard)), waiting]
  return [giveUp(Stops.unreachable(status._tag === "Down" ? status.detail : "It did not connect.")), waiting]
}

/** Why the provider cannot reach us; undefined: for all we know, it can. */
const unheardIn = (status: TrunkStatus) => (status._tag === "Down" && status.reason === "unheard" ? status.detail : undefined)

/** What the outcome of earlier requests allows. Open while one call may probe the trunk: the trunk itself admits no second one. */
export const healthGate = (watch: TrunkWatch, { admits, trouble }: TrunkView, now: SteadyMillis): Gated => {
  if (trouble === undefined) return [open, watch.met === undefined ? watch : { ...watch, met: undefined }]
  const met = watch.met?.since === trouble.since ? watch.met : { at: now, failures: trouble.failures, since: trouble.since }
  const waiting = { ...watch, met }
  // Time alone is not enough: until a call has probed the trunk, its state is unknown.
  const isGivenUp = trouble.failures > met.failures && trouble.failedAt >= met.at + GIVE_UP_MILLIS - SLACK_MILLIS
  if (isGivenUp) return [giveUp(Stops.unreachable(Stops.whatFails(trouble))), waiting]
  if (admits) return [open, waiting]
  return [shut(now < trouble.until ? trouble.until : undefined), waiting]
}

/** The entries that the campaign's log needs now: one when trouble begins, and one when it is over. */
export const troubleNotes = (
  watch: TrunkWatch,
  view: TrunkView,
  now: SteadyMillis
): readonly [notes: ReadonlyArray<Stops.Note>, watch: TrunkWatch] => {
  const [note, noted] = trunkNote(watch, view, now)
  const [endpointNotes, all] = notesOfEndpoints(noted, view, now)
  const unheard = unheardIn(view.status)
  const unheardNotes = unheard === undefined || watch.unheard !== undefined ? [] : [Stops.notHeard(unheard)]
  // A trunk that connects has not been heard yet.
  const before = view.status._tag === "Up" ? undefined : watch.unheard
  return [[...unheardNotes, ...(note === undefined ? [] : [note]), ...endpointNotes], { ...all, unheard: before ?? unheard }]
}

const trunkNote = (
  watch: TrunkWatch,
  { hasReached, trouble }: TrunkView,
  now: SteadyMillis
): readonly [note: Stops.Note | undefined, watch: TrunkWatch] => {
  if (watch.isTold) {
    const isOver = trouble === undefined && hasReached
    return isOver ? [Stops.trunkRecovered, { ...watch, isTold: false }] : [undefined, watch]
  }
  if (trouble === undefined || now < watch.toldAt + LOG_AGAIN_MILLIS) return [undefined, watch]
  return [Stops.trunkTrouble(trouble, trouble.until - now), { ...watch, isTold: true, toldAt: now }]
}

/** Trouble that all endpoints share is the trunk's own, and is logged as such. */
const notesOfEndpoints = (
  watch: TrunkWatch,
  { endpoints, trouble }: TrunkView,
  now: SteadyMillis
): readonly [notes: ReadonlyArray<Stops.Note>, watch: TrunkWatch] => {
  if (endpoints.length < 2 || trouble !== undefined) return [[], watch]
  const told = new Map(watch.endpoints)
  const notes: Array<Stops.Note> = []
  for (const { name, trouble } of endpoints) {
    const before = told.get(name)
    if (before?.stands === "former") {
      if (trouble !== undefined) told.set(name, { ...before, stands: "in trouble" })
    } else if (before?.stands === "in trouble") {
      if (trouble !== undefined) continue
      told.set(name, { ...before, stands: "over" })
      notes.push(Stops.endpointRecovered(name))
    } else if (trouble !== undefined && (before === undefined || now >= before.toldAt + LOG_AGAIN_MILLIS)) {
      told.set(name, { toldAt: now, stands: "in trouble" })
      notes.push(Stops.endpointTrouble(name, trouble))
    }
  }
  return [notes, { ...watch, endpoints: told }]
}
