/**
 * Speech that takes a while to compute, made in a worker thread: one piece at a time, each once for all who ask for it, and kept within a
 * number of bytes. The thread starts with the first piece and goes when nothing was asked for a while. One that crashes or takes too long
 * costs its piece, not the next one.
 */
import { Deferred, type Duration, Effect, Exit, FiberHandle, Latch, Schema, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import { makeSpeechCache } from "./SpeechCache.ts"

export class SpeechNotMade extends Schema.TaggedError<SpeechNotMade>()("SpeechNotMade", {
  /** `Nothing`: the worker has found nothing to say. `Busy`: too much is waiting already. */
  reason: Schema.Literals(["Nothing", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** What a worker answers: 8 kHz mu-law in whole frames. */
export type SpeechReply = Uint8Array<ArrayBuffer> | undefined

export interface SpeechWorkerOptions {
  readonly name: string
  readonly program: URL
  readonly cacheBytes: number
  readonly idle: Duration.Input
  readonly timeout: Duration.Input
}

export interface SpeechWorker<Request, E> {
  /**
   * Speech of the same key is the same, and shared: not to be written to. What the worker needs to make it is had when its turn has come.
   */
  readonly speech: (key: string, request: Effect.Effect<Request, E>) => Effect.Effect<Uint8Array, E | SpeechNotMade>
}

const maxUnderway = 256
const maxHeapMegabytes = 256

/** One worker, started when asked, gone when it crashes or is stopped. Asked one thing at a time. */
const makeThread = <Request>({ name, program }: SpeechWorkerOptions) => {
  let worker: Worker | undefined

  const start = (): Worker => {
    // Without the flags of the process: a loader given to it would be loaded here again.
    const started = new Worker(program, { name, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes } })
    const gone = () => {
      if (worker === started) worker = undefined
    }
    // Without a listener, an error of the worker would end the process.
    started.on("error", gone).on("exit", gone)
    worker = started
    return started
  }

  const ask = (request: Request) =>
    Effect.callback<SpeechReply, SpeechNotMade>((resume) => {
      const asked = worker ?? start()
      const replied = (reply: SpeechReply) => settle(Effect.succeed(reply))
      const failed = (cause: unknown) => settle(Effect.fail(new SpeechNotMade({ reason: "Crashed", cause })))
      const exited = (code: number) => settle(Effect.fail(new SpeechNotMade({ reason: "Crashed", cause: `exit ${code}` })))
      const release = () => {
        asked.off("message", replied).off("error", failed).off("exit", exited)
        asked.unref()
      }
      const settle = (outcome: Effect.Effect<SpeechReply, SpeechNotMade>) => {
        release()
        resume(outcome)
      }
      // A worker keeps the process alive only while somebody waits for it.
      asked.ref()
      asked.on("message", replied).on("error", failed).on("exit", exited)
      asked.postMessage(request)
      return Effect.sync(release)
    })

  const stop = Effect.suspend(() => {
    const stopped = worker
    worker = undefined
    return stopped === undefined ? Effect.void : Effect.asVoid(Effect.promise(() => stopped.terminate()))
  })

  return { ask, stop }
}

/** One piece at a time. One that is asked for again goes first: its call has been answered, the others' phones still ring. */
const makeTurns = () => {
  const waiting: Array<{ readonly key: string; readonly begin: Latch.Latch }> = []
  let isTaken = false
  const take = (key: string) =>
    Effect.suspend(() => {
      const begin = Latch.makeUnsafe(!isTaken)
      if (isTaken) waiting.push({ key, begin })
      isTaken = true
      return begin.await
    })
  const leave = Effect.sync(() => {
    const next = waiting.shift()
    if (next === undefined) isTaken = false
    else next.begin.openUnsafe()
  })
  return {
    isTaken: () => isTaken,
    within: <A, E>(key: string, effect: Effect.Effect<A, E>) =>
      Effect.acquireUseRelease(
        take(key),
        () => effect,
        () => leave
      ),
    hurry: (key: string) => {
      const at = waiting.findIndex((one) => one.key === key)
      if (at > 0) waiting.unshift(...waiting.splice(at, 1))
    }
  }
}

/** Closed with its scope. */
export const makeSpeechWorker = <Request, E = never>(
  options: SpeechWorkerOptions
): Effect.Effect<SpeechWorker<Request, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    type Outcome = Deferred.Deferred<Uint8Array, E | SpeechNotMade>
    const thread = makeThread<Request>(options)
    const cache = makeSpeechCache(options.cacheBytes)
    const underway = new Map<string, Outcome>()
    const turns = makeTurns()
    yield* Effect.addFinalizer(() => thread.stop)
    const idle = yield* FiberHandle.make()
    const scope = yield* Effect.scope
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
      })
    )

    const stopWhenIdle = Effect.suspend(() => (turns.isTaken() ? Effect.void : thread.stop)).pipe(Effect.delay(options.idle))
    const compute = Effect.fnUntraced(
      function* (key: string, request: Effect.Effect<Request, E>) {
        const speech = yield* thread.ask(yield* request)
        if (speech === undefined) return yield* new SpeechNotMade({ reason: "Nothing" })
        cache.set(key, speech)
        return speech
      },
      Effect.timeoutOrElse({
        duration: options.timeout,
        // What still computes cannot be asked anything else.
        orElse: () => Effect.andThen(thread.stop, Effect.fail(new SpeechNotMade({ reason: "TimedOut" })))
      }),
      Effect.ensuring(FiberHandle.run(idle, stopWhenIdle)),
      (computed, key) => turns.within(key, computed)
    )

    /** In the worker's scope, so that a caller who goes away does not take it from the others. */
    const begin = Effect.fnUntraced(function* (key: string, request: Effect.Effect<Request, E>) {
      const outcome: Outcome = yield* Deferred.make<Uint8Array, E | SpeechNotMade>()
      underway.set(key, outcome)
      yield* compute(key, request).pipe(
        Effect.onExit((exit) => {
          underway.delete(key)
          return Deferred.done(outcome, Exit.hasInterrupts(exit) ? Exit.fail(new SpeechNotMade({ reason: "Closed" })) : exit)
        }),
        Effect.forkIn(scope, { startImmediately: true })
      )
      return outcome
    }, Effect.uninterruptible)

    const speech = Effect.fnUntraced(function* (key: string, request: Effect.Effect<Request, E>) {
      if (!isOpen) return yield* new SpeechNotMade({ reason: "Closed" })
      const known = cache.get(key)
      if (known !== undefined) return known
      const same = underway.get(key)
      if (same !== undefined) {
        turns.hurry(key)
        return yield* Deferred.await(same)
      }
      if (underway.size >= maxUnderway) return yield* new SpeechNotMade({ reason: "Busy" })
      return yield* Deferred.await(yield* begin(key, request))
    })

    return { speech }
  })
