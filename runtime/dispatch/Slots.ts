/**
 * Slots: permission to have one call up, within the limits of a campaign, an organization and a trunk at once. All or nothing, and nobody
 * waits while holding one. Whoever finds no room queues for the next slot that fits, one for each waiter in turn, so that two campaigns with
 * equal backlogs share an organization's limit evenly.
 *
 * This is a fast copy of what the live attempts in Postgres say; it is rebuilt from them at start.
 */
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

export interface SlotScope {
  /** `campaign:7`, `organization:1`, `trunk:3`. */
  readonly key: string
  /** Undefined: counted, not limited. It may change: it is asked for each time that somebody wants a slot. */
  readonly limit: number | undefined
}

/** The key of the slots of all calls that show this number. */
export const callerKey = (configurationId: number, number: string | undefined): string => `caller:${configurationId}:${number ?? ""}`

export interface SlotQueue {
  /** Slots for as many of `holders` as there is room for, from the first on. With none, the queue is joined, and `wake` called in turn. */
  readonly take: (holders: ReadonlyArray<string>, scopes: ReadonlyArray<SlotScope>) => ReadonlyArray<string>
  /** It wants more slots than it was given, and none has become free for it since. */
  readonly isWaiting: () => boolean
  /** Wants no slot now: gives up the place in the queue, and a slot kept for it. */
  readonly leave: () => void
}

export class Slots extends Context.Service<
  Slots,
  {
    /** One for each campaign that dials. */
    readonly queue: (wake: () => void) => SlotQueue
    /** Runs a claim: of the slots taken in it some may turn out not to be needed, and have been given back when it is over. */
    readonly claiming: <A, E, R>(claim: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Until all claims that are under way now are over, and none that begins later. */
    readonly awaitClaims: Effect.Effect<void>
    /** A slot now, or not at all. */
    readonly tryTake: (holder: string, scopes: ReadonlyArray<SlotScope>) => boolean
    /** For a call that is already up, whatever the limits say. */
    readonly adopt: (holder: string, scopes: ReadonlyArray<SlotScope>) => void
    /** Idempotent. */
    readonly release: (holder: string) => void
    readonly holds: (holder: string) => boolean
    /** Counts the holder's slot under another key from now on, whether that has room or not. */
    readonly move: (holder: string, from: string, to: string) => void
    readonly used: (key: string) => number
    /** A limit has been raised. */
    readonly recheck: () => void
    /** When the holder's slot became free, if that was while its queue waited for one. */
    readonly freedAt: (holder: string) => SteadyTime.SteadyMillis | undefined
  }
>()("runtime/dispatch/Slots") {
  static readonly layerMemory = Layer.effect(
    Slots,
    Effect.map(Clock.Clock, (clock) => {
      const used = new Map<string, number>()
      const held = new Map<string, Held>()
      const waiting: Array<Waiter> = []
      const claims = new Set<Deferred.Deferred<void>>()
      let reservations = 0

      const fits = (scopes: ReadonlyArray<SlotScope>) =>
        scopes.every(({ key, limit }) => limit === undefined || (used.get(key) ?? 0) < limit)
      const adopt = (holder: string, scopes: ReadonlyArray<SlotScope>, freedAt?: SteadyTime.SteadyMillis) => {
        if (held.has(holder)) return
        held.set(holder, { freedAt, scopes })
        for (const { key } of scopes) used.set(key, (used.get(key) ?? 0) + 1)
      }
      const drop = (holder: string) => {
        const slot = held.get(holder)
        if (slot === undefined) return
        held.delete(holder)
        for (const { key } of slot.scopes) {
          const left = (used.get(key) ?? 0) - 1
          if (left > 0) used.set(key, left)
          else used.delete(key)
        }
      }
      /** Keeps each free slot for the first waiter that can use it, and moves that waiter to the end of the queue. */
      const serve = () => {
        for (let at = 0; at < waiting.length; ) {
          const waiter = waiting[at]
          if (waiter === undefined || !fits(waiter.scopes)) {
            at++
            continue
          }
          waiting.splice(at, 1)
          const kept = `reservation:${++reservations}`
          adopt(kept, waiter.scopes, SteadyTime.nowOf(clock))
          waiter.kept.push(kept)
          if (waiter.kept.length < waiter.wants) waiting.push(waiter)
          at = 0
          waiter.wake()
        }
      }
      const release = (holder: string) => {
        drop(holder)
        if (waiting.length > 0) serve()
      }
      const tryTake = (holder: string, scopes: ReadonlyArray<SlotScope>, freedAt?: SteadyTime.SteadyMillis) => {
        // One slot for each holder: a second taker would later release the first one's.
        if (held.has(holder) || !fits(scopes)) return false
        adopt(holder, scopes, freedAt)
        return true
      }

      return {
        queue: (wake) => {
          const waiter: Waiter = { kept: [], scopes: [], wake, wants: 0 }
          const giveBack = () => {
            for (const kept of waiter.kept.splice(0)) drop(kept)
          }
          const leaveQueue = () => {
            const at = waiting.indexOf(waiter)
            if (at >= 0) waiting.splice(at, 1)
          }
          return {
            isWaiting: () => waiter.kept.length === 0 && waiting.includes(waiter),
            leave: () => {
              leaveQueue()
              if (waiter.kept.length === 0) return
              giveBack()
              serve()
            },
            take: (holders, scopes) => {
              // Reservations are exchanged for slots synchronously, so nobody can come between.
              const freed = waiter.kept.map((kept) => held.get(kept)?.freedAt)
              giveBack()
              const taken: Array<string> = []
              for (const holder of holders) {
                if (!tryTake(holder, scopes, freed[taken.length])) break
                taken.push(holder)
              }
              waiter.scopes = scopes
              waiter.wants = holders.length - taken.length
              if (waiter.wants === 0) leaveQueue()
              else if (!waiting.includes(waiter)) waiting.push(waiter)
              // Limits may have changed since the reservations were made: others may be able to use what we cannot.
              serve()
              return taken
            }
          }
        },
        claiming: (claim) =>
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
          }),
        awaitClaims: Effect.suspend(() => Effect.forEach([...claims], Deferred.await, { discard: true })),
        tryTake,
        adopt,
        release,
        holds: (holder) => held.has(holder),
        move: (holder, from, to) => {
          const slot = held.get(holder)
          if (slot === undefined || slot.scopes.every(({ key }) => key !== from)) return
          drop(holder)
          const scopes = slot.scopes.map((scope) => (scope.key === from ? { key: to, limit: undefined } : scope))
          adopt(holder, scopes, slot.freedAt)
          serve()
        },
        used: (key) => used.get(key) ?? 0,
        recheck: serve,
        freedAt: (holder) => held.get(holder)?.freedAt
      }
    })
  )
}

interface Held {
  readonly scopes: ReadonlyArray<SlotScope>
  readonly freedAt: SteadyTime.SteadyMillis | undefined
}

interface Waiter {
  scopes: ReadonlyArray<SlotScope>
  /** Slots it would take. */
  wants: number
  /** Slots reserved for it, under the names that hold them meanwhile. */
  readonly kept: Array<string>
  readonly wake: () => void
}
