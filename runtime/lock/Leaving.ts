/**
 * An engine that is asked to stop while calls are in progress gives up the lock at once and stays until they are over. Meanwhile it shows that
 * it is alive, and forwards connections to its port to the engine that dials.
 */
import { Effect, Latch, Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { Identity, LeavingEngine, LockStore } from "#runtime/postgres/LockStore.ts"
import { placeOf } from "./EnginePlace.ts"
import { type Follower, following } from "./Forwarding.ts"

const BEAT = "500 millis"
const RELEASE_TIMEOUT = "2 seconds"

/** `port`: where clients have connected so far. */
export type Departing = LeavingEngine & { readonly port: number }

export class Leaving {
  readonly #me: Identity
  /** The address it listens on. */
  readonly #host: string
  readonly #scope: Scope.Scope
  /** To be run once another engine settles the calls of this one. */
  readonly forsake: Effect.Effect<void>
  readonly #isAsked = Latch.makeUnsafe(false)
  #departing: Departing | undefined
  #follower: Follower | undefined
  /** The address of the engine that dials. */
  successor: string | undefined

  constructor(me: Identity, host: string, scope: Scope.Scope, forsake: Effect.Effect<void>) {
    this.#me = me
    this.#host = host
    this.#scope = scope
    this.forsake = forsake
  }

  readonly begin = (departing: Departing): void => {
    this.#departing = departing
    this.#isAsked.openUnsafe()
  }

  get isAsked(): boolean {
    return this.#departing !== undefined
  }

  /** Returns once this engine has been asked to leave. */
  readonly asked = this.#isAsked.await

  /** For a session that has the lock. Returns at once if this engine was not asked to leave; otherwise never. */
  readonly go = (store: LockStore, epoch: number): Effect.Effect<void, SqlError.SqlError> =>
    Effect.suspend(() => {
      const departing = this.#departing
      if (departing === undefined) return Effect.void
      const given = Effect.flatMap(store.leave(epoch, this.#me, departing), (isGiven) => Effect.as(store.unlock, isGiven))
      return Effect.flatMap(Effect.uninterruptible(given), (isGiven) => (isGiven ? this.#stay(store, departing) : this.forsake))
    })

  /** For a new session. Returns at once unless the lock has been given up; otherwise never. */
  readonly goOn = (store: LockStore): Effect.Effect<void, SqlError.SqlError> =>
    Effect.suspend(() => {
      const departing = this.#departing
      if (departing === undefined) return Effect.void
      return Effect.flatMap(store.beatLeaving(departing.journal), (isGiven) => (isGiven ? this.#stay(store, departing) : Effect.void))
    })

  #stay(store: LockStore, { address, journal, port }: Departing): Effect.Effect<never, SqlError.SqlError> {
    // Until another engine listens, forward to this engine itself, which then serves only its own calls.
    const own = { address, host: this.#me.host }
    const staying = Effect.gen({ self: this }, function* () {
      this.#follower ??= yield* Scope.provide(following({ host: this.#host, port }), this.#scope)
      while (yield* store.beatLeaving(journal)) {
        const { holder, seen } = yield* store.observe
        this.successor = holder === undefined ? undefined : (seen?.address ?? undefined)
        yield* this.#follower.follow(placeOf(this.successor === undefined ? own : seen, this.#me.host))
        yield* Effect.sleep(BEAT)
      }
      yield* Effect.logWarning("another engine has given this one up, and settles its calls")
      yield* this.forsake
      return yield* Effect.never
    })
    return Effect.onInterrupt(staying, () => Effect.ignore(Effect.timeout(store.left(journal, address), RELEASE_TIMEOUT)))
  }
}
