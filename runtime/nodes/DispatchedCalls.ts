/**
 * Calls that this engine has dispatched to call nodes. While their node can be heard, it reports what becomes of them at once. If it cannot, calls
 * that were never allowed to leave are given back, and the others are watched in the database (`runtime/campaign/LeftElsewhere.ts`).
 */
import type { Clock } from "effect"
import type { AttemptStore } from "#core/call/AttemptStore.ts"
import type { NewAttempt } from "#core/call/Attempt.ts"
import type { Over } from "#core/call/Call.ts"
import { isFatal } from "#core/provider/FatalReason.ts"
import { dialedBy } from "#core/call/LostAttempts.ts"
import type { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import type { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import type { CallJournal } from "#runtime/call/CallJournal.ts"
import type { CallsElsewhere, TellElsewhere } from "#runtime/call/CallsElsewhere.ts"
import type { CallWatcher } from "#runtime/call/LiveCall.ts"
import { LATEST_MILLIS } from "#runtime/call/originate.ts"
import type { CallRate } from "#runtime/dispatch/CallRate.ts"
import type { Slots } from "#runtime/dispatch/Slots.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import type { EngineLock } from "#runtime/lock/EngineLock.ts"
import type { CallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import type { Carrier, RemoteDialing } from "./Carrier.ts"
import { DispatchedTransfers } from "./DispatchedTransfers.ts"
import {
  type Answer,
  FULL_AGAIN_MILLIS,
  type FromNode,
  GRANT_MILLIS,
  ON_THE_WAY_MILLIS,
  PROVEN_AGAIN_MILLIS,
  type ToNode
} from "./messages.ts"

/** What a call needs of its node. */
interface Node {
  readonly journal: string
  /** 0 while it cannot be heard. */
  readonly limit: number
  readonly say: (message: ToNode) => void
  readonly rest: (configurationId: TelephonyConfigId) => void
}

interface Means {
  readonly clock: Clock.Clock
  readonly elsewhere: CallsElsewhere["Service"]
  readonly feedback: LiveFeedback["Service"]
  readonly journal: CallJournal["Service"]
  /** This engine's own disk. */
  readonly local: LocalJournal["Service"]
  readonly lock: EngineLock["Service"]
  readonly metrics: CallMetrics
  readonly optOuts: RecentOptOuts["Service"]
  readonly pool: TrunkPool["Service"]
  readonly rate: CallRate["Service"]
  readonly slots: Slots["Service"]
  readonly store: AttemptStore["Service"]
  /** Contacts of these campaigns may be claimed again. */
  readonly wake: (campaignIds: ReadonlyArray<CampaignId>) => void
}

interface Dispatched {
  readonly attempt: NewAttempt
  readonly dialing: RemoteDialing
  readonly trunk: LiveTrunk
  readonly watcher: CallWatcher
}

interface Expected {
  readonly journal: string
  readonly needsAudio: boolean
}

/** `from`: the number that the callee is shown. */
export interface DispatchedSingle {
  readonly attempt: NewAttempt
  readonly from: string | undefined
  readonly journal: string
}

interface DispatchedCall extends Dispatched {
  readonly node: Node
  readonly latest: SteadyMillis
  /** It may have left. */
  wasAllowed: boolean
  /** Says that it has left. Defined while it may. */
  departed: (() => void) | undefined
}

const keyOf = (journal: string, configurationId: TelephonyConfigId) => `${journal} ${configurationId}`

type Report = Exclude<FromNode, { readonly _tag: "Challenge" | "Has" | "Room" }>
type CallReport = Exclude<
  Extract<Report, { readonly callId: CallId }>,
  { readonly _tag: "AskTransfer" | "TransferLeft" | "HeardOfFormer" | "NeverLeft" }
>

export class DispatchedCalls {
  readonly #means: Means
  readonly #calls = new Map<string, DispatchedCall>()
  /** Calls that get their attempts now. */
  readonly #expected = new Map<string, Expected>()
  /** Until when each call that was allowed to leave may still do so. */
  readonly #grants = new Map<string, SteadyMillis>()
  /** Calls whose lines are free, and that are only being recorded, by the journals of their nodes. */
  readonly #ended = new Map<string, Set<CallId>>()
  /** Calls whose requests have no reply yet, by journal and configuration. */
  readonly #unplaced = new Map<string, Set<CallId>>()
  readonly #transfers: DispatchedTransfers
  #isStopping = false

  constructor(means: Means) {
    this.#means = means
    this.#transfers = new DispatchedTransfers(means)
  }

  has(callId: string): boolean {
    return this.#calls.has(callId)
  }

  get size(): number {
    return this.#calls.size
  }

  /** Those that hold slots as calls with audio, or as calls without. */
  readonly countWith = (audio: boolean): number => {
    let count = 0
    for (const [callId, { dialing }] of this.#calls) if (dialing.needsAudio === audio && this.#means.slots.holds(callId)) count++
    for (const { needsAudio } of this.#stillExpected()) if (needsAudio === audio) count++
    return count
  }

  /** See `Carrier`. */
  expect(journal: string, callIds: ReadonlyArray<CallId>, needsAudio: boolean): void {
    for (const callId of callIds) this.#expected.set(callId, { journal, needsAudio })
  }

  *#stillExpected(): Generator<Expected> {
    for (const [callId, expected] of this.#expected) {
      if (this.#means.slots.holds(callId)) yield expected
      else this.#expected.delete(callId)
    }
  }

  /** Single calls that may have left. */
  singles(): ReadonlyArray<DispatchedSingle> {
    return [...this.#calls.values()].flatMap(({ attempt, dialing: { from }, node: { journal }, wasAllowed }) =>
      attempt.campaign === undefined && wasAllowed ? [{ attempt, from, journal }] : []
    )
  }

  /** Calls that are only being recorded take no room. */
  countOn(journal: string): number {
    let count = this.#means.elsewhere.countOn(journal) - (this.#ended.get(journal)?.size ?? 0)
    for (const expected of this.#stillExpected()) if (expected.journal === journal) count++
    return count
  }

  /** How many calls of the configuration the node has whose requests have no reply yet. */
  unplaced(journal: string, configurationId: TelephonyConfigId): number {
    return this.#unplaced.get(keyOf(journal, configurationId))?.size ?? 0
  }

  #isPlaced({ attempt: { callId }, node, trunk }: DispatchedCall): void {
    if (this.#unplaced.get(keyOf(node.journal, trunk.configurationId))?.delete(callId) === true) trunk.originating.wakeNext()
  }

  allowNoMore(): void {
    this.#isStopping = true
  }

  /** When the last request that was allowed to leave has either left or can no longer do so. */
  grantedUntil(): SteadyMillis {
    const now = nowOf(this.#means.clock)
    let latest = this.#transfers.grantedUntil
    for (const [callId, until] of this.#grants) {
      if (until <= now) this.#grants.delete(callId)
      else latest = Math.max(latest, until)
    }
    return latest
  }

  /** A node can carry more calls than before. */
  roomMade(): void {
    this.#means.slots.recheck()
  }

  /** What a carrier has said about a call. False if its node cannot be heard. */
  readonly tell: TellElsewhere = (callId, configurationId, event) => {
    const call = this.#calls.get(callId)
    call?.node.say({ _tag: "Heard", callId, configurationId, event })
    return call !== undefined
  }

  start(node: Node | undefined, { journal }: Carrier, dispatched: Dispatched): void {
    const { attempt, dialing, trunk } = dispatched
    const { callId, campaign } = attempt
    this.#expected.delete(callId)
    if (node === undefined || node.limit === 0) return this.#giveBack(dispatched)
    const latest = Math.max(nowOf(this.#means.clock), dialing.departure.readyAt()) + LATEST_MILLIS
    this.#calls.set(callId, { ...dispatched, departed: undefined, latest, node, wasAllowed: false })
    const key = keyOf(journal, trunk.configurationId)
    this.#unplaced.set(key, (this.#unplaced.get(key) ?? new Set()).add(callId))
    this.#means.elsewhere.add({ callId, campaignId: campaign?.campaignId, journal })
    node.say({ _tag: "Place", attempt, from: dialing.from, marked: dialing.marked })
  }

  /** The node can no longer be heard. */
  lost(node: Node): void {
    this.#transfers.lost(node)
    this.#ended.delete(node.journal)
    for (const [callId, call] of this.#calls) {
      if (call.node !== node) continue
      this.#calls.delete(callId)
      this.#isPlaced(call)
      call.watcher.gone?.(call.attempt)
      if (call.wasAllowed) {
        call.trunk.dismiss(call.attempt.callId)
        call.dialing.departure.giveBack()
      } else this.#giveBack(call)
    }
  }

  /** `callIds`: the calls that the node has or had a moment ago. Any others that name its journal never reached it, and never will. */
  compare(node: Node, callIds: ReadonlyArray<CallId>): void {
    const { elsewhere, journal, wake } = this.#means
    const its = new Set<string>(callIds)
    for (const { callId, campaignId, journal: of } of elsewhere.all()) {
      if (of !== node.journal || its.has(callId) || this.#calls.has(callId)) continue
      // Its slot is free once the database says so.
      journal.unclaimElsewhere([callId], () => wake(campaignId === undefined ? [] : [campaignId]))
    }
  }

  hear(node: Node, report: Report): void {
    const { elsewhere, feedback, optOuts, pool, wake } = this.#means
    if (report._tag === "NeverLeft") return elsewhere.neverLeft(report.callId)
    if (report._tag === "Feedback") return feedback.heard(report.organizationId, report.runId, report.event)
    if (report._tag === "NumberFreed") return wake(report.campaignIds)
    if (report._tag === "OptedOut") return optOuts.add(report.organizationId, report.phoneNumbers)
    if (report._tag === "AskTransfer" || report._tag === "TransferLeft") return this.#transfers.hear(node, report, this.#isStopping)
    if (report._tag === "HeardOfFormer") {
      const trunk = pool.all().find(({ configurationId }) => configurationId === report.configurationId)
      return trunk?.hear(report.callId, report.event)
    }
    const call = this.#calls.get(report.callId)
    if (call?.node === node) return this.#hearOf(call, report)
    // Dispatched by an earlier engine, or before the link broke: the database tells the rest.
    if (report._tag === "Ask") node.say({ _tag: "Answered", answer: "no", callId: report.callId })
  }

  #hearOf(call: DispatchedCall, report: CallReport): void {
    const { attempt, dialing, node, trunk, watcher } = call
    const { callId } = attempt
    switch (report._tag) {
      case "Ask":
        node.say({ _tag: "Answered", answer: this.#answer(call), callId })
        break
      case "Left":
        this.#left(call)
        break
      case "Placed":
        this.#isPlaced(call)
        trunk.placed(callId)
        dialing.placed?.()
        break
      case "NotStarted":
        node.rest(trunk.configurationId)
        this.#calls.delete(callId)
        this.#isPlaced(call)
        this.#giveBack(call)
        break
      case "Over":
        this.#over(call, report.how, report.refusal)
        break
      case "LineFree":
        this.#lineFree(call, report.how)
        break
      case "GreetingMissed":
        watcher.greetingMissed?.()
        break
      case "Recorded":
        if (report.end !== undefined) this.#means.local.ended(callId, report.end)
        else if (report.undone !== undefined) this.#means.local.undone(callId, report.undone)
        // Claims begin where the last one ended, and the contact may lie before that.
        if (
          attempt.campaign !== undefined &&
          ((report.how._tag === "Void" && report.how.reason !== "undecided") || report.recorded.dueAt !== undefined)
        )
          this.#means.store.changedElsewhere([attempt.campaign.campaignId])
        watcher.recorded?.(report.how, report.recorded, attempt)
        break
      case "Gone":
        this.#gone(call)
    }
  }

  #left(call: DispatchedCall): void {
    const { clock, metrics } = this.#means
    const {
      attempt: { callId },
      dialing: { freedAt },
      trunk
    } = call
    this.#grants.delete(callId)
    call.departed?.()
    call.departed = undefined
    trunk.left(callId)
    if (freedAt !== undefined) metrics.refillSeconds.observe(Math.max(0, nowOf(clock) - freedAt) / 1000)
  }

  #answer(call: DispatchedCall): Answer {
    const { clock, lock } = this.#means
    const { attempt, dialing, latest, trunk } = call
    const now = nowOf(clock)
    if (call.departed !== undefined) {
      // It would not ask again if it had used the permission before it lapsed.
      dialing.departure.renew()
      call.departed = undefined
    }
    if (this.#isStopping || !lock.isHeld() || now > latest || !this.#isAllowed(call) || !trunk.mayLeave(attempt.callId)) return "no"
    // Whoever takes this engine's place counts with nothing that leaves after its proof has lapsed.
    if (!lock.isHeld(GRANT_MILLIS)) return { again: PROVEN_AGAIN_MILLIS }
    const early = dialing.departure.readyAt() - now
    if (early > ON_THE_WAY_MILLIS) return { again: early }
    const departed = dialing.departure.lend(GRANT_MILLIS)
    if (departed === undefined) return { again: FULL_AGAIN_MILLIS }
    // So that a database that has failed over and lost the attempt is told that its contact was dialed.
    if (!this.#means.local.left(attempt.callId, undefined, dialedBy(attempt, call.node.journal))) return "no"
    call.wasAllowed = true
    call.departed = departed
    this.#grants.set(attempt.callId, now + GRANT_MILLIS)
    return "go"
  }

  #isAllowed({ attempt, dialing, trunk }: DispatchedCall): boolean {
    const { optOuts } = this.#means
    return (
      // The window must not close before the permission lapses.
      dialing.permit.holds(GRANT_MILLIS) &&
      !optOuts.has(attempt.organizationId, attempt.phoneNumber) &&
      // A number that has been removed in the meantime must not be shown.
      (dialing.from === undefined || trunk.callerIds().all.includes(dialing.from))
    )
  }

  #over(call: DispatchedCall, how: Over, refusal: string | undefined): void {
    const { attempt, node, trunk, watcher } = call
    const { callId } = attempt
    this.#isPlaced(call)
    this.#grants.delete(callId)
    if (how._tag === "Void" && how.reason === "unreachable") node.rest(trunk.configurationId)
    if (how._tag === "Void" && how.reason === "rate_limited") {
      this.#means.rate.slowDown({ key: trunk.rateKey, rate: trunk.rate })
      trunk.rateLimited(callId, undefined, "The provider asks for fewer calls.")
    }
    if (how._tag === "Void" && isFatal(how.reason)) trunk.dismiss(callId)
    watcher.over?.(how, { attempt, refusal, trunk })
  }

  #lineFree({ attempt: { callId }, dialing, node, watcher }: DispatchedCall, how: Over): void {
    dialing.departure.giveBack()
    const ended = this.#ended.get(node.journal) ?? new Set()
    this.#ended.set(node.journal, ended.add(callId))
    // A call that may still appear keeps its slot; see `runtime/call/Doubts.ts`.
    if (how._tag === "Void" || how.inferred !== "unseen") this.#means.slots.release(callId)
    watcher.lineFree?.(how)
  }

  #gone(call: DispatchedCall): void {
    const { attempt, node, trunk, watcher } = call
    const { callId } = attempt
    this.#calls.delete(callId)
    this.#isPlaced(call)
    this.#ended.get(node.journal)?.delete(callId)
    this.#transfers.gone(callId)
    this.#means.local.settled(callId)
    trunk.dismiss(callId)
    watcher.gone?.(attempt)
    // Otherwise the call is in doubt, which the database tells.
    if (!this.#means.slots.holds(callId)) this.#means.elsewhere.remove(callId)
  }

  /** It was never allowed to leave, so its contact is free again. */
  #giveBack({ attempt: { callId, campaign }, dialing, trunk }: Dispatched): void {
    const { elsewhere, journal, slots, wake } = this.#means
    dialing.departure.giveBack()
    trunk.dismiss(callId)
    elsewhere.remove(callId)
    journal.unclaim([callId], () => {
      if (campaign !== undefined) wake([campaign.campaignId])
    })
    slots.release(callId)
    dialing.returned?.()
  }
}
