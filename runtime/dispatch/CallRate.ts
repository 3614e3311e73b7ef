/**
 * When the next calls may leave under the rates of both a campaign and its trunk. A campaign first reserves moments and then claims contacts for
 * them, so that no contact is marked as called and then has to wait for the rate. Campaigns that share a trunk take turns, in the order in which
 * they asked. Single calls take the next free moment.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { type Departed, lateMillis, type Moment, Pace, spacing } from "#core/campaign/Pacing.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"

export interface RateScope {
  /** For example `campaign:7` or `trunk:3`. */
  readonly key: string
  /** Dial requests per second. */
  readonly rate: number
}

/** The right of one call to leave at a certain moment. */
export interface Departure {
  /** When the call may leave, if nothing changes. Ask again at that time: a call that is late gets a later moment. */
  readonly readyAt: () => SteadyMillis
  /** Called right before the first byte. False if the request would be one too many within a second. */
  readonly leave: () => boolean
  /** The request did not leave after all: takes another moment. The one before counts as if it had been used. */
  readonly renew: () => void
  /** Gives the moment up. Does nothing once the call has left. */
  readonly giveBack: () => void
  /** Present if another engine decides when the call may leave: asks it. False if it may not leave by `latest`. */
  readonly granted?: (latest: SteadyMillis) => Effect.Effect<boolean>
}

/** A departure that can be lent to another engine. */
export interface LendableDeparture extends Departure {
  /**
   * Like `leave`, for a request that another engine will send within this time. Until the returned function says that it has left, it counts as
   * if it left at the last moment. Undefined if it would be one too many within a second.
   */
  readonly lend: (withinMillis: number) => (() => void) | undefined
}

/** Each campaign that dials has its own queue. */
export interface RateQueue {
  /** Roughly how many moments there are between `from` and `until`. If there are none, joins the queue; `turnAt` tells when to ask again. */
  readonly room: (scopes: ReadonlyArray<RateScope>, from: SteadyMillis, until: SteadyMillis) => number
  /** Takes the next `count` moments starting at `from`, and ends the turn. To be called in the same synchronous step as `room`. */
  readonly reserve: (scopes: ReadonlyArray<RateScope>, count: number, from: SteadyMillis) => ReadonlyArray<LendableDeparture>
  /** When the next turn is expected. */
  readonly turnAt: () => SteadyMillis
  /** Leaves the queue: no moment is wanted now. */
  readonly leave: () => void
}

export class CallRate extends Context.Service<
  CallRate,
  {
    /** Takes the next moment that all scopes allow. */
    readonly reserve: (scopes: ReadonlyArray<RateScope>) => LendableDeparture
    /** `wake` is called when a turn comes sooner than expected. */
    readonly queue: (wake: () => void) => RateQueue
    /** The provider has refused a call because there were too many: calls under this rate are spaced further apart for a while. */
    readonly slowDown: (scope: RateScope) => void
    /** Nothing may leave before this moment: another engine may have dialed shortly before, and its calls count toward the same rates. */
    readonly begin: (first: SteadyMillis) => void
    /** How many scopes are kept in memory: those used in the last second, those slowed down, and those being waited for. */
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
      const ticks = Effect.sync(() => setInterval(() => paces.tick(), TICK_MILLIS).unref())
      yield* Effect.acquireRelease(ticks, (timer) => Effect.sync(() => clearInterval(timer)))
      const turns = new Turns(paces, now)
      return {
        begin: (first) => paces.begin(first),
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

/** Milliseconds that really pass, whatever the clock says. A test that controls the clock makes them stand still. */
export const RealMillis = Context.Reference<() => number>("runtime/dispatch/RealMillis", { defaultValue: () => () => performance.now() })

const SWEEP_MILLIS = 1000
/** A turn of the event loop takes longer than this only if the machine gave the process no CPU time. */
const STANDSTILL_MILLIS = 5

const TICK_MILLIS = 100
/** A process that has not ticked for this long was frozen, or nearly so. */
const FROZEN_MILLIS = 350
/** After that, and at the beginning of a life that follows another, calls are further apart for this long. */
const CAREFUL_MILLIS = 5000

/** The share of the usual spacing that a late call keeps from both neighbors. */
const LATE_SHARE = 0.5

/** A call that has asked to leave in this turn of the event loop. Its first byte may be written as late as the turn ends. */
interface Leaving {
  readonly moment: { at: SteadyMillis }
  readonly departed: Departed
  readonly paces: ReadonlyArray<Pace>
  readonly askedAt: SteadyMillis
  readonly realAt: number
}

/** The paces of all scopes under which calls left recently or are about to leave. */
class Paces {
  readonly #paces = new Map<string, Pace>()
  readonly #now: () => SteadyMillis
  readonly #realMillis: () => number
  #first: SteadyMillis = Number.NEGATIVE_INFINITY
  /** In the order in which they asked. */
  readonly #leaving: Array<Leaving> = []
  #sweptAt = Number.NEGATIVE_INFINITY
  #tickedAt: number
  #carefulUntil: SteadyMillis = Number.NEGATIVE_INFINITY

  constructor(now: () => SteadyMillis, realMillis: () => number) {
    this.#now = now
    this.#realMillis = realMillis
    this.#tickedAt = realMillis()
  }

  begin(first: SteadyMillis): void {
    this.#first = first
    this.#carefulUntil = first + CAREFUL_MILLIS
  }

  /** To be called every `TICK_MILLIS`. Calls that are due may be asked about first, after a standstill. */
  tick(): void {
    const real = this.#realMillis()
    if (real > this.#tickedAt + FROZEN_MILLIS) this.#carefulUntil = this.#now() + CAREFUL_MILLIS
    this.#tickedAt = real
  }

  get size(): number {
    return this.#paces.size
  }

  of(scopes: ReadonlyArray<RateScope>): ReadonlyArray<Pace> {
    const [now, real] = [this.#now(), this.#realMillis()]
    if (this.#leaving.length > 0) this.#settle(real)
    this.#sweep(now)
    if (real > this.#tickedAt + FROZEN_MILLIS) this.tick()
    const isCareful = now < this.#carefulUntil
    return scopes.map(({ key, rate }) => {
      const pace = this.#paces.get(key) ?? new Pace(rate)
      pace.rate = rate
      pace.isCareful = isCareful
      this.#paces.set(key, pace)
      return pace
    })
  }

  /** The first moment at or after `from` that is free in all scopes; see `Pace.free`. */
  free(scopes: ReadonlyArray<RateScope>, from: SteadyMillis): SteadyMillis {
    return freeIn(this.of(scopes), this.notBefore(from))
  }

  /** The first moment at or after `from` at which anything may leave. */
  notBefore(from: SteadyMillis): SteadyMillis {
    return Math.max(from, this.#first)
  }

  /**
   * `depart` returns when the call leaves, or undefined if it may not. If the process stands still as a request leaves, the request arrives that much
   * later, and counts from then on: at the latest, from when anybody else asks.
   */
  leave(moment: Leaving["moment"], paces: ReadonlyArray<Pace>, depart: () => Departed | undefined): boolean {
    const realAt = this.#realMillis()
    const departed = depart()
    if (departed === undefined) return false
    this.#leaving.push({ askedAt: departed.at, departed, moment, paces, realAt })
    setImmediate(() => {
      this.#settle(this.#realMillis())
      this.#leaving.shift()
    })
    return true
  }

  #settle(real: number): void {
    for (const { askedAt, departed, moment, paces, realAt } of this.#leaving) {
      const passed = real - realAt
      if (passed <= STANDSTILL_MILLIS) continue
      departed.at = askedAt + passed
      for (const pace of paces) pace.moved(departed)
      if (passed > lateMillis) moveTo(moment, paces, departed.at)
    }
  }

  #sweep(now: SteadyMillis): void {
    if (now < this.#sweptAt + SWEEP_MILLIS) return
    this.#sweptAt = now
    for (const [key, pace] of this.#paces) if (pace.forget(now)) this.#paces.delete(key)
  }
}

const freeIn = (paces: ReadonlyArray<Pace>, from: SteadyMillis, share = 1): SteadyMillis => {
  for (let at = from; ; ) {
    let next = at
    for (const pace of paces) next = Math.max(next, pace.free(at, share))
    if (next <= at) return at
    at = next
  }
}

/** Takes the first moment at or after `from` that is free in all paces. */
const takeIn = (paces: ReadonlyArray<Pace>, reserved: { at: SteadyMillis }, from: SteadyMillis, share = 1): void => {
  const alone = paces.map((pace) => pace.free(from, share))
  reserved.at = freeIn(paces, from, share)
  for (const [place, pace] of paces.entries()) pace.take(reserved, alone[place])
}

/** The calls behind this one keep their distance from this moment. */
const moveTo = (moment: { at: SteadyMillis }, paces: ReadonlyArray<Pace>, at: SteadyMillis): void => {
  for (const pace of paces) pace.giveBack(moment)
  moment.at = at
  for (const pace of paces) pace.take(moment)
}

const opensIn = (paces: ReadonlyArray<Pace>, from: SteadyMillis): SteadyMillis => {
  let at = from
  for (const pace of paces) at = Math.max(at, pace.opensAt())
  return at
}

class Reserved implements LendableDeparture, Moment {
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
    takeIn(paces.of(scopes), this, paces.notBefore(from))
  }

  readyAt(): SteadyMillis {
    const now = this.#now()
    const paces = this.#paces.of(this.#scopes)
    const opensAt = opensIn(paces, this.at)
    // A late call moves in between two others: if it went behind all the moments taken, its place in this second would stay empty. But a call
    // held up only by the full second leaves at once: otherwise one late call would make another one late in every following second.
    if (this.#isOver || now <= opensAt + lateMillis) return opensAt
    for (const pace of paces) pace.giveBack(this)
    takeIn(paces, this, now, LATE_SHARE)
    return opensIn(paces, this.at)
  }

  leave(): boolean {
    return this.#paces.leave(this, this.#paces.of(this.#scopes), () => this.#depart(0))
  }

  lend(withinMillis: number): (() => void) | undefined {
    const departed = this.#depart(withinMillis)
    if (departed === undefined) return undefined
    return () => {
      const now = this.#now()
      if (now >= departed.at) return
      departed.at = now
      for (const pace of this.#paces.of(this.#scopes)) pace.moved(departed)
    }
  }

  renew(): void {
    const paces = this.#paces.of(this.#scopes)
    for (const pace of paces) pace.giveBack(this)
    takeIn(paces, this, this.#paces.notBefore(this.#now()), LATE_SHARE)
    this.#isOver = false
  }

  #depart(withinMillis: number): Departed | undefined {
    const now = this.#now()
    const paces = this.#paces.of(this.#scopes)
    if (this.#isOver || !paces.every((pace) => pace.isOpen(now))) return undefined
    // Connecting took a while: the calls behind keep their distance from the moment at which this one really left.
    if (now > this.at + lateMillis) moveTo(this, paces, now)
    const departed = { at: now + withinMillis }
    for (const pace of paces) pace.leave(departed)
    this.#isOver = true
    return departed
  }

  giveBack(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const pace of this.#paces.of(this.#scopes)) pace.giveBack(this)
    this.#freed()
  }
}

interface Waiter {
  scopes: ReadonlyArray<RateScope>
  turnAt: SteadyMillis
  readonly wake: () => void
}

/** The queues waiting for a moment, by scope and in the order of their turns. */
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

  reserve(scopes: ReadonlyArray<RateScope>, from: SteadyMillis): LendableDeparture {
    return new Reserved(scopes, this.#paces, this.#now, from, () => this.hurry(scopes))
  }

  /** A moment was given back, or a queue has left: wakes the first queue of each scope if it may now go sooner. */
  hurry(scopes: ReadonlyArray<RateScope>): void {
    for (const { key, rate } of scopes) {
      const [first] = this.#waiting.get(key) ?? []
      if (first !== undefined && first.turnAt > this.#paces.free(first.scopes, this.#now()) + spacing(rate) / 2) first.wake()
    }
  }

  /** How long the queues ahead of it take. A queue that has let its turn pass is not counted. */
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
