/**
 * When the next calls may leave under the rates of a campaign and of its trunk, both at once. A campaign reserves moments first and then
 * claims contacts for them, so that no contact is marked as called and then has to wait for the rate. Campaigns that share a trunk take
 * turns, in the order in which they asked. Single calls take the next free moment.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { type Departed, lateMillis, type Moment, Pace, spacing } from "#core/campaign/Pacing.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"

export interface RateScope {
  /** Such as `campaign:7` or `trunk:3`. */
  readonly key: string
  /** Dial requests per second. */
  readonly rate: number
}

/** The right of one call to leave at a certain moment. */
export interface Departure {
  /** When the call may leave, if nothing changes. To be asked again when that time has come: a call that is late gets a later moment. */
  readonly readyAt: () => SteadyMillis
  /** Called right before the first byte. False: the request would be one too many within a second. */
  readonly leave: () => boolean
  /** Gives the moment up. Does nothing once the call has left. */
  readonly giveBack: () => void
}

/** Each campaign that dials has a queue of its own. */
export interface RateQueue {
  /** About how many moments there are between `from` and `until`. If there are none, joins the queue; `turnAt` tells when to ask again. */
  readonly room: (scopes: ReadonlyArray<RateScope>, from: SteadyMillis, until: SteadyMillis) => number
  /** Takes the next `count` moments from `from` on, and ends the turn. To be called in the same synchronous step as `room`. */
  readonly reserve: (scopes: ReadonlyArray<RateScope>, count: number, from: SteadyMillis) => ReadonlyArray<Departure>
  /** When the next turn is expected. */
  readonly turnAt: () => SteadyMillis
  /** Gives up the place in the queue: no moment is wanted now. */
  readonly leave: () => void
}

export class CallRate extends Context.Service<
  CallRate,
  {
    /** Takes the next moment that all scopes allow. */
    readonly reserve: (scopes: ReadonlyArray<RateScope>) => Departure
    /** `wake` is called when a turn comes sooner than expected. */
    readonly queue: (wake: () => void) => RateQueue
    /** The provider has refused a call because there were too many: calls under this rate leave further apart for a while. */
    readonly slowDown: (scope: RateScope) => void
    /** How many scopes are kept in memory: those used in the last second, those that were slowed down, and those that are waited for. */
    readonly size: () => number
  }
>()("runtime/dispatch/CallRate") {
  static readonly layerMemory = Layer.effect(
    CallRate,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const realMillis = yield* RealMillis
      const now = () => nowOf(clock)
      const paces = new Paces(now, realMillis)
      const turns = new Turns(paces, now)
      return {
        queue: (wake) => turns.queue(wake),
        reserve: (scopes) => turns.reserve(scopes, now()),
        slowDown: (scope) => {
          for (const pace of paces.of([scope])) pace.slowDown(now())
        },
        size: () => paces.size + turns.size
      }
    })
  )
}

/** Milliseconds that really pass, whatever the clock says. A test that turns the clock has them stand still. */
export const RealMillis = Context.Reference<() => number>("runtime/dispatch/RealMillis", { defaultValue: () => () => performance.now() })

const SWEEP_MILLIS = 1000
/** A turn of the event loop takes longer than this only if the machine gave the process no time. */
const STANDSTILL_MILLIS = 5

/** Share of the usual spacing that a call which has missed its moment keeps from both neighbours. */
const LATE_SHARE = 0.5

/** The paces of all scopes under which calls left recently or are about to leave. */
class Paces {
  readonly #paces = new Map<string, Pace>()
  readonly #now: () => SteadyMillis
  readonly #realMillis: () => number
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(now: () => SteadyMillis, realMillis: () => number) {
    this.#now = now
    this.#realMillis = realMillis
  }

  get size(): number {
    return this.#paces.size
  }

  of(scopes: ReadonlyArray<RateScope>): ReadonlyArray<Pace> {
    this.#sweep()
    return scopes.map(({ key, rate }) => {
      const pace = this.#paces.get(key) ?? new Pace(rate)
      pace.rate = rate
      this.#paces.set(key, pace)
      return pace
    })
  }

  /** The first moment from `from` on that is free in all scopes; see `Pace.free`. */
  free(scopes: ReadonlyArray<RateScope>, from: SteadyMillis, share = 1): SteadyMillis {
    const paces = this.of(scopes)
    for (let at = from; ; ) {
      const next = Math.max(...paces.map((pace) => pace.free(at, share)))
      if (next <= at) return at
      at = next
    }
  }

  /** Takes the first moment from `from` on that is free in all scopes. */
  take(scopes: ReadonlyArray<RateScope>, reserved: { at: SteadyMillis }, from: SteadyMillis, share = 1): void {
    const own = this.of(scopes).map((pace) => ({ free: pace.free(from, share), pace }))
    reserved.at = this.free(scopes, from, share)
    for (const { free, pace } of own) pace.take(reserved, free)
  }

  /** If the process stands still just as a request leaves, the request arrives that much later, and counts for that much longer. */
  noteStandstill(departed: Departed): void {
    const leftAt = this.#realMillis()
    setImmediate(() => {
      const passed = this.#realMillis() - leftAt
      if (passed > STANDSTILL_MILLIS) departed.at += passed
    })
  }

  #sweep(): void {
    const now = this.#now()
    if (now < this.#sweptAt + SWEEP_MILLIS) return
    this.#sweptAt = now
    for (const [key, pace] of this.#paces) if (pace.forget(now)) this.#paces.delete(key)
  }
}

class Reserved implements Departure, Moment {
  at: SteadyMillis
  readonly #scopes: ReadonlyArray<RateScope>
  readonly #paces: Paces
  readonly #now: () => SteadyMillis
  readonly #freed: () => void
  #isOver = false

  constructor(scopes: ReadonlyArray<RateScope>, paces: Paces, now: () => SteadyMillis, from: SteadyMillis, freed: () => void) {
    this.#scopes = scopes
    this.#paces = paces
    this.#now = now
    this.#freed = freed
    this.at = from
    paces.take(scopes, this, from)
  }

  readyAt(): SteadyMillis {
    const now = this.#now()
    const opensAt = () => Math.max(this.at, ...this.#paces.of(this.#scopes).map((pace) => pace.opensAt()))
    // A late call moves in between two others: behind all the moments taken, its place in this second would stay empty. But a call that only the
    // full second kept waiting goes at once: otherwise one late call would make another one late in every second to come.
    if (!this.#isOver && now > opensAt() + lateMillis) this.#move(() => this.#paces.take(this.#scopes, this, now, LATE_SHARE))
    return opensAt()
  }

  leave(): boolean {
    const now = this.#now()
    const paces = this.#paces.of(this.#scopes)
    if (this.#isOver || !paces.every((pace) => pace.isOpen(now))) return false
    // The connection took its time: the calls behind keep their distance from the moment at which this one really left.
    if (now > this.at + lateMillis) {
      this.#move(() => {
        this.at = now
        for (const pace of paces) pace.take(this)
      })
    }
    const departed = { at: now }
    for (const pace of paces) pace.leave(departed)
    this.#paces.noteStandstill(departed)
    this.#isOver = true
    return true
  }

  giveBack(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const pace of this.#paces.of(this.#scopes)) pace.giveBack(this)
    this.#freed()
  }

  #move(take: () => void): void {
    for (const pace of this.#paces.of(this.#scopes)) pace.giveBack(this)
    take()
  }
}

interface Waiter {
  scopes: ReadonlyArray<RateScope>
  turnAt: SteadyMillis
  readonly wake: () => void
}

/** The queues that wait for a moment, by scope and in the order of their turns. */
class Turns {
  readonly #waiting = new Map<string, Set<Waiter>>()
  readonly #paces: Paces
  readonly #now: () => SteadyMillis

  constructor(paces: Paces, now: () => SteadyMillis) {
    this.#paces = paces
    this.#now = now
  }

  get size(): number {
    return this.#waiting.size
  }

  queue(wake: () => void): RateQueue {
    const waiter: Waiter = { scopes: [], turnAt: Number.NEGATIVE_INFINITY, wake }
    return {
      leave: () => {
        const { scopes } = waiter
        this.#dequeue(waiter)
        this.hurry(scopes)
      },
      reserve: (scopes, count, from) => {
        this.#dequeue(waiter)
        return Array.from({ length: count }, () => this.reserve(scopes, from))
      },
      room: (scopes, from, until) => {
        if (scopes.some(({ key }, i) => key !== waiter.scopes[i]?.key)) this.#dequeue(waiter)
        waiter.turnAt = this.#paces.free(scopes, from) + this.#millisBefore(waiter, scopes)
        if (waiter.turnAt <= until) return Math.floor((until - waiter.turnAt) / Math.max(...scopes.map(({ rate }) => spacing(rate)))) + 1
        this.#enqueue(waiter, scopes)
        return 0
      },
      turnAt: () => waiter.turnAt
    }
  }

  reserve(scopes: ReadonlyArray<RateScope>, from: SteadyMillis): Departure {
    return new Reserved(scopes, this.#paces, this.#now, from, () => this.hurry(scopes))
  }

  /** A moment was given back, or a place in the queue given up: wakes the first queue of each scope if it may go sooner now. */
  hurry(scopes: ReadonlyArray<RateScope>): void {
    for (const { key, rate } of scopes) {
      const [first] = this.#waiting.get(key) ?? []
      if (first !== undefined && first.turnAt > this.#paces.free(first.scopes, this.#now()) + spacing(rate) / 2) first.wake()
    }
  }

  /** How long the queues ahead of it take. One that let its turn pass is not waited for. */
  #millisBefore(waiter: Waiter, scopes: ReadonlyArray<RateScope>): number {
    const overdue = this.#now() - lateMillis
    const waits = scopes.map(({ key, rate }) => {
      let before = 0
      for (const other of this.#waiting.get(key) ?? []) {
        if (other === waiter) break
        if (other.turnAt >= overdue) before++
      }
      return before * spacing(rate)
    })
    return Math.max(...waits)
  }

  #enqueue(waiter: Waiter, scopes: ReadonlyArray<RateScope>): void {
    waiter.scopes = scopes
    for (const { key } of scopes) this.#waiting.set(key, (this.#waiting.get(key) ?? new Set()).add(waiter))
  }

  #dequeue(waiter: Waiter): void {
    for (const { key } of waiter.scopes) {
      const waiting = this.#waiting.get(key)
      waiting?.delete(waiter)
      if (waiting?.size === 0) this.#waiting.delete(key)
    }
    waiter.scopes = []
  }
}
