/**
 * What an engine's calls need to know of its place among the engines: it either decides what is dialed, with the lock of the database, or carries
 * calls for the engine that does. It begins without the lock; once it has decided, it never only carries again.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import type { EnginePlace } from "./EnginePlace.ts"

interface Decider {
  /** Whether no other engine can be deciding now. */
  readonly isHeld: () => boolean
  /** The timeline of the database on which this engine dials; undefined if the server does not report one. */
  readonly timeline: () => string | undefined
  /** The address of the engine that decides in place of this one, which is leaving. */
  readonly successor: () => string | undefined
}

export class Charge extends Context.Service<
  Charge,
  {
    /** Whether this engine is, or was, the one that decides. */
    readonly isTaken: () => boolean
    /**
     * False while this engine cannot prove that nobody else decides. Before it has the lock, its requests are allowed one by one by the engine
     * that has it. Ask right before sending anything: the answer is valid only for that moment.
     */
    readonly mayDial: () => boolean
    readonly timeline: Decider["timeline"]
    readonly successor: Decider["successor"]
    /** Where the other engine that decides is reached; undefined if none does. */
    readonly deciderAt: () => EnginePlace | undefined
    readonly sees: (decider: EnginePlace | undefined) => void
    /** From now on this engine decides. */
    readonly take: (by: Decider) => void
    /** Calls `tell` when that happens, until the returned function is called. */
    readonly onTake: (tell: () => void) => () => void
    /** Returns once another engine settles the calls of this one. */
    readonly forsaken: Effect.Effect<void>
    readonly forsake: Effect.Effect<void>
  }
>()("runtime/lock/Charge") {
  static readonly layer = Layer.effect(
    Charge,
    Effect.gen(function* () {
      const forsaken = yield* Deferred.make<void>()
      const tells = new Set<() => void>()
      let decider: Decider | undefined
      let place: EnginePlace | undefined
      return {
        deciderAt: () => place,
        sees: (other) => {
          // The same place stays the same value.
          if (other?.host !== place?.host || other?.port !== place?.port) place = other
        },
        forsake: Effect.asVoid(Deferred.succeed(forsaken, undefined)),
        forsaken: Deferred.await(forsaken),
        isTaken: () => decider !== undefined,
        mayDial: () => decider?.isHeld() ?? true,
        onTake: (tell) => {
          tells.add(tell)
          return () => void tells.delete(tell)
        },
        successor: () => decider?.successor(),
        take: (by) => {
          decider = by
          place = undefined
          for (const tell of tells) tell()
        },
        timeline: () => decider?.timeline()
      }
    })
  )
}
