/**
 * Recognizes utterances in a few processes, in the order in which they come. A process that dies or takes too long costs nobody but the utterance
 * that it was at, and that one is tried a second time after a death.
 */
import { type Duration, Effect, Fiber, type Scope, Semaphore } from "effect"
import type { SphinxFiles } from "./SphinxFiles.ts"
import { makeSphinxProcess, NotRecognized, type SphinxProcess } from "./SphinxProcess.ts"
import type { SphinxReply, SphinxRequest } from "./sphinxWorker.ts"

interface RecognitionOptions {
  readonly files: SphinxFiles
  /** The number of processes: each takes 110 MB, and a core while it recognizes. */
  readonly processes: number
  readonly timeout: Duration.Input
  /** Utterances that may wait. More than a few per process, and the callees notice the wait. */
  readonly mostWaiting: number
}

export interface Recognition {
  /** Takes about 60 ms of a core for a second of speech, once its turn has come. */
  readonly recognize: (request: SphinxRequest) => Effect.Effect<SphinxReply, NotRecognized>
  /** Starts a process, which takes a third of a second, so that the first utterance need not wait for it. */
  readonly warm: Effect.Effect<void>
  /** Utterances that wait or are being recognized. */
  readonly depth: () => number
  readonly pids: () => ReadonlyArray<number>
}

const once = (process: SphinxProcess, request: SphinxRequest, { timeout }: RecognitionOptions) =>
  Effect.timeoutOrElse(process.ask(request), {
    duration: timeout,
    // A process that is still at it cannot be asked for anything else.
    orElse: () => Effect.andThen(process.stop, Effect.fail(new NotRecognized({ reason: "TimedOut" })))
  })
const twice = (process: SphinxProcess, request: SphinxRequest, options: RecognitionOptions) =>
  Effect.catchIf(
    once(process, request, options),
    ({ reason }) => reason === "Crashed",
    () => once(process, request, options)
  )

/** The processes end with the scope. */
export const makeRecognition = (options: RecognitionOptions): Effect.Effect<Recognition, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const free: Array<SphinxProcess> = Array.from({ length: options.processes }, () => makeSphinxProcess(options.files))
    const all = [...free]
    const turns = yield* Semaphore.make(options.processes)
    let depth = 0
    let isOpen = true
    yield* Effect.addFinalizer(() => Effect.forEach(all, ({ stop }) => stop))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
      })
    )

    const recognized = (request: SphinxRequest, isWanted: () => boolean) =>
      turns.withPermit(
        Effect.suspend(() => {
          if (!isWanted()) return Effect.interrupt
          // A running one first: another would have to be started.
          const at = Math.max(
            0,
            free.findIndex((process) => process.pid() !== undefined)
          )
          const [process] = free.splice(at, 1)
          if (process === undefined || !isOpen) return Effect.fail(new NotRecognized({ reason: "Closed" }))
          return Effect.ensuring(
            twice(process, request, options),
            Effect.sync(() => void free.unshift(process))
          )
        })
      )

    return {
      recognize: (request) =>
        Effect.suspend(() => {
          if (!isOpen) return Effect.fail(new NotRecognized({ reason: "Closed" }))
          if (depth >= options.processes + options.mostWaiting) return Effect.fail(new NotRecognized({ reason: "Busy" }))
          depth++
          let isWanted = true
          const job = Effect.ensuring(
            recognized(request, () => isWanted),
            Effect.sync(() => {
              depth--
            })
          )
          const withdraw = Effect.sync(() => {
            isWanted = false
          })
          // In the recognition's scope: a caller that is interrupted must not leave a process whose reply nobody takes.
          return Effect.forkIn(job, scope).pipe(
            Effect.flatMap(Fiber.join),
            Effect.onInterrupt(() => withdraw)
          )
        }),
      warm: Effect.suspend(() => free[0]?.start ?? Effect.void),
      depth: () => depth,
      pids: () => all.flatMap((process) => process.pid() ?? [])
    }
  })
