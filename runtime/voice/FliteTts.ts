/**
 * The embedded voice: flite in a worker thread, which starts with the first text and goes when nothing was said for a while, for it
 * holds some 60 MB. US English only. Texts are spoken one after another; the same text asked for twice is spoken once, and sooner.
 */
import { Deferred, Duration, Effect, Exit, FiberHandle, Latch, Layer } from "effect"
import { Worker } from "node:worker_threads"
import type { FliteReply, FliteRequest } from "./fliteWorker.ts"
import type { FliteVoice } from "./FliteWasm.ts"
import { makeSpeechCache } from "./SpeechCache.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"

export interface FliteOptions {
  readonly voice?: FliteVoice
  readonly idle?: Duration.Input
  readonly cacheBytes?: number
  /** The program of the worker. */
  readonly worker?: URL
}

const defaultIdle = Duration.seconds(20)
// A greeting of six seconds is 48 KB.
const defaultCacheBytes = 16 * 1024 * 1024
const maxUnderway = 256
// The longest text takes about 4 s on a busy machine.
const speakTimeout = Duration.seconds(15)

/** One worker, started when asked, gone when it crashes or is stopped. Asked one thing at a time. */
const makeThread = (program: URL) => {
  let worker: Worker | undefined

  const start = (): Worker => {
    // Without the flags of the process: a loader given to it would be loaded here again.
    const started = new Worker(program, { name: "flite", execArgv: [] })
    const gone = () => {
      if (worker === started) worker = undefined
    }
    // Without a listener, an error of the worker would end the process.
    started.on("error", gone).on("exit", gone)
    worker = started
    return started
  }

  const ask = (request: FliteRequest) =>
    Effect.callback<FliteReply, TtsError>((resume) => {
      const asked = worker ?? start()
      const replied = (reply: FliteReply) => settle(Effect.succeed(reply))
      const failed = (cause: unknown) => settle(Effect.fail(new TtsError({ reason: "Crashed", cause })))
      const exited = (code: number) => settle(Effect.fail(new TtsError({ reason: "Crashed", cause: `exit ${code}` })))
      const release = () => {
        asked.off("message", replied).off("error", failed).off("exit", exited)
        asked.unref()
      }
      const settle = (outcome: Effect.Effect<FliteReply, TtsError>) => {
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

/** One text at a time. One that is asked for again goes first: its call has been answered, the others' phones still ring. */
const makeTurns = () => {
  const waiting: Array<{ readonly text: string; readonly begin: Latch.Latch }> = []
  let isTaken = false
  const take = (text: string) =>
    Effect.suspend(() => {
      const begin = Latch.makeUnsafe(!isTaken)
      if (isTaken) waiting.push({ text, begin })
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
    within: <A, E>(text: string, effect: Effect.Effect<A, E>) =>
      Effect.acquireUseRelease(
        take(text),
        () => effect,
        () => leave
      ),
    hurry: (text: string) => {
      const at = waiting.findIndex((one) => one.text === text)
      if (at > 0) waiting.unshift(...waiting.splice(at, 1))
    }
  }
}

const make = Effect.fnUntraced(function* (options: FliteOptions) {
  const voice = options.voice ?? "slt"
  const thread = makeThread(options.worker ?? new URL("./fliteWorker.ts", import.meta.url))
  const cache = makeSpeechCache(options.cacheBytes ?? defaultCacheBytes)
  const underway = new Map<string, Deferred.Deferred<Uint8Array, TtsError>>()
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

  const stopWhenIdle = Effect.suspend(() => (turns.isTaken() ? Effect.void : thread.stop)).pipe(Effect.delay(options.idle ?? defaultIdle))
  const synthesize = Effect.fnUntraced(
    function* (text: string) {
      const speech = yield* thread.ask({ voice, text })
      if (speech === undefined) return yield* new TtsError({ reason: "Unspeakable" })
      cache.set(text, speech)
      return speech
    },
    Effect.timeoutOrElse({
      duration: speakTimeout,
      // What still computes cannot be asked anything else.
      orElse: () => Effect.andThen(thread.stop, Effect.fail(new TtsError({ reason: "TimedOut" })))
    }),
    Effect.ensuring(FiberHandle.run(idle, stopWhenIdle)),
    (synthesis, text) => turns.within(text, synthesis)
  )

  /** In the layer's scope, so that a caller who goes away does not take it from the others. */
  const begin = Effect.fnUntraced(function* (text: string) {
    const outcome = yield* Deferred.make<Uint8Array, TtsError>()
    underway.set(text, outcome)
    yield* synthesize(text).pipe(
      Effect.onExit((exit) => {
        underway.delete(text)
        return Deferred.done(outcome, Exit.hasInterrupts(exit) ? Exit.fail(new TtsError({ reason: "Closed" })) : exit)
      }),
      Effect.forkIn(scope, { startImmediately: true })
    )
    return outcome
  }, Effect.uninterruptible)

  const speak = Effect.fnUntraced(function* (text: string) {
    if (!isOpen) return yield* new TtsError({ reason: "Closed" })
    if (text.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    const known = cache.get(text)
    if (known !== undefined) return known
    const same = underway.get(text)
    if (same !== undefined) {
      turns.hurry(text)
      return yield* Deferred.await(same)
    }
    if (underway.size >= maxUnderway) return yield* new TtsError({ reason: "Busy" })
    return yield* Deferred.await(yield* begin(text))
  })

  return Tts.of({ engine: "flite", voice, speak })
})

export const layer = (options: FliteOptions = {}): Layer.Layer<Tts> => Layer.effect(Tts, make(options))
