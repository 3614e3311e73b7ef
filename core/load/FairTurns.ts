/**
 * Shares a few places, such as connections or lanes for heavy work, among many users. No user holds all of them, so one that has none gets
 * a place at once or soon. A place that becomes free goes to the waiting user that holds the fewest, and among equals to the one that has
 * gone longest without being served. The queue is short and a wait is limited; when the queue is full, the refusal is immediate.
 */
import { Deferred, Effect, Exit, type Scope } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TooBusy, TooManyAtOnce } from "./Overload.ts"

/** A rest lasts `times` as long as the work took, and at most `mostMillis`. */
interface Rest {
  readonly times: number
  readonly mostMillis: number
}

const lengthOf = ({ mostMillis, times }: Rest, workMillis: number): number => Math.min(times * workMillis, mostMillis)

export interface Shares {
  readonly places: number
  /** How many of them one user may hold. */
  readonly placesEach: number
  /** How many requests for a place may wait, in all and for each user. */
  readonly waiting: number
  readonly waitingEach: number
  readonly patienceMillis: number
  /** After work, the place stays occupied for `place`, and counts as held by the user that worked there for `worker`. */
  readonly rest?: { readonly place: Rest; readonly worker: Rest }
  /** Sent with a refusal. */
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

export class FairTurns<User> {
  private readonly shares: Shares
  /** The users that hold a place or wait for one; the one that was served last comes last. */
  private readonly users = new Map<User, Share>()
  private held = 0
  private queued = 0

  constructor(shares: Shares) {
    this.shares = shares
  }

  get waiting(): number {
    return this.queued
  }

  /** Does the work in a place. Dies with `TooManyAtOnce` or `TooBusy` if no place is available. */
  readonly take = <A, E, R>(user: User, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.entered(user, restore), () => {
        const { rest } = this.shares
        return rest === undefined
          ? Effect.ensuring(
              restore(work),
              Effect.sync(() => this.leave(user))
            )
          : this.rested(user, rest, restore(work))
      })
    )

  /** Holds a place until the scope closes. */
  readonly hold = (user: User): Effect.Effect<void, never, Scope.Scope> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.entered(user, restore), () => Effect.addFinalizer(() => Effect.sync(() => this.leave(user))))
    )

  /** The result of the work does not wait for the rest. */
  private rested<A, E, R>(user: User, rest: NonNullable<Shares["rest"]>, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.flatMap(SteadyTime.now, (began) =>
      Effect.ensuring(
        work,
        Effect.flatMap(SteadyTime.now, (ended) => {
          const later = (free: () => void, one: Rest) => Effect.forkDetach(Effect.delay(Effect.sync(free), lengthOf(one, ended - began)))
          return Effect.andThen(
            later(() => this.freePlace(), rest.place),
            later(() => this.freeWorker(user), rest.worker)
          )
        })
      )
    )
  }

  private entered(user: User, restore: Restore): Effect.Effect<void> {
    return Effect.suspend(() => {
      const share = this.users.get(user) ?? { held: 0, waiting: [] }
      if (this.held < this.shares.places && share.held < this.shares.placesEach && share.waiting.length === 0) {
        this.serve(user, share)
        return Effect.void
      }
      const full = this.fullFor(share)
      if (full !== undefined) return Effect.die(full)
      return this.waited(user, share, restore)
    })
  }

  /** The error that a request for a place would get now; undefined if it would get a place, or wait for one. */
  refusalFor(user: User): Full | undefined {
    const share = this.users.get(user) ?? { held: 0, waiting: [] }
    return this.held < this.shares.places && share.held < this.shares.placesEach ? undefined : this.fullFor(share)
  }

  private fullFor(share: Share): Full | undefined {
    const { retryAfterSeconds, waiting, waitingEach } = this.shares
    if (share.waiting.length >= waitingEach) return new TooManyAtOnce({ retryAfterSeconds })
    return this.queued >= waiting ? new TooBusy({ retryAfterSeconds }) : undefined
  }

  private waited(user: User, share: Share, restore: Restore): Effect.Effect<void> {
    const { patienceMillis, retryAfterSeconds } = this.shares
    return Effect.suspend(() => {
      const ticket: Ticket = { hasPlace: false, answer: Deferred.makeUnsafe() }
      this.users.set(user, share)
      share.waiting.push(ticket)
      this.queued++
      // Not a timeout, because that interrupts, and some of what waits here must not be interrupted.
      const late = Effect.delay(Deferred.die(ticket.answer, new TooBusy({ retryAfterSeconds })), patienceMillis)
      return Effect.flatMap(Effect.forkDetach(late), (timer) =>
        Effect.onExit(restore(Deferred.await(ticket.answer)), (exit) =>
          Effect.sync(() => {
            timer.interruptUnsafe()
            if (Exit.isFailure(exit)) this.giveUp(user, share, ticket)
          })
        )
      )
    })
  }

  /** A request that stops waiting may have got a place in the same moment. */
  private giveUp(user: User, share: Share, ticket: Ticket): void {
    if (ticket.hasPlace) return this.leave(user)
    share.waiting.splice(share.waiting.indexOf(ticket), 1)
    this.queued--
    this.forget(user, share)
  }

  private serve(user: User, share: Share): void {
    share.held++
    this.held++
    this.users.delete(user)
    this.users.set(user, share)
  }

  private leave(user: User): void {
    this.held--
    this.freeWorker(user)
  }

  private freePlace(): void {
    this.held--
    this.serveNext()
  }

  private freeWorker(user: User): void {
    const share = this.users.get(user)
    if (share === undefined) return
    share.held--
    this.forget(user, share)
    this.serveNext()
  }

  private forget(user: User, share: Share): void {
    if (share.held === 0 && share.waiting.length === 0) this.users.delete(user)
  }

  private serveNext(): void {
    if (this.queued === 0 || this.held >= this.shares.places) return
    let next: readonly [User, Share] | undefined
    for (const [user, share] of this.users) {
      if (share.waiting.length === 0 || share.held >= this.shares.placesEach) continue
      if (next === undefined || share.held < next[1].held) next = [user, share]
    }
    const ticket = next?.[1].waiting.shift()
    if (next === undefined || ticket === undefined) return
    this.queued--
    ticket.hasPlace = true
    this.serve(...next)
    Deferred.doneUnsafe(ticket.answer, Exit.void)
  }
}
