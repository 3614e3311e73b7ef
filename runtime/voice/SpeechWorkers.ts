/**
 * Speech that takes a while to compute, made in worker threads: the most urgent piece first, each once for all who ask for it, and kept
 * within a number of bytes. A piece that nobody waits for any more is not made. A thread starts when a piece would have to wait, and goes
 * when nothing was asked of it for a while. One that crashes or takes too long costs its piece, not the next one.
 */
import { Clock, Deferred, type Duration, Effect, Exit, FiberHandle, type Scope } from "effect"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { makeSpeechCache } from "./SpeechCache.ts"
import { areLate, leastUrgent, mostUrgent, type Wanted } from "./SpeechQueue.ts"
import { makeSpeechThread, SpeechNotMade, type SpeechThread } from "./SpeechThread.ts"

interface SpeechWorkersOptions {
  readonly name: string
  readonly program: URL
  /** At most so many threads. */
  readonly workers: number
  readonly cacheBytes: number
  readonly idle: Duration.Input
  readonly timeout: Duration.Input
}

interface SpeechWorkers<Request, E> {
  /**
   * Speech of the same key is the same, and shared: not to be written to. What the worker needs to make it is had when its turn has come.
   * Whoever is interrupted wants it no longer.
   */
  readonly speech: (key: string, request: Effect.Effect<Request, E>, wanted?: Wanted) => Effect.Effect<Uint8Array, E | SpeechNotMade>
  /**
   * Not all that waits can be made by the time it is needed, and some of it is this campaign's: with more of its calls, more callees would hear
   * nothing. Holds for no longer than pieces wait, each of which is made or fails within the timeout.
   */
  readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  readonly isKept: (key: string) => boolean
  readonly isRunning: () => boolean
}

const maxWaiting = 1024
/** Whoever hears a piece later than this after it was needed has been kept waiting. */
const toleratedMillis = 500
/** How much the latest piece counts for how long one takes. */
const newest = 0.1

interface Piece<Request, E> {
  readonly key: string
  readonly request: Effect.Effect<Request, E>
  readonly outcome: Deferred.Deferred<Uint8Array, E | SpeechNotMade>
  readonly wants: Set<Wanted>
}

interface Place<Request> {
  readonly thread: SpeechThread<Request>
  readonly idle: FiberHandle.FiberHandle
  isTaken: boolean
}

/** Closed with its scope. */
export const makeSpeechWorkers = <Request, E = never>(
  options: SpeechWorkersOptions
): Effect.Effect<SpeechWorkers<Request, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const cache = makeSpeechCache(options.cacheBytes)
    const waiting = new Map<string, Piece<Request, E>>()
    const making = new Map<string, Piece<Request, E>>()
    const scope = yield* Effect.scope
    const clock = yield* Clock.Clock
    const places: ReadonlyArray<Place<Request>> = yield* Effect.forEach(Array.from({ length: options.workers }), () =>
      Effect.map(FiberHandle.make(), (idle) => ({ thread: makeSpeechThread<Request>(options.name, options.program), idle, isTaken: false }))
    )
    yield* Effect.addFinalizer(() => Effect.forEach(places, ({ thread }) => thread.stop, { concurrency: "unbounded" }))
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
        for (const { outcome } of waiting.values()) Deferred.doneUnsafe(outcome, Effect.fail(new SpeechNotMade({ reason: "Closed" })))
        waiting.clear()
      })
    )

    const compute = (thread: SpeechThread<Request>, { key, request }: Piece<Request, E>) =>
      Effect.flatMap(request, thread.ask).pipe(
        Effect.flatMap((speech) => {
          if (speech === undefined) return Effect.fail(new SpeechNotMade({ reason: "Nothing" }))
          cache.set(key, speech)
          return Effect.succeed(speech)
        }),
        Effect.timeoutOrElse({
          duration: options.timeout,
          // What still computes cannot be asked anything else.
          orElse: () => Effect.andThen(thread.stop, Effect.fail(new SpeechNotMade({ reason: "TimedOut" })))
        })
      )

    let pieceMillis = 0
    const make = Effect.fnUntraced(function* (thread: SpeechThread<Request>, piece: Piece<Request, E>) {
      const begunAt = yield* SteadyTime.now
      yield* Effect.onExit(compute(thread, piece), (exit) =>
        Effect.flatMap(SteadyTime.now, (now) => {
          pieceMillis += (now - begunAt - pieceMillis) * newest
          making.delete(piece.key)
          return Deferred.done(piece.outcome, Exit.hasInterrupts(exit) ? Exit.fail(new SpeechNotMade({ reason: "Closed" })) : exit)
        })
      )
    })

    /** Until nothing waits. */
    const work = Effect.fnUntraced(function* (place: Place<Request>) {
      for (;;) {
        const piece = mostUrgent(waiting.values(), yield* SteadyTime.now)
        if (piece === undefined) break
        waiting.delete(piece.key)
        making.set(piece.key, piece)
        // Whatever it came to, its askers are told, and the next one is not to wait for ever.
        yield* Effect.exit(make(place.thread, piece))
      }
      place.isTaken = false
      const stopIfIdle = Effect.suspend(() => (place.isTaken ? Effect.void : place.thread.stop))
      yield* FiberHandle.run(place.idle, Effect.delay(stopIfIdle, options.idle))
    })

    const begin = Effect.suspend(() => {
      const free = places.filter(({ isTaken }) => !isTaken)
      const place = free.find(({ thread }) => thread.isRunning()) ?? free[0]
      if (place === undefined) return Effect.void
      place.isTaken = true
      // In the workers' scope, so that a caller who goes away does not take it from the others.
      return Effect.asVoid(Effect.forkIn(work(place), scope, { startImmediately: true }))
    })

    /** False: everything that waits is more urgent than what has this one wish. */
    const makeRoom = (wanted: Wanted, now: SteadyTime.SteadyMillis): boolean => {
      if (waiting.size < maxWaiting) return true
      const least = leastUrgent(waiting.values(), now)
      if (least === undefined || mostUrgent([{ wants: [wanted] }, least], now) === least) return false
      waiting.delete(least.key)
      Deferred.doneUnsafe(least.outcome, Effect.fail(new SpeechNotMade({ reason: "Busy" })))
      return true
    }

    const add = Effect.fnUntraced(function* (key: string, request: Effect.Effect<Request, E>, wanted: Wanted) {
      if (!makeRoom(wanted, yield* SteadyTime.now)) return yield* new SpeechNotMade({ reason: "Busy" })
      const piece: Piece<Request, E> = { key, request, outcome: Deferred.makeUnsafe(), wants: new Set([wanted]) }
      waiting.set(key, piece)
      yield* begin
      return piece
    })

    const withdraw = (piece: Piece<Request, E>, wanted: Wanted) => {
      piece.wants.delete(wanted)
      if (piece.wants.size === 0 && waiting.get(piece.key) === piece) waiting.delete(piece.key)
    }

    const speech = Effect.fnUntraced(function* (key: string, request: Effect.Effect<Request, E>, wanted?: Wanted) {
      if (!isOpen) return yield* new SpeechNotMade({ reason: "Closed" })
      const known = cache.get(key)
      if (known !== undefined) return known
      const own: Wanted = { ...(wanted ?? { isAnswered: true, neededAt: yield* SteadyTime.now }) }
      const same = making.get(key) ?? waiting.get(key)
      same?.wants.add(own)
      const piece = same ?? (yield* Effect.uninterruptible(add(key, request, own)))
      return yield* Effect.ensuring(
        Deferred.await(piece.outcome),
        Effect.sync(() => withdraw(piece, own))
      )
    })

    const isWantedBy = ({ wants }: Piece<Request, E>, campaignId: CampaignId) => {
      for (const wanted of wants) if (wanted.campaignId === campaignId) return true
      return false
    }
    const isCrowdedBy = (campaignId: CampaignId): boolean =>
      areLate(waiting.values(), SteadyTime.nowOf(clock), pieceMillis / options.workers, toleratedMillis) &&
      [...waiting.values()].some((piece) => isWantedBy(piece, campaignId))

    return {
      speech,
      isCrowdedBy,
      isKept: (key) => cache.get(key) !== undefined,
      isRunning: () => places.some(({ thread }) => thread.isRunning())
    }
  })
