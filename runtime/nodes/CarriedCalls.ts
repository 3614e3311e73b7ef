/** The calls of a call node: started when the dispatcher places them, and reported to it, or to this engine itself once it has the lock. */
import { type Clock, Effect, Fiber } from "effect"
import type { NewAttempt } from "#core/call/Attempt.ts"
import type { CallId, CampaignId } from "#core/Id.ts"
import type { OrganizationModels } from "#core/model/OrganizationModels.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import type { CallJournal } from "#runtime/call/CallJournal.ts"
import type { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { CallWatcher } from "#runtime/call/LiveCall.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import type { Slots } from "#runtime/dispatch/Slots.ts"
import { awaitUp, type TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import type { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import type { FromNode, ToNode } from "./messages.ts"
import { RemoteDeparture } from "./RemoteDeparture.ts"
import type { RemoteTransfers } from "./RemoteTransfers.ts"

/** How long a call waits for a trunk that is being connected. */
const CONNECT_MILLIS = 5000

interface Means {
  readonly clock: Clock.Clock
  readonly fork: (work: Effect.Effect<unknown>) => void
  readonly journal: CallJournal["Service"]
  /** This node's own disk. */
  readonly local: LocalJournal["Service"]
  readonly media: MediaRoom["Service"]
  readonly models: OrganizationModels["Service"]
  readonly pool: TrunkPool["Service"]
  readonly say: (message: FromNode) => void
  readonly slots: Slots["Service"]
  readonly supervisor: CallSupervisor["Service"]
  readonly transfers: RemoteTransfers["Service"]
}

type Place = Extract<ToNode, { readonly _tag: "Place" }>

export class CarriedCalls {
  readonly #means: Means
  /** Of calls whose actors live. */
  readonly #departures = new Map<CallId, RemoteDeparture>()
  readonly #renewals = new Set<Fiber.Fiber<void>>()
  /** Watches the calls of a campaign, once this engine has the lock. */
  #watcherHere: ((id: CampaignId) => CallWatcher) | undefined
  #leftAt: SteadyMillis = Number.NEGATIVE_INFINITY
  /** Takes no more calls. */
  isLeaving = false

  constructor(means: Means) {
    this.#means = means
  }

  leave(): void {
    this.isLeaving = true
  }

  /** This engine has the lock: it takes no more calls from others, and its calls report to their campaigns here. */
  watchedBy(watcherOf: (id: CampaignId) => CallWatcher): void {
    this.leave()
    this.#watcherHere = watcherOf
  }

  /** Those that live, and those that left a moment ago: the database may have forgotten how they ended. */
  readonly callIds = (): ReadonlyArray<CallId> => [...new Set([...this.#departures.keys(), ...this.#means.local.recent()])]

  /** When the last request left here that another engine had allowed. */
  get leftAt(): SteadyMillis {
    return Math.max(this.#leftAt, this.#means.transfers.leftAt())
  }

  /** The dispatcher cannot be asked any more, or has been replaced: calls that have not left are withdrawn. */
  lost(): void {
    for (const departure of this.#departures.values()) departure.giveBack()
    this.#means.transfers.lost()
  }

  hear(message: ToNode): void {
    switch (message._tag) {
      case "Place":
        this.#means.fork(Effect.uninterruptible(this.#place(message)))
        break
      case "Answered":
        this.#departures.get(message.callId)?.answered(message.answer)
        break
      case "TransferAnswered":
        this.#means.transfers.answered(message.callId, message.answer)
        break
      case "Heard":
        this.#means.supervisor.find(message.callId)?.trunk.hear(message.callId, message.event)
        break
      case "TrunkChanged":
        this.#means.fork(this.#renewing(this.#means.pool.renew(message.id, message.changed)))
        break
      case "ModelsChanged":
        this.#means.fork(this.#means.models.changed(message.organizationId))
        break
      case "Hello":
      case "Ping":
      case "Watch":
    }
  }

  #place({ attempt, from, marked }: Place): Effect.Effect<void> {
    const { media, pool, say, slots, supervisor } = this.#means
    const { callId } = attempt
    const departure = this.#departureOf(callId)
    this.#departures.set(callId, departure)
    const placing = Effect.gen({ self: this }, function* () {
      const trunk = this.isLeaving ? undefined : yield* pool.get(attempt.telephonyConfigurationId)
      if (trunk === undefined || !(yield* awaitUp(trunk, CONNECT_MILLIS)) || !departure.holds() || !trunk.admit(callId)) return false
      slots.adopt(callId, [media.scope(true)])
      const dialing = { departure, from, marked, permit: departure, placed: () => say({ _tag: "Placed", callId }) }
      yield* supervisor.start(attempt, trunk, dialing, this.#watcherOf(attempt)).pipe(
        Effect.onError(() =>
          Effect.sync(() => {
            slots.release(callId)
            trunk.dismiss(callId)
          })
        )
      )
      return true
    })
    return placing.pipe(
      Effect.catchCause((cause) => Effect.as(Effect.logWarning("a call could not be started", cause), false)),
      Effect.flatMap((isStarted) => (isStarted ? Effect.void : Effect.sync(() => this.#giveBack(callId)))),
      Effect.annotateLogs({ callId })
    )
  }

  #giveBack(callId: CallId): void {
    const { journal, say } = this.#means
    this.#departures.delete(callId)
    // The dispatcher does the same, unless it has died since.
    journal.unclaim([callId], () => {})
    say({ _tag: "NotStarted", callId })
  }

  #departureOf(callId: CallId): RemoteDeparture {
    const { clock, say } = this.#means
    return new RemoteDeparture({
      ask: () => say({ _tag: "Ask", callId }),
      clock,
      left: () => {
        this.#leftAt = nowOf(clock)
        say({ _tag: "Left", callId })
      },
      renewed: Effect.suspend(() => Effect.asVoid(Fiber.awaitAll([...this.#renewals])))
    })
  }

  #watcherOf({ callId, campaign }: NewAttempt): CallWatcher {
    const { local, say } = this.#means
    const tell = (message: FromNode, hear: (watcher: CallWatcher) => void) => {
      if (this.#watcherHere === undefined) say(message)
      else if (campaign !== undefined) hear(this.#watcherHere(campaign.campaignId))
    }
    return {
      over: (how, call) => tell({ _tag: "Over", callId, how, refusal: call.refusal }, ({ over }) => over?.(how, call)),
      lineFree: (how) => tell({ _tag: "LineFree", callId, how }, ({ lineFree }) => lineFree?.(how)),
      greetingMissed: () => tell({ _tag: "GreetingMissed", callId }, ({ greetingMissed }) => greetingMissed?.()),
      recorded: (how, recorded, attempt) => {
        const { end, undone } = local.known(callId, undefined)
        tell({ _tag: "Recorded", callId, end, how, recorded, undone }, (watcher) => watcher.recorded?.(how, recorded, attempt))
      },
      gone: (attempt) => {
        this.#departures.delete(callId)
        tell({ _tag: "Gone", callId }, ({ gone }) => gone?.(attempt))
      }
    }
  }

  /** What has changed on other engines while nobody told this one. */
  readonly renewAll: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(this.#means.models.forgetAll, this.#renewing(this.#means.pool.renewAll))
  )

  /** Calls that ask meanwhile wait, so none leaves with what was changed. */
  #renewing(work: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const renewal = yield* Effect.forkChild(work, { startImmediately: true })
      this.#renewals.add(renewal)
      yield* Fiber.await(renewal)
      this.#renewals.delete(renewal)
    })
  }
}
