/**
 * Where the rest of the node leaves word for a campaign's actor. Word is news that the actor takes in at its next turn; nothing queues up,
 * and nothing is lost that the campaign's row does not know too.
 */
import { Context, Effect, Layer, Latch } from "effect"
import type { Over, RefusalReason } from "#core/call/Call.ts"
import type { CampaignId } from "#core/Id.ts"
import type { CallWatcher } from "../call/CallSupervisor.ts"
import type { Recorded } from "../call/CallJournal.ts"

export class Desk {
  /** Opened by whoever has news. */
  readonly news = Latch.makeUnsafe(false)
  /** The row may have changed: read it again. */
  rowChanged = false
  /** A contact may be due before the actor thinks so: epoch milliseconds. */
  dueAt = Number.POSITIVE_INFINITY
  /** Contacts came back to `pending` or `retry_wait`. */
  returned = false
  /** A refusal that only a person can mend. */
  fatal: "auth_refused" | "no_credit" | "misconfigured" | undefined
  /** The actor believes that there is nothing to claim. */
  idle = false
  private owner: number | undefined
  /** The permits were withdrawn, and the actor has not looked at its row since. */
  private withdrawn = false

  get isOpen(): boolean {
    return this.owner !== undefined
  }
  /** Whether what this owner permitted still is. */
  mayDial(ownerEpoch: number): boolean {
    return this.owner === ownerEpoch && !this.withdrawn
  }
  open(ownerEpoch: number): void {
    this.owner = ownerEpoch
    this.fatal = undefined
    this.confirm()
  }
  withdraw(): void {
    this.withdrawn = true
    this.look()
  }
  /** The row has been read, and the campaign runs; unless there has been word since. */
  confirm(): void {
    if (!this.rowChanged) this.withdrawn = false
  }
  /** Not if a later owner sits here by now. */
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
  /** There may be contacts to claim that the actor does not know of. */
  returnAll(): void {
    this.returned = true
    this.wake()
  }
  /** What the campaign wants to hear of its calls. */
  hear(how: Over, { dueAt, look }: Recorded): void {
    if (how._tag === "Void") this.refused(how.reason)
    if (dueAt !== undefined) {
      this.dueAt = Math.min(this.dueAt, dueAt)
      this.wake()
    }
    if (look) this.look()
  }
  private refused(reason: RefusalReason): void {
    this.returned = true
    if (reason === "auth_refused" || reason === "no_credit" || reason === "misconfigured") this.fatal = reason
    this.wake()
  }
}

export class Desks extends Context.Service<
  Desks,
  {
    readonly of: (id: CampaignId) => Desk
    readonly find: (id: CampaignId) => Desk | undefined
    /** Campaigns that this node runs. */
    readonly open: () => number
    /** Has every campaign look again at what it waits for. */
    readonly wakeAll: () => void
    /** For calls of the campaign: they may outlive the owner that dialed them, and then report to the next. */
    readonly watcher: (id: CampaignId) => CallWatcher
    /**
     * Has the campaign's actor look at its row. No request that was permitted before can leave any more: the permit is asked in the same
     * breath in which the first byte is written.
     */
    readonly withdraw: (id: CampaignId) => Effect.Effect<void>
    /** A number that contacts of these campaigns wait for has become free. */
    readonly numberFreed: (ids: ReadonlyArray<CampaignId>) => void
    /** Forgets the desk, unless it is still in use. */
    readonly close: (id: CampaignId) => void
  }
>()("runtime/campaign/Desks") {
  static readonly layer = Layer.sync(Desks, () => {
    const desks = new Map<CampaignId, Desk>()
    return {
      of: (id) => {
        const desk = desks.get(id) ?? new Desk()
        desks.set(id, desk)
        return desk
      },
      find: (id) => desks.get(id),
      open: () => {
        let open = 0
        for (const desk of desks.values()) if (desk.isOpen) open++
        return open
      },
      wakeAll: () => {
        for (const desk of desks.values()) desk.wake()
      },
      watcher: (id) => ({ recorded: (how, recorded) => desks.get(id)?.hear(how, recorded) }),
      // A campaign without a desk here looks for contacts first of all when it gets one.
      numberFreed: (ids) => {
        for (const id of ids) desks.get(id)?.returnAll()
      },
      close: (id) => {
        const desk = desks.get(id)
        if (desk !== undefined && !desk.isOpen) desks.delete(id)
      },
      withdraw: (id) => Effect.sync(() => desks.get(id)?.withdraw())
    }
  })
}
