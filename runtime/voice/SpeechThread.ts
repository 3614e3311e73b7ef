/** One worker thread that computes speech: started when asked, gone when it crashes or is stopped. Asked one thing at a time. */
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
  /** `Nothing`: the worker has found nothing to say. `Busy`: too much is waiting already. */
  reason: Schema.Literals(["Nothing", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

/** What a worker answers: 8 kHz mu-law in whole frames. */
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

  return { ask, stop, isRunning: () => worker !== undefined }
}
