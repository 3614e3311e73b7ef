/**
 * Recognizes utterances in a few processes. An utterance that is still being spoken gets a decoder at once, if one is free, so that little work is left
 * when it is over; whole utterances use the decoders that are reserved for them, in order of arrival. A process that dies or takes too long affects only
 * the utterances that it was working on; after a death, they are tried a second time.
 */
import { type Duration, Effect, type Scope, Semaphore } from "effect"
import type { Jsgf } from "./Grammar.ts"
import type { SphinxFiles } from "./SphinxFiles.ts"
import { makeSphinxProcess, NotRecognized, type SphinxProcess, type SphinxUtterance } from "./SphinxProcess.ts"
import type { SphinxReply } from "./sphinxWorker.ts"

interface RecognitionOptions {
  readonly files: SphinxFiles
  /** The number of processes: each takes 90 MB, and a core while it recognizes. */
  readonly processes: number
  /** How many utterances are recognized while they are being spoken. */
  readonly listening: number
  readonly timeout: Duration.Input
  /** How many whole utterances may wait. With more than a few per process, callees notice the wait. */
  readonly mostWaiting: number
}

export interface SphinxRequest {
  readonly grammar: Jsgf
  /** One utterance of 8 kHz mu-law. */
  readonly audio: Uint8Array
}

export interface Recognition {
  /** Takes about 60 ms of a core for each second of speech, once it has started. */
  readonly recognize: (request: SphinxRequest) => Effect.Effect<SphinxReply, NotRecognized>
  /** Begins to recognize an utterance that is still being spoken. Undefined if no decoder is free. */
  readonly listen: (grammar: Jsgf) => SphinxUtterance | undefined
  /** Starts a process, which takes a third of a second, so that the first utterance does not wait for it. */
  readonly warm: Effect.Effect<void>
  /** How many whole utterances wait or are being recognized. */
  readonly depth: () => number
  /** How many utterances are being recognized while they are spoken. */
  readonly listening: () => number
  readonly pids: () => ReadonlyArray<number>
}

/** A process with fewer utterances has enough time for another. */
const fewUtterances = 3

/** The process with the least to do, preferably one that runs: starting another takes time. */
const leastBusyOf = (processes: ReadonlyArray<SphinxProcess>): SphinxProcess | undefined => {
  const sorted = processes.toSorted((one, other) => one.count() - other.count())
  const running = sorted.find(({ pid }) => pid() !== undefined)
  return running !== undefined && running.count() < fewUtterances ? running : sorted[0]
}

const inTime = (process: SphinxProcess, { answer }: SphinxUtterance, { timeout }: RecognitionOptions) =>
  Effect.timeoutOrElse(answer, {
    duration: timeout,
    // The process may be stuck.
    orElse: () => Effect.andThen(process.stop, Effect.fail(new NotRecognized({ reason: "TimedOut" })))
  })

const once = (process: SphinxProcess, { audio, grammar }: SphinxRequest, options: RecognitionOptions) =>
  Effect.suspend(() => {
    const utterance = process.begin(grammar, true)
    utterance.hear(audio)
    return inTime(process, utterance, options)
  })

/** Calls `over` once, when the utterance no longer needs a decoder. */
const withEnd = (utterance: SphinxUtterance, answer: SphinxUtterance["answer"], over: () => void): SphinxUtterance => {
  let isOver = false
  const end = () => {
    if (!isOver) over()
    isOver = true
  }
  const giveUp = () => {
    end()
    utterance.giveUp()
  }
  return { hear: utterance.hear, answer: Effect.ensuring(answer, Effect.sync(end)), giveUp }
}

const closed = Effect.fail(new NotRecognized({ reason: "Closed" }))

/** The processes end with the scope. */
export const makeRecognition = (options: RecognitionOptions): Effect.Effect<Recognition, never, Scope.Scope> =>
  Effect.gen(function* () {
    const free: Array<SphinxProcess> = Array.from({ length: options.processes }, () => makeSphinxProcess(options.files))
    const all = [...free]
    const turns = yield* Semaphore.make(options.processes)
    let depth = 0
    let listening = 0
    let isOpen = true
    yield* Effect.addFinalizer(() => {
      isOpen = false
      return Effect.forEach(all, ({ stop }) => stop)
    })

    const unlessClosed = <A>(effect: Effect.Effect<A, NotRecognized>) => Effect.suspend(() => (isOpen ? effect : closed))
    const twice = (process: SphinxProcess, request: SphinxRequest) => {
      const tried = unlessClosed(once(process, request, options))
      return Effect.catchIf(
        tried,
        ({ reason }) => reason === "Crashed",
        () => tried
      )
    }
    const inTurn = (request: SphinxRequest) =>
      turns.withPermit(
        Effect.suspend(() => {
          // Running processes come first: another would have to be started.
          const at = free.findIndex((process) => process.pid() !== undefined)
          const [process] = free.splice(Math.max(0, at), 1)
          if (process === undefined) return closed
          return Effect.ensuring(
            twice(process, request),
            Effect.sync(() => void free.unshift(process))
          )
        })
      )

    return {
      recognize: (request) =>
        Effect.suspend(() => {
          if (depth >= options.processes + options.mostWaiting) return Effect.fail(new NotRecognized({ reason: "Busy" }))
          depth++
          return Effect.ensuring(
            inTurn(request),
            Effect.sync(() => void depth--)
          )
        }),
      listen: (grammar) => {
        const process = isOpen && listening < options.listening ? leastBusyOf(all) : undefined
        if (process === undefined) return undefined
        listening++
        const utterance = process.begin(grammar, false)
        return withEnd(utterance, inTime(process, utterance, options), () => void listening--)
      },
      warm: Effect.suspend(() => free[0]?.start ?? Effect.void),
      depth: () => depth,
      listening: () => listening,
      pids: () => all.flatMap((process) => process.pid() ?? [])
    }
  })
