/** One worker thread that computes speech. It starts with the first request after a crash or a stop, and takes one request at a time. */
import { Effect, Schema } from "effect"
import { Worker } from "node:worker_threads"

const meanings = {
  Nothing: "nothing in it can be said",
  Busy: "too much speech is waiting to be made",
  TimedOut: "it took too long to make",
  Crashed: "the worker that makes speech has crashed",
  Closed: "the engine is stopping"
} as const

export class SpeechNotMade extends Schema.TaggedError<SpeechNotMade>()("SpeechNotMade", {
  /** `Nothing`: the worker found nothing to say. `Busy`: too many pieces are already waiting. */
  reason: Schema.Literals(["Nothing", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

/** 8 kHz mu-law in whole frames; undefined if there is nothing to say. */
export type SpeechReply = Uint8Array<ArrayBuffer> | undefined

const maxHeapMegabytes = 256

export interface SpeechThread<Request> {
  readonly ask: (request: Request) => Effect.Effect<SpeechReply, SpeechNotMade>
  readonly stop: Effect.Effect<void>
  readonly isRunning: () => boolean
}

export const makeSpeechThread = <Request>(name: string, program: URL): SpeechThread<Request> => {
  let worker: Worker | undefined

  const start = (): Worker => {
    // Without the process's flags: a loader among them would be loaded again.
    const started = new Worker(program, { name, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes } })
    const gone = () => {
      if (worker === started) worker = undefined
    }
    // Without a listener, an error in the worker would end the process.
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
      // A worker keeps the process alive only while a request is pending.
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

  return { ask, stop, isRunning: () => worker !== undefined }
}
