/**
 * A few places for many: connections, or lanes of heavy work. Nobody holds all of them, so whoever has none finds one at once or soon. A place
 * that becomes free goes to the one who holds the fewest of those that wait, and among equals to whoever was served least recently. Few may
 * wait, and for a while only; whoever finds no room hears so at once.
 */
import { Deferred, Effect, Exit, type Scope } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TooBusy, TooManyAtOnce } from "./Overload.ts"

/** So many times as long as the work took, but no longer than `mostMillis`. */
interface Rest {
  readonly times: number
  readonly mostMillis: number
}

const lengthOf = ({ mostMillis, times }: Rest, workMillis: number): number => Math.min(times * workMillis, mostMillis)

export interface Shares {
  readonly places: number
  /** Of these, what one may hold. */
  readonly placesEach: number
  /** How many may wait, in all and of one. */
  readonly waiting: number
  readonly waitingEach: number
  readonly patienceMillis: number
  /** After work the place rests, and whoever worked there gets none at all for a while. */
  readonly rest?: { readonly place: Rest; readonly worker: Rest }
  /** What those who find no room are told. */
  readonly retryAfterSeconds: number
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
type Full = TooManyAtOnce | TooBusy

interface Ticket {
  hasPlace: boolean
  readonly answer: Deferred.Deferred<void>
}

interface Share {
  held: number
  readonly waiting: Array<Ticket>
}

export class FairTurns<Who> {
  private readonly shares: Shares
  /** Only of those who hold a place or wait for one; the one who was served last is last. */
  private readonly known = new Map<Who, Share>()
  private held = 0
  private queued = 0

  constructor(shares: Shares) {
    this.shares = shares
  }

  get waiting(): number {
    return this.queued
  }

  /** Does the work in a place. Without one to be had, dies with `TooManyAtOnce` or `TooBusy`. */
  readonly take = <A, E, R>(who: Who, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.entered(who, restore), () => {
        const { rest } = this.shares
        return rest === undefined
          ? Effect.ensuring(
              restore(work),
              Effect.sync(() => this.leave(who))
            )
          : this.rested(who, rest, restore(work))
      })
    )

  /** A place until the scope closes. */
  readonly hold = (who: Who): Effect.Effect<void, never, Scope.Scope> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.entered(who, restore), () => Effect.addFinalizer(() => Effect.sync(() => this.leave(who))))
    )

  /** Whoever did the work does not wait for the rest. */
  private rested<A, E, R>(who: Who, rest: NonNullable<Shares["rest"]>, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.flatMap(SteadyTime.now, (began) =>
      Effect.ensuring(
        work,
        Effect.flatMap(SteadyTime.now, (ended) => {
          const later = (free: () => void, one: Rest) => Effect.forkDetach(Effect.delay(Effect.sync(free), lengthOf(one, ended - began)))
          return Effect.andThen(
            later(() => this.freePlace(), rest.place),
            later(() => this.freeWorker(who), rest.worker)
          )
        })
      )
    )
  }

  private entered(who: Who, restore: Restore): Effect.Effect<void> {
    return Effect.suspend(() => {
      const share = this.known.get(who) ?? { held: 0, waiting: [] }
      if (this.held < this.shares.places && share.held < this.shares.placesEach && share.waiting.length === 0) {
        this.serve(who, share)
        return Effect.void
      }
      const full = this.fullFor(share)
      if (full !== undefined) return Effect.die(full)
      return this.waited(who, share, restore)
    })
  }

  /** What whoever asked for a place now would be refused with; undefined: he would get one, or wait. */
  refusalFor(who: Who): Full | undefined {
    const share = this.known.get(who) ?? { held: 0, waiting: [] }
    return this.held < this.shares.places && share.held < this.shares.placesEach ? undefined : this.fullFor(share)
  }

  private fullFor(share: Share): Full | undefined {
    const { retryAfterSeconds, waiting, waitingEach } = this.shares
    if (share.waiting.length >= waitingEach) return new TooManyAtOnce({ retryAfterSeconds })
    return this.queued >= waiting ? new TooBusy({ retryAfterSeconds }) : undefined
  }

  private waited(who: Who, share: Share, restore: Restore): Effect.Effect<void> {
    const { patienceMillis, retryAfterSeconds } = this.shares
    return Effect.suspend(() => {
      const ticket: Ticket = { hasPlace: false, answer: Deferred.makeUnsafe() }
      this.known.set(who, share)
      share.waiting.push(ticket)
      this.queued++
      // Not a timeout, which would have to interrupt: some of what waits here must not be interrupted.
      const late = Effect.delay(Deferred.die(ticket.answer, new TooBusy({ retryAfterSeconds })), patienceMillis)
      return Effect.flatMap(Effect.forkDetach(late), (timer) =>
        Effect.onExit(restore(Deferred.await(ticket.answer)), (exit) =>
          Effect.sync(() => {
            timer.interruptUnsafe()
            if (Exit.isFailure(exit)) this.giveUp(who, share, ticket)
          })
        )
      )
    })
  }

  /** Whoever stops waiting may have got a place in the same moment. */
  private giveUp(who: Who, share: Share, ticket: Ticket): void {
    if (ticket.hasPlace) return this.leave(who)
    share.waiting.splice(share.waiting.indexOf(ticket), 1)
    this.queued--
    this.forget(who, share)
  }

  private serve(who: Who, share: Share): void {
    share.held++
    this.held++
    this.known.delete(who)
    this.known.set(who, share)
  }

  private leave(who: Who): void {
    this.held--
    this.freeWorker(who)
  }

  private freePlace(): void {
    this.held--
    this.serveNext()
  }

  private freeWorker(who: Who): void {
    const share = this.known.get(who)
    if (share === undefined) return
    share.held--
    this.forget(who, share)
    this.serveNext()
  }

  private forget(who: Who, share: Share): void {
    if (share.held === 0 && share.waiting.length === 0) this.known.delete(who)
  }

  private serveNext(): void {
    if (this.queued === 0 || this.held >= this.shares.places) return
    let next: readonly [Who, Share] | undefined
    for (const [who, share] of this.known) {
      if (share.waiting.length === 0 || share.held >= this.shares.placesEach) continue
      if (next === undefined || share.held < next[1].held) next = [who, share]
    }
    const ticket = next?.[1].waiting.shift()
    if (next === undefined || ticket === undefined) return
    this.queued--
    ticket.hasPlace = true
    this.serve(...next)
    Deferred.doneUnsafe(ticket.answer, Exit.void)
  }
}
