/**
 * Where the rest of the node leaves news for a campaign's actor, which reads it on its next turn. News is a set of flags, so nothing queues up;
 * anything that could be missed is also in the campaign's row.
 */
import { Clock, Context, Effect, Layer, Latch } from "effect"
import type { Attempt } from "#core/call/Attempt.ts"
import type { Over } from "#core/call/Call.ts"
import { type FatalReason, isFatal } from "#core/provider/FatalReason.ts"
import { isBreakerFailure } from "#core/outcome/Outcome.ts"
import type { BreakerWindow } from "#core/campaign/BreakerWindow.ts"
import type { DialPlan } from "#core/campaign/CampaignOwnership.ts"
import type { StuckOn } from "#core/campaign/decide.ts"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallWatcher, LiveCall } from "#runtime/call/LiveCall.ts"
import type { Recorded } from "#runtime/call/Recorded.ts"
import { outcomeOfEnd } from "#core/call/outcomeOfEnd.ts"

/** How long a stopped campaign is remembered: longer than a standby database should lag behind. */
const REMEMBER_STOPPED_MILLIS = 600_000

export class CampaignInbox {
  /** Open while there is unread news. */
  readonly news = Latch.makeUnsafe(false)
  /** The row may have changed and must be read again. */
  rowChanged = false
  /** The earliest retry the actor may not know about, in epoch milliseconds. */
  dueAt = Number.POSITIVE_INFINITY
  /** Contacts came back to `pending` or `retry_wait`. */
  returned = false
  /** A refusal that only a person can fix, in the words of the trunk that reported it; that trunk may no longer exist. */
  fatal: { readonly reason: FatalReason; readonly detail: string } | undefined
  /** The actor believes there is nothing to claim. */
  idle = false
  /** Set while the actor waits for something that should be brief: what it is, and since when. */
  stuck: { readonly on: StuckOn; readonly since: SteadyTime.SteadyMillis } | undefined
  /** Callees whose greeting was late, since the last log entry about them. */
  missedGreetings = 0
  /** Contacts that failed because of refusals in unknown words, since the last log entry about them, and the latest of these words. */
  unexplained: { readonly calls: number; readonly detail: string } | undefined
  /** The dial epoch in which the campaign was last seen running; undefined until it has been seen. */
  dialEpoch: number | undefined
  /** Wall clock minus steady time, in milliseconds, when the actor last decided. */
  clockApart = 0
  /** The breaker's window for the current breaker epoch; undefined if the campaign has no breaker. */
  breaker: BreakerWindow | undefined
  /** The current breaker epoch. Calls dialed in an earlier epoch do not count when they end. */
  breakerEpoch: number | undefined
  private owner: number | undefined
  /** Permits have been withdrawn, and the actor has not read its row since then. */
  private withdrawn = false

  get isOpen(): boolean {
    return this.owner !== undefined
  }
  get ownerEpoch(): number | undefined {
    return this.owner
  }
  /** Whether this owner's permits are still valid. */
  mayDial(ownerEpoch: number): boolean {
    return this.owner === ownerEpoch && !this.isHeld
  }
  private get isHeld(): boolean {
    return this.withdrawn || this.fatal !== undefined || this.breaker?.isTripped === true
  }
  /** Wakes the previous owner, which then notices that it has been replaced. */
  open(ownerEpoch: number): void {
    this.owner = ownerEpoch
    this.fatal = undefined
    this.confirm()
    this.wake()
  }
  isOwnedBy(ownerEpoch: number): boolean {
    return this.owner === ownerEpoch
  }
  withdraw(): void {
    this.withdrawn = true
    this.look()
  }
  /** The row has been read and says that the campaign is running. No effect if the row has changed since. */
  confirm(): void {
    if (!this.rowChanged) this.withdrawn = false
  }
  /** No effect if a later owner has opened the inbox. */
  shut(ownerEpoch: number): void {
    if (this.owner === ownerEpoch) this.owner = undefined
  }
  wake(): void {
    this.news.openUnsafe()
  }
  look(): void {
    this.rowChanged = true
    this.wake()
  }
  /** There may be contacts to claim that the actor does not know about. */
  returnAll(): void {
    this.returned = true
    this.wake()
  }
  /** A call of the campaign has ended. Called before its slot goes to another call and before the end is recorded. */
  over(how: Over, { attempt: { callId, campaign }, refusal }: Pick<LiveCall, "attempt" | "refusal">, at: SteadyTime.SteadyMillis): void {
    if (campaign?.breakerEpoch !== this.breakerEpoch) return
    const detail = refusal ?? "It refused a call."
    const isRefused = how._tag === "Void" && how.reason !== "unreachable"
    if (isRefused && isFatal(how.reason)) this.fatal = { reason: how.reason, detail }
    if (how._tag === "Ended" && how.cause === "no_credit") this.fatal = { reason: "no_credit", detail }
    if (how._tag === "Ended" && how.cause === "unexplained_refusal") this.#unexplainedly(detail)
    // A refusal that says nothing about the call itself does not count for the breaker.
    if (!isRefused) this.breaker?.ended({ at, callId, failure: how._tag === "Void" || isBreakerFailure(outcomeOfEnd(how)) })
    if (this.isHeld) this.wake()
  }
  waitFor(on: StuckOn | undefined, now: SteadyTime.SteadyMillis): void {
    if (this.stuck?.on !== on) this.stuck = on === undefined ? undefined : { on, since: now }
  }
  #unexplainedly(detail: string): void {
    this.unexplained = { calls: (this.unexplained?.calls ?? 0) + 1, detail }
    if (this.unexplained.calls === 1) this.wake()
  }
  greetingMissed(): void {
    this.missedGreetings++
    if (this.missedGreetings === 1) this.wake()
  }
  /** Nothing more will be recorded about this call. */
  gone({ callId }: Attempt): void {
    this.breaker?.recorded(callId, false)
    if (this.breaker?.isTripped === true) this.wake()
  }
  /** A call of the campaign has been recorded. */
  hear(how: Over, { dueAt, isEntry, look }: Recorded, { callId }: Attempt): void {
    if (this.breaker?.isTripped === true) this.wake()
    this.breaker?.recorded(callId, isEntry)
    if (how._tag === "Void") this.returnAll()
    if (dueAt !== undefined) {
      this.dueAt = Math.min(this.dueAt, dueAt)
      this.wake()
    }
    // The call keeps its slot, possibly the last one: the actor must log that.
    if (how._tag === "Ended" && how.inferred === "unseen") this.wake()
    if (look) this.look()
  }
}

export class CampaignInboxes extends Context.Service<
  CampaignInboxes,
  {
    readonly of: (id: CampaignId) => CampaignInbox
    readonly find: (id: CampaignId) => CampaignInbox | undefined
    /** How many campaigns this node runs. */
    readonly open: () => number
    /** Wakes each campaign that last decided before the wall clock was set. `apartMillis`: wall clock minus steady time now. */
    readonly clockSet: (apartMillis: number, toleranceMillis: number) => void
    /** Watches the calls of a campaign. A call may outlive the owner that dialed it; it then reports to the next owner. */
    readonly watcher: (id: CampaignId) => CallWatcher
    /**
     * Makes the campaign's actor read its row. After this, no previously permitted request can be sent: the permit is checked in the same
     * synchronous step that writes the first byte.
     */
    readonly withdraw: (id: CampaignId) => Effect.Effect<void>
    /** A phone number that contacts of these campaigns are waiting for has become free. */
    readonly numberFreed: (ids: ReadonlyArray<CampaignId>) => void
    /** Forgets the inbox, unless it is still in use. */
    readonly close: (id: CampaignId) => void
    /** The campaign's row says that it is not running. */
    readonly hasStopped: (id: CampaignId) => void
    /** The row has changed in a way that stops or alters the campaign, and its owner may not have read it yet. */
    readonly mayHaveStopped: (id: CampaignId) => void
    /** The campaign's row, just read by its owner, says that it is running. */
    readonly runs: (row: Pick<DialPlan, "campaignId" | "dialEpoch">) => void
    /**
     * Campaigns that stopped recently, and those that may have stopped, unless their owner has since read that they run. A database that has
     * failed over may still show them as running.
     */
    readonly stopped: () => ReadonlyArray<CampaignId>
    /** The campaigns that this node runs, with the epochs of their owners. */
    readonly owned: () => ReadonlyArray<{ readonly id: CampaignId; readonly ownerEpoch: number }>
  }
>()("runtime/campaign/CampaignInboxes") {
  static readonly layer = Layer.effect(
    CampaignInboxes,
    Effect.map(Clock.Clock, (clock) => {
      const inboxes = new Map<CampaignId, CampaignInbox>()
      const stoppedAt = new Map<CampaignId, SteadyTime.SteadyMillis>()
      const withdrawn = new Map<CampaignId, { readonly at: SteadyTime.SteadyMillis; readonly dialEpoch: number }>()
      const forget = (now: SteadyTime.SteadyMillis): void => {
        const since = now - REMEMBER_STOPPED_MILLIS
        for (const [id, at] of stoppedAt) if (at <= since) stoppedAt.delete(id)
        for (const [id, { at }] of withdrawn) if (at <= since) withdrawn.delete(id)
      }
      const hasStopped = (id: CampaignId): void => {
        const now = SteadyTime.nowOf(clock)
        forget(now)
        stoppedAt.set(id, now)
      }
      return {
        of: (id) => {
          const inbox = inboxes.get(id) ?? new CampaignInbox()
          inboxes.set(id, inbox)
          return inbox
        },
        find: (id) => inboxes.get(id),
        open: () => {
          let open = 0
          for (const inbox of inboxes.values()) if (inbox.isOpen) open++
          return open
        },
        watcher: (id) => ({
          over: (how, call) => inboxes.get(id)?.over(how, call, SteadyTime.nowOf(clock)),
          greetingMissed: () => inboxes.get(id)?.greetingMissed(),
          recorded: (how, recorded, attempt) => inboxes.get(id)?.hear(how, recorded, attempt),
          gone: (attempt) => inboxes.get(id)?.gone(attempt)
        }),
        // A campaign without an inbox here looks for contacts as soon as it gets one.
        numberFreed: (ids) => {
          for (const id of ids) inboxes.get(id)?.returnAll()
        },
        clockSet: (apartMillis, toleranceMillis) => {
          for (const inbox of inboxes.values()) if (Math.abs(apartMillis - inbox.clockApart) >= toleranceMillis) inbox.wake()
        },
        close: (id) => {
          const inbox = inboxes.get(id)
          if (inbox !== undefined && !inbox.isOpen) inboxes.delete(id)
        },
        hasStopped,
        mayHaveStopped: (id) => {
          const dialEpoch = inboxes.get(id)?.dialEpoch
          // Its owner has already read the change and gone.
          if (dialEpoch === undefined) return hasStopped(id)
          const at = SteadyTime.nowOf(clock)
          forget(at)
          withdrawn.set(id, { at, dialEpoch })
        },
        runs: ({ campaignId, dialEpoch }) => {
          const inbox = inboxes.get(campaignId)
          if (inbox !== undefined) inbox.dialEpoch = dialEpoch
          // Every stop raises the epoch. A database that has lost a stop still shows the previous epoch.
          if (dialEpoch > (withdrawn.get(campaignId)?.dialEpoch ?? dialEpoch)) withdrawn.delete(campaignId)
        },
        stopped: () => [...new Set([...withdrawn.keys(), ...[...stoppedAt.keys()].filter((id) => inboxes.get(id)?.isOpen !== true)])],
        owned: () => [...inboxes].flatMap(([id, { ownerEpoch }]) => (ownerEpoch === undefined ? [] : [{ id, ownerEpoch }])),
        withdraw: (id) => Effect.sync(() => inboxes.get(id)?.withdraw())
      }
    })
  )
}
