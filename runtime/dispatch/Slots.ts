/**
 * A slot is permission for one call to be in progress, within the limits of a campaign, an organization and a trunk at once. A slot counts in
 * all of its scopes or is not taken at all, and no call holds one while it waits for another. Campaigns that find no room queue for the next
 * slot that fits, and each waiter gets one in turn, so that two campaigns with equal backlogs share an organization's limit evenly.
 *
 * This is a fast copy of the live attempts in Postgres, rebuilt from them at startup.
 */
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

export interface SlotScope {
  /** For example `campaign:7`, `organization:1` or `trunk:3`. */
  readonly key: string
  /** Undefined: counted but not limited. It may change, so it is read each time a slot is wanted. */
  readonly limit: number | undefined
}

/** Key of the slots of all calls that show this number. */
export const callerKey = (configurationId: number, number: string | undefined): string => `caller:${configurationId}:${number ?? ""}`

export interface SlotQueue {
  /**
   * Takes as many of the `wanted` slots as there is room for, one for each value of `holders`. If that is not all of them, joins the queue;
   * `wake` is called in turn.
   */
  readonly take: <Holder extends string>(wanted: number, holders: () => Holder, scopes: ReadonlyArray<SlotScope>) => ReadonlyArray<Holder>
  /** The queue wants more slots than it was given, and none has become free for it since. */
  readonly isWaiting: () => boolean
  /** Wants no slot now: gives up its place in the queue and the slots reserved for it. */
  readonly leave: () => void
}

export class Slots extends Context.Service<
  Slots,
  {
    /** Each campaign that dials has its own queue. */
    readonly queue: (wake: () => void) => SlotQueue
    /** Runs a claim. By the time it ends, the slots it took but does not need must have been given back. */
    readonly claiming: <A, E, R>(claim: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Waits for the claims now in progress, and for those that queues with reserved slots are about to start; but not for any that start later.
     */
    readonly awaitClaims: Effect.Effect<void>
    /** Takes a slot now or not at all, without waiting. */
    readonly tryTake: (holder: string, scopes: ReadonlyArray<SlotScope>) => boolean
    /** Takes a slot for a call that is already in progress, whatever the limits say. If it has one, that counts in these scopes as well. */
    readonly adopt: (holder: string, scopes: ReadonlyArray<SlotScope>) => void
    /** Idempotent. */
    readonly release: (holder: string) => void
    readonly holds: (holder: string) => boolean
    /** From now on, counts the holder's slot under another key, whether or not that key has room. */
    readonly move: (holder: string, from: string, to: string) => void
    /** Reserved slots included. */
    readonly used: (key: string) => number
    /** The slots that are reserved for queues, which have not taken them yet. */
    readonly reserved: (key: string) => number
    /** To be called after a limit has been raised. */
    readonly recheck: () => void
    /** When the holder's slot became free, if its queue was waiting for one at that time. */
    readonly freedAt: (holder: string) => SteadyTime.SteadyMillis | undefined
  }
>()("runtime/dispatch/Slots") {
  static readonly layerMemory = Layer.effect(
    Slots,
    Effect.map(Clock.Clock, (clock) => {
      const held = new HeldSlots()
      const waiting = new WaitingQueues(held, clock)
      const claims = new Set<Deferred.Deferred<void>>()
      const awaitAll = (moments: Iterable<Deferred.Deferred<void>>) => Effect.forEach([...moments], Deferred.await, { discard: true })
      const exchanges = Effect.suspend(() => awaitAll(waiting.exchanges()))
      return {
        queue: (wake) => waiting.queue(wake),
        claiming: (claim) => claiming(claims, claim),
        awaitClaims: exchanges.pipe(Effect.andThen(Effect.suspend(() => awaitAll(claims)))),
        tryTake: (holder, scopes) => held.tryTake(holder, scopes),
        adopt: (holder, scopes) => held.adopt(holder, scopes),
        release: (holder) => {
          held.drop(holder)
          waiting.serve()
        },
        holds: (holder) => held.has(holder),
        move: (holder, from, to) => {
          if (held.move(holder, from, to)) waiting.serve()
        },
        used: (key) => held.used(key),
        reserved: (key) => waiting.reserved(key),
        recheck: () => waiting.serve(),
        freedAt: (holder) => held.freedAt(holder)
      }
    })
  )
}

const claiming = <A, E, R>(claims: Set<Deferred.Deferred<void>>, claim: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const over = Deferred.makeUnsafe<void>()
    claims.add(over)
    return Effect.ensuring(
      claim,
      Effect.sync(() => {
        claims.delete(over)
        Deferred.doneUnsafe(over, Effect.void)
      })
    )
  })

interface Held {
  readonly scopes: ReadonlyArray<SlotScope>
  readonly freedAt: SteadyTime.SteadyMillis | undefined
}

/** Who holds a slot, and how many are used under each key. */
class HeldSlots {
  readonly #used = new Map<string, number>()
  readonly #held = new Map<string, Held>()

  has(holder: string): boolean {
    return this.#held.has(holder)
  }

  used(key: string): number {
    return this.#used.get(key) ?? 0
  }

  freedAt(holder: string): SteadyTime.SteadyMillis | undefined {
    return this.#held.get(holder)?.freedAt
  }

  fits(scopes: ReadonlyArray<SlotScope>): boolean {
    return scopes.every(({ key, limit }) => limit === undefined || this.used(key) < limit)
  }

  tryTake(holder: string, scopes: ReadonlyArray<SlotScope>, freedAt?: SteadyTime.SteadyMillis): boolean {
    // One slot per holder: a second taker would later release the first one's.
    if (this.has(holder) || !this.fits(scopes)) return false
    this.adopt(holder, scopes, freedAt)
    return true
  }

  adopt(holder: string, scopes: ReadonlyArray<SlotScope>, freedAt?: SteadyTime.SteadyMillis): void {
    const before = this.#held.get(holder)
    const more = before === undefined ? scopes : scopes.filter(({ key }) => !before.scopes.some((scope) => scope.key === key))
    this.#held.set(holder, before === undefined ? { freedAt, scopes } : { ...before, scopes: [...before.scopes, ...more] })
    for (const { key } of more) this.#used.set(key, this.used(key) + 1)
  }

  drop(holder: string): void {
    const slot = this.#held.get(holder)
    if (slot === undefined) return
    this.#held.delete(holder)
    for (const { key } of slot.scopes) {
      const left = this.used(key) - 1
      if (left > 0) this.#used.set(key, left)
      else this.#used.delete(key)
    }
  }

  /** False if the holder has no slot under `from`. */
  move(holder: string, from: string, to: string): boolean {
    const slot = this.#held.get(holder)
    if (slot === undefined || slot.scopes.every(({ key }) => key !== from)) return false
    this.drop(holder)
    const scopes = slot.scopes.map((scope) => (scope.key === from ? { key: to, limit: undefined } : scope))
    this.adopt(holder, scopes, slot.freedAt)
    return true
  }
}

interface Waiter {
  scopes: ReadonlyArray<SlotScope>
  /** How many more slots it would take. */
  wants: number
  /** Names under which slots are reserved for it until it takes them. */
  readonly reserved: Array<string>
  /** Completed once it has exchanged these reservations for slots, or given them back. */
  exchange: Deferred.Deferred<void>
  readonly wake: () => void
}

/** The queues waiting for slots, in the order in which they are served. */
class WaitingQueues {
  readonly #waiting: Array<Waiter> = []
  readonly #held: HeldSlots
  readonly #clock: Clock.Clock
  #reservations = 0
  /** Those that have reserved slots. */
  readonly #reserving = new Set<Waiter>()

  constructor(held: HeldSlots, clock: Clock.Clock) {
    this.#held = held
    this.#clock = clock
  }

  /** The exchanges of the waiters that have reserved slots. */
  exchanges(): ReadonlyArray<Deferred.Deferred<void>> {
    return [...this.#reserving].map(({ exchange }) => exchange)
  }

  reserved(key: string): number {
    let count = 0
    for (const { reserved, scopes } of this.#reserving) if (scopes.some((scope) => scope.key === key)) count += reserved.length
    return count
  }

  queue(wake: () => void): SlotQueue {
    const waiter: Waiter = { exchange: Deferred.makeUnsafe(), reserved: [], scopes: [], wake, wants: 0 }
    return {
      isWaiting: () => waiter.reserved.length === 0 && this.#waiting.includes(waiter),
      leave: () => {
        this.#remove(waiter)
        if (waiter.reserved.length === 0) return
        this.#giveBack(waiter)
        this.serve()
      },
      take: (wanted, holders, scopes) => this.#take(waiter, wanted, holders, scopes)
    }
  }

  /** Reserves each free slot for the first waiter that can use it, and moves that waiter to the end of the queue. */
  serve(): void {
    const waiting = this.#waiting
    for (let at = 0; at < waiting.length; ) {
      const waiter = waiting[at]
      if (waiter === undefined || !this.#held.fits(waiter.scopes)) {
        at++
        continue
      }
      waiting.splice(at, 1)
      const reservation = `reservation:${++this.#reservations}`
      this.#held.adopt(reservation, waiter.scopes, SteadyTime.nowOf(this.#clock))
      waiter.reserved.push(reservation)
      this.#reserving.add(waiter)
      if (waiter.reserved.length < waiter.wants) waiting.push(waiter)
      at = 0
      waiter.wake()
    }
  }

  #take<Holder extends string>(
    waiter: Waiter,
    wanted: number,
    holders: () => Holder,
    scopes: ReadonlyArray<SlotScope>
  ): ReadonlyArray<Holder> {
    // Reservations are exchanged for slots synchronously, so that nobody else can take them in between.
    const freed = waiter.reserved.map((reservation) => this.#held.freedAt(reservation))
    this.#giveBack(waiter)
    const taken: Array<Holder> = []
    while (taken.length < wanted && this.#held.fits(scopes)) {
      const holder = holders()
      if (!this.#held.tryTake(holder, scopes, freed[taken.length])) break
      taken.push(holder)
    }
    waiter.scopes = scopes
    waiter.wants = wanted - taken.length
    if (waiter.wants === 0) this.#remove(waiter)
    else if (!this.#waiting.includes(waiter)) this.#waiting.push(waiter)
    // Limits may have changed since the reservations were made: others may be able to use slots that this one cannot.
    this.serve()
    return taken
  }

  #giveBack(waiter: Waiter): void {
    for (const reservation of waiter.reserved.splice(0)) this.#held.drop(reservation)
    if (!this.#reserving.delete(waiter)) return
    Deferred.doneUnsafe(waiter.exchange, Effect.void)
    waiter.exchange = Deferred.makeUnsafe()
  }

  #remove(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter)
    if (at >= 0) this.#waiting.splice(at, 1)
  }
}
