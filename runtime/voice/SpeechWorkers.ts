/**
 * Computes speech in worker threads: the most urgent piece first, once for all callers that ask for it, and cached up to a number of bytes. A
 * piece that nobody is waiting for any more is not made. A thread starts when a piece would have to wait, and stops after being idle for a
 * while. A thread that crashes or takes too long loses its current piece, but not the next one.
 */
import { Clock, Deferred, type Duration, Effect, Exit, FiberHandle, type Scope } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { countPool } from "#runtime/metrics/SpeechMetrics.ts"
import { makeSpeechCache, type SpeechCache } from "./SpeechCache.ts"
import { areLate, leastUrgent, mostUrgent } from "./SpeechQueue.ts"
import { makeSpeechThread, SpeechNotMade, type SpeechThread } from "./SpeechThread.ts"

interface SpeechWorkersOptions {
  readonly name: string
  readonly program: URL
  /** Maximum number of threads. */
  readonly workers: number
  readonly cacheBytes: number
  readonly idle: Duration.Input
  readonly timeout: Duration.Input
}

interface SpeechWorkers<Request, E> {
  /**
   * Speech of the same key is identical and shared, so it must not be written to. `request` runs when the piece's turn has come. An interrupted
   * caller withdraws its request.
   */
  readonly speech: (key: string, request: Effect.Effect<Request, E>, wanted?: SpeechWanted) => Effect.Effect<Uint8Array, E | SpeechNotMade>
  /**
   * Whether some waiting pieces cannot be made by the time they are needed and some of the waiting pieces are this campaign's: with more of its
   * calls, more callees would hear nothing. True only while pieces wait, and each of them is made or fails within the timeout.
   */
  readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  readonly isKept: (key: string) => boolean
  readonly isRunning: () => boolean
}

const maxWaiting = 1024
/** A piece is late if it is ready more than this after it is needed. */
const toleratedMillis = 500
/** Weight of the latest piece in the average time per piece. */
const newest = 0.1

interface Piece<Request, E> {
  readonly key: string
  readonly request: Effect.Effect<Request, E>
  readonly outcome: Deferred.Deferred<Uint8Array, E | SpeechNotMade>
  readonly wants: Set<SpeechWanted>
}

interface Place<Request> {
  readonly thread: SpeechThread<Request>
  readonly idle: FiberHandle.FiberHandle
  isTaken: boolean
}

/** The threads, and the pieces they have to make. */
interface Workers<Request, E> {
  readonly options: SpeechWorkersOptions
  readonly cache: SpeechCache
  readonly waiting: Map<string, Piece<Request, E>>
  readonly making: Map<string, Piece<Request, E>>
  readonly places: ReadonlyArray<Place<Request>>
  readonly scope: Scope.Scope
  isOpen: boolean
  /** How long a piece takes on average. */
  pieceMillis: number
}

const compute = <Request, E>(workers: Workers<Request, E>, thread: SpeechThread<Request>, { key, request }: Piece<Request, E>) =>
  Effect.flatMap(request, thread.ask).pipe(
    Effect.flatMap((speech) => {
      if (speech === undefined) return Effect.fail(new SpeechNotMade({ reason: "Nothing" }))
      workers.cache.set(key, speech)
      return Effect.succeed(speech)
    }),
    Effect.timeoutOrElse({
      duration: workers.options.timeout,
      // A thread that is still computing cannot be asked for anything else.
      orElse: () => Effect.andThen(thread.stop, Effect.fail(new SpeechNotMade({ reason: "TimedOut" })))
    })
  )

const make = Effect.fnUntraced(function* <Request, E>(
  workers: Workers<Request, E>,
  thread: SpeechThread<Request>,
  piece: Piece<Request, E>
) {
  const begunAt = yield* SteadyTime.now
  yield* Effect.onExit(compute(workers, thread, piece), (exit) =>
    Effect.flatMap(SteadyTime.now, (now) => {
      workers.pieceMillis += (now - begunAt - workers.pieceMillis) * newest
      workers.making.delete(piece.key)
      return Deferred.done(piece.outcome, Exit.hasInterrupts(exit) ? Exit.fail(new SpeechNotMade({ reason: "Closed" })) : exit)
    })
  )
})

/** Makes pieces until none is waiting. */
const work = Effect.fnUntraced(function* <Request, E>(workers: Workers<Request, E>, place: Place<Request>) {
  const { making, options, waiting } = workers
  for (;;) {
    const piece = mostUrgent(waiting.values(), yield* SteadyTime.now)
    if (piece === undefined) break
    waiting.delete(piece.key)
    making.set(piece.key, piece)
    // A failure has already been passed on to the callers, and must not hold up the next piece.
    yield* Effect.exit(make(workers, place.thread, piece))
  }
  place.isTaken = false
  const stopIfIdle = Effect.suspend(() => (place.isTaken ? Effect.void : place.thread.stop))
  yield* FiberHandle.run(place.idle, Effect.delay(stopIfIdle, options.idle))
})

const begin = <Request, E>(workers: Workers<Request, E>) =>
  Effect.suspend(() => {
    const free = workers.places.filter(({ isTaken }) => !isTaken)
    const place = free.find(({ thread }) => thread.isRunning()) ?? free[0]
    if (place === undefined) return Effect.void
    place.isTaken = true
    // In the workers' scope, so that an interrupted caller does not take the piece from the others.
    return Effect.asVoid(Effect.forkIn(work(workers, place), workers.scope, { startImmediately: true }))
  })

/** False if every waiting piece is more urgent than one wanted only by this request. */
const makeRoom = <Request, E>({ waiting }: Workers<Request, E>, wanted: SpeechWanted, now: SteadyTime.SteadyMillis): boolean => {
  if (waiting.size < maxWaiting) return true
  const least = leastUrgent(waiting.values(), now)
  if (least === undefined || mostUrgent([{ wants: [wanted] }, least], now) === least) return false
  waiting.delete(least.key)
  Deferred.doneUnsafe(least.outcome, Effect.fail(new SpeechNotMade({ reason: "Busy" })))
  return true
}

const add = Effect.fnUntraced(function* <Request, E>(
  workers: Workers<Request, E>,
  key: string,
  request: Effect.Effect<Request, E>,
  wanted: SpeechWanted
) {
  if (!makeRoom(workers, wanted, yield* SteadyTime.now)) return yield* new SpeechNotMade({ reason: "Busy" })
  const piece: Piece<Request, E> = { key, request, outcome: Deferred.makeUnsafe(), wants: new Set([wanted]) }
  workers.waiting.set(key, piece)
  yield* begin(workers)
  return piece
})

const withdraw = <Request, E>({ waiting }: Workers<Request, E>, piece: Piece<Request, E>, wanted: SpeechWanted) => {
  piece.wants.delete(wanted)
  if (piece.wants.size === 0 && waiting.get(piece.key) === piece) waiting.delete(piece.key)
}

const speechOf = Effect.fnUntraced(function* <Request, E>(
  workers: Workers<Request, E>,
  key: string,
  request: Effect.Effect<Request, E>,
  wanted?: SpeechWanted
) {
  if (!workers.isOpen) return yield* new SpeechNotMade({ reason: "Closed" })
  const cached = workers.cache.get(key)?.speech
  if (cached !== undefined) return cached
  const own: SpeechWanted = { ...(wanted ?? { isAnswered: true, neededAt: yield* SteadyTime.now }) }
  const same = workers.making.get(key) ?? workers.waiting.get(key)
  same?.wants.add(own)
  const piece = same ?? (yield* Effect.uninterruptible(add(workers, key, request, own)))
  return yield* Effect.ensuring(
    Deferred.await(piece.outcome),
    Effect.sync(() => withdraw(workers, piece, own))
  )
})

const isWantedBy = ({ wants }: Pick<Piece<never, never>, "wants">, campaignId: CampaignId) => {
  for (const wanted of wants) if (wanted.campaignId === campaignId) return true
  return false
}

const close = <Request, E>(workers: Workers<Request, E>) =>
  Effect.sync(() => {
    workers.isOpen = false
    for (const { outcome } of workers.waiting.values()) Deferred.doneUnsafe(outcome, Effect.fail(new SpeechNotMade({ reason: "Closed" })))
    workers.waiting.clear()
  })

/** The threads end with the scope. */
export const makeSpeechWorkers = <Request, E = never>(
  options: SpeechWorkersOptions
): Effect.Effect<SpeechWorkers<Request, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const cache = makeSpeechCache(options.cacheBytes)
    const scope = yield* Effect.scope
    const places: ReadonlyArray<Place<Request>> = yield* Effect.forEach(Array.from({ length: options.workers }), () =>
      Effect.map(FiberHandle.make(), (idle) => ({ thread: makeSpeechThread<Request>(options.name, options.program), idle, isTaken: false }))
    )
    const workers: Workers<Request, E> = {
      options,
      cache,
      waiting: new Map(),
      making: new Map(),
      places,
      scope,
      isOpen: true,
      pieceMillis: 0
    }
    yield* countPool(options.name, { running: () => workers.making.size, waiting: () => workers.waiting.size })
    yield* Effect.addFinalizer(() => Effect.forEach(places, ({ thread }) => thread.stop, { concurrency: "unbounded" }))
    yield* Effect.addFinalizer(() => close(workers))
    return {
      speech: (key, request, wanted) => speechOf(workers, key, request, wanted),
      isCrowdedBy: (campaignId) =>
        areLate(workers.waiting.values(), SteadyTime.nowOf(clock), workers.pieceMillis / options.workers, toleratedMillis) &&
        [...workers.waiting.values()].some((piece) => isWantedBy(piece, campaignId)),
      isKept: (key) => cache.get(key) !== undefined,
      isRunning: () => places.some(({ thread }) => thread.isRunning())
    }
  })
