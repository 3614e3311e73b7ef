/**
 * What the owner of a running campaign does next, as a pure function of what it sees and what it remembers. Checks come in this order, and the
 * first that objects decides:
 *
 *     trunk configured? -> refused for good? -> breaker -> calling window -> connection -> journal -> lock -> anybody to call?
 *     -> a number to call from? -> trunk's health -> Dial
 *
 * Slots and rates are not decided here: they are taken in one step with the claim (`DialTurn`).
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { FatalReason } from "#core/provider/FatalReason.ts"
import type { AutomaticStop } from "./CampaignOwnership.ts"
import type { ScheduleState } from "./Schedule.ts"
import { detailOf, lastOf, type LastWord, nextOpenAt } from "./LastWords.ts"
import * as Stops from "./stops.ts"
import { connectionGate, type Gate, healthGate, rested, type TrunkView, type TrunkWatch, troubleNotes, trunkTold } from "./TrunkWatch.ts"

/** How often it is checked whether the local journal can be written again. */
const JOURNAL_MILLIS = 1000
/** How often it is checked whether the engine has its lock again. */
const LOCK_MILLIS = 250
/** Timers are re-armed at least this often: the next opening of a window can be weeks away. */
const LONGEST_SLEEP_MILLIS = 3_600_000

/** Waits of an owner that are short unless something is wrong. */
export type StuckOn = "a claim" | "the engine's lock" | "replies to requests" | "speech" | "the local journal"

/** What the owner waits for, besides the window's next edge and news. `Due`: nothing can be claimed before a retry falls due. */
export type Wait =
  | { readonly _tag: "Until"; readonly until: SteadyMillis; readonly stuckOn?: StuckOn }
  | { readonly _tag: "Due" }
  | { readonly _tag: "News" }
export const until = (at: SteadyMillis): Wait => ({ _tag: "Until", until: at })
/** A wait that should be over in a moment, so the campaign's log does not mention it. */
export const briefly = (at: SteadyMillis, stuckOn: StuckOn): Wait => ({ _tag: "Until", until: at, stuckOn })
const due: Wait = { _tag: "Due" }
export const news: Wait = { _tag: "News" }

export type Decision =
  | Wait
  | { readonly _tag: "Dial" }
  | { readonly _tag: "Stop"; readonly stop: AutomaticStop }
  /** The record has to confirm the trip; if it does not, decide again. */
  | { readonly _tag: "JudgeBreaker" }

/** What the owner sees. */
export interface CampaignView {
  /** Epoch milliseconds. */
  readonly now: number
  readonly steady: SteadyMillis
  readonly trunk: TrunkView | Stops.NoTrunk
  /** A refusal whose cause only a person can remove. */
  readonly refused: { readonly reason: FatalReason; readonly detail: string } | undefined
  /** `settling`: it has tripped, and not all ends that count are on record yet. */
  readonly breaker: "watching" | "settling" | "tripped"
  readonly window: ScheduleState
  readonly isJournalWritable: boolean
  readonly isLockHeld: boolean
  /** There may be contacts to claim. */
  readonly more: boolean
  /** When the next retry falls due, in epoch milliseconds; infinite: none is known. */
  readonly dueAt: number
}

/** What the owner remembers from one decision to the next. */
export interface CampaignWatch {
  readonly trunk: TrunkWatch
  /** What the log has said of the window last. Undefined: nothing yet, which means that it was open. */
  readonly window: ScheduleState | undefined
  /** When the window opens or closes next, in epoch milliseconds; infinite: never. */
  readonly edgeAt: number
}
/** What a new owner remembers. `words`: what the log said last, the newest first, in steady time. */
export const begun = (words: ReadonlyArray<LastWord>): CampaignWatch => ({
  trunk: trunkTold(words),
  window: windowTold(words),
  edgeAt: Number.POSITIVE_INFINITY
})

const windowTold = (words: ReadonlyArray<LastWord>): ScheduleState | undefined => {
  const word = lastOf(words, ["schedule_window_closed", "schedule_window_opened"])
  if (word?.event !== "schedule_window_closed") return undefined
  const opensAt = detailOf(word, nextOpenAt)
  return { open: false, opensAt: opensAt === undefined ? undefined : Date.parse(opensAt) }
}

interface Decided {
  readonly decision: Decision
  readonly watch: CampaignWatch
  /** For the campaign's log, in order. */
  readonly notes: ReadonlyArray<Stops.Note>
  /** There are contacts to call, and the connection is down. */
  readonly isHeldUp: boolean
}

export const decide = (watch: CampaignWatch, view: CampaignView): Decided => {
  const stop = (stop: AutomaticStop): Decided => ({ decision: { _tag: "Stop", stop }, watch, notes: [], isHeldUp: false })
  if ("lack" in view.trunk) return stop(Stops.noTrunk(view.trunk))
  const { numbersLacking } = view.trunk
  if (view.refused !== undefined) {
    // Calls that were claimed before the last number went are refused for the same reason.
    const isOfNumbers = view.refused.reason === "misconfigured" && numbersLacking !== undefined
    return stop(isOfNumbers ? Stops.noNumber(numbersLacking) : Stops.refused(view.refused.reason, view.refused.detail))
  }
  const [notes, trunk] = troubleNotes(watch.trunk, view.trunk, view.steady)
  const told = { ...watch, trunk }
  if (view.breaker !== "watching") {
    const decision: Decision = view.breaker === "settling" ? news : { _tag: "JudgeBreaker" }
    return { decision, watch: told, notes, isHeldUp: false }
  }
  const decided = view.window.open ? decideInWindow(told, view, view.trunk) : outsideWindow(told)
  const edgeAt = (view.window.open ? view.window.closesAt : view.window.opensAt) ?? Number.POSITIVE_INFINITY
  return {
    ...decided,
    notes: [...notes, ...edgeNotes(watch.window, view.window)],
    watch: { trunk: decided.watch.trunk, window: view.window, edgeAt }
  }
}

type WithoutNotes = Omit<Decided, "notes">
/** While nothing may be dialed, it does not matter that the trunk is down. */
const outsideWindow = (watch: CampaignWatch): WithoutNotes => ({
  decision: news,
  watch: { ...watch, trunk: rested(watch.trunk) },
  isHeldUp: false
})

/**
 * A campaign that starts inside its window has crossed no edge. Closed until another time means that it has been open since, while nobody looked,
 * or that its schedule has changed.
 */
const edgeNotes = (told: ScheduleState | undefined, window: ScheduleState): ReadonlyArray<Stops.Note> => {
  if (window.open) return told?.open === false ? [Stops.windowOpened(window.closesAt)] : []
  return told?.open === false && told.opensAt === window.opensAt ? [] : [Stops.windowClosed(window.opensAt)]
}

const decideInWindow = (watch: CampaignWatch, view: CampaignView, trunk: TrunkView): WithoutNotes => {
  const isAnybodyToCall = view.more || view.dueAt <= view.now
  const [connection, connected] = connectionGate(watch.trunk, trunk, view.steady)
  const end = (decision: Decision, trunkWatch: TrunkWatch = connected, isHeldUp = false): WithoutNotes => ({
    decision,
    watch: { ...watch, trunk: trunkWatch },
    isHeldUp
  })
  if (connection._tag !== "Open") return end(objection(connection), connected, isAnybodyToCall)
  // No request leaves that the journal cannot record.
  if (!view.isJournalWritable) return end(briefly(view.steady + JOURNAL_MILLIS, "the local journal"))
  if (!view.isLockHeld) return end(briefly(view.steady + LOCK_MILLIS, "the engine's lock"))
  if (!isAnybodyToCall) return end(due, rested(connected))
  if (trunk.numbersLacking !== undefined) return end({ _tag: "Stop", stop: Stops.noNumber(trunk.numbersLacking) })
  const [health, probed] = healthGate(connected, trunk, view.steady)
  return end(health._tag === "Open" ? { _tag: "Dial" } : objection(health), probed)
}

const objection = (gate: Exclude<Gate, { readonly _tag: "Open" }>): Decision => {
  if (gate._tag === "GiveUp") return { _tag: "Stop", stop: gate.stop }
  return gate.until === undefined ? news : until(gate.until)
}

/** How long to sleep, in milliseconds, unless there is news. Never past the window's next edge. Zero or less: not at all. */
export const millisToSleep = (
  wait: Wait,
  { edgeAt }: CampaignWatch,
  { dueAt, now, steady }: Pick<CampaignView, "dueAt" | "now" | "steady">
): number => {
  const toEdge = (wait._tag === "Due" ? Math.min(edgeAt, dueAt) : edgeAt) - now
  return Math.min(LONGEST_SLEEP_MILLIS, toEdge, wait._tag === "Until" ? wait.until - steady : toEdge)
}
