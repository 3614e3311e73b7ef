/**
 * Transcribes utterances in a few processes, in order of arrival. A process that dies or takes too long affects only the utterance that it was working on;
 * after a death, it is tried a second time.
 */
import { Clock, Duration, Effect, type Scope, Semaphore } from "effect"
import type { TranscriptionModel } from "./TranscriptionModel.ts"
import { makeTranscriptionProcess, NotTranscribed, type TranscriptionProcess } from "./TranscriptionProcess.ts"
import type { Transcription, TranscriptionRequest } from "./transcriptionWorker.ts"

/** Those that are on this machine. */
export interface TranscriptionModels {
  /** Used while no utterance waits. */
  readonly careful: TranscriptionModel | undefined
  /** Used while utterances wait, if it is there. */
  readonly quick: TranscriptionModel | undefined
}

interface TranscriberOptions {
  /** Asked for each utterance. */
  readonly models: () => TranscriptionModels
  /** How many utterances are transcribed at the same time: each takes a core. */
  readonly atOnce: number
  /** For an utterance, once the model is loaded. */
  readonly timeout: Duration.Input
  /** A process that has not been used for this long is stopped: it holds a few hundred megabytes. */
  readonly idle: Duration.Input
  /** How many utterances may wait. With more than a few per process, callees notice the wait. */
  readonly mostWaiting: number
}

export interface Transcriber {
  readonly transcribe: (request: TranscriptionRequest) => Effect.Effect<Transcription, NotTranscribed>
  /** The same for what is needed only if it costs nobody time. Undefined while others are at work. */
  readonly glimpse: (request: TranscriptionRequest) => Effect.Effect<Transcription | undefined, NotTranscribed>
  /**
   * Starts a process of each model, so that the first utterance does not wait for it; no more than `atOnce` for calls that begin at the same time.
   * Fails if one cannot be started.
   */
  readonly warm: Effect.Effect<void, NotTranscribed>
  /** How many utterances wait or are being transcribed. */
  readonly depth: () => number
  readonly pids: () => ReadonlyArray<number>
}

/** A model takes a second, or many on a busy machine that reads it from a slow disk. */
const loadTimeout = "1 minute"

/** Which model transcribes the next utterance, given how many others wait. */
export const modelFor = ({ careful, quick }: TranscriptionModels, waiting: number): TranscriptionModel | undefined =>
  waiting > 0 ? (quick ?? careful) : (careful ?? quick)

const failure = (reason: NotTranscribed["reason"]) => Effect.fail(new NotTranscribed({ reason }))

/** The processes of each model, the most recently used first. */
const makeProcesses = (now: () => number) => {
  const usedAt = new Map<TranscriptionProcess, number>()
  const all = new Map<TranscriptionModel, Array<TranscriptionProcess>>()
  const free = new Map<TranscriptionModel, Array<TranscriptionProcess>>()
  const listOf = (lists: typeof all, model: TranscriptionModel) => {
    const list = lists.get(model) ?? []
    lists.set(model, list)
    return list
  }
  return {
    all: () => [...all.values()].flat(),
    /** Prefers a running one. */
    take: (model: TranscriptionModel): TranscriptionProcess => {
      const list = listOf(free, model)
      const at = list.findIndex((process) => process.pid() !== undefined)
      const [found] = list.splice(Math.max(0, at), 1)
      if (found !== undefined) return found
      const made = makeTranscriptionProcess(model)
      listOf(all, model).push(made)
      return made
    },
    /** Whether `most` of them run or are being started, and all of those are in use. */
    areBusy: (model: TranscriptionModel | undefined, most: number): boolean => {
      const runningOf = (lists: typeof all) =>
        model === undefined ? 0 : listOf(lists, model).filter((process) => process.pid() !== undefined).length
      return runningOf(all) >= most && runningOf(free) === 0
    },
    giveBack: (model: TranscriptionModel, process: TranscriptionProcess) => {
      listOf(free, model).unshift(process)
      usedAt.set(process, now())
    },
    /** Of those that are free. */
    unusedFor: (millis: number): ReadonlyArray<TranscriptionProcess> =>
      [...free.values()].flat().filter((process) => process.pid() !== undefined && now() - (usedAt.get(process) ?? 0) >= millis)
  }
}

/** The processes end with the scope. */
export const makeTranscriber = ({
  atOnce,
  idle,
  models,
  mostWaiting,
  timeout
}: TranscriberOptions): Effect.Effect<Transcriber, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const processes = makeProcesses(() => clock.currentTimeMillisUnsafe())
    const idleMillis = Duration.toMillis(idle)
    const turns = yield* Semaphore.make(atOnce)
    let depth = 0
    let running = 0
    let isOpen = true
    yield* Effect.addFinalizer(() => {
      isOpen = false
      return Effect.forEach(processes.all(), ({ stop }) => stop)
    })
    const tidy = Effect.suspend(() => Effect.forEach(processes.unusedFor(idleMillis), ({ stop }) => stop))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(idleMillis / 5), tidy)))

    // The process may be stuck.
    const inTime = <A>(process: TranscriptionProcess, work: Effect.Effect<A, NotTranscribed>, duration: Duration.Input) =>
      Effect.timeoutOrElse(work, { duration, orElse: () => Effect.andThen(process.stop, failure("TimedOut")) })
    const once = (process: TranscriptionProcess, request: TranscriptionRequest) =>
      Effect.suspend(() => (isOpen ? inTime(process, process.start, loadTimeout) : failure("Closed"))).pipe(
        Effect.andThen(inTime(process, process.transcribe(request), timeout))
      )
    const using = <A>(model: TranscriptionModel | undefined, use: (process: TranscriptionProcess) => Effect.Effect<A, NotTranscribed>) =>
      Effect.suspend(() => {
        if (model === undefined) return failure("Absent")
        const process = processes.take(model)
        running++
        return Effect.ensuring(
          use(process),
          Effect.sync(() => {
            running--
            processes.giveBack(model, process)
          })
        )
      })
    const twice = (request: TranscriptionRequest) => (process: TranscriptionProcess) =>
      Effect.catchIf(
        once(process, request),
        ({ reason }) => reason === "Crashed",
        () => once(process, request)
      )
    const inTurn = (request: TranscriptionRequest, chosen: () => TranscriptionModel | undefined) =>
      Effect.suspend(() => {
        depth++
        return Effect.ensuring(
          turns.withPermit(Effect.suspend(() => using(chosen(), twice(request)))),
          Effect.sync(() => void depth--)
        )
      })
    const loaded = (model: TranscriptionModel | undefined) =>
      Effect.suspend(() => (processes.areBusy(model, atOnce) ? Effect.void : using(model, ({ start }) => start)))
    return {
      transcribe: (request) =>
        Effect.suspend(() =>
          depth >= atOnce + mostWaiting ? failure("Busy") : inTurn(request, () => modelFor(models(), depth - running - 1))
        ),
      glimpse: (request) =>
        Effect.suspend(() => (depth > 0 ? Effect.undefined : inTurn(request, () => models().quick ?? models().careful))),
      warm: Effect.suspend(() => {
        const { careful, quick } = models()
        const others = careful === undefined || quick === undefined ? [] : [quick]
        return Effect.forEach([careful ?? quick, ...others], loaded, { discard: true })
      }),
      depth: () => depth,
      pids: () => processes.all().flatMap((process) => process.pid() ?? [])
    }
  })
