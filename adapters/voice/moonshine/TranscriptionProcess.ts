/** The engine's side of one process that transcribes speech. It is started for an utterance, also after it has died, and gets one at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"
import type { TranscriptionModel } from "./TranscriptionModel.ts"
import type { NumberedRequest, Transcription, TranscriptionMessage, TranscriptionRequest } from "./transcriptionWorker.ts"

const meanings = {
  Absent: "the model is not on this machine",
  Busy: "too many utterances are waiting to be transcribed",
  TimedOut: "it took too long to transcribe",
  Crashed: "the process that transcribes speech has ended",
  Closed: "the engine is stopping"
} as const

export class NotTranscribed extends Schema.TaggedError<NotTranscribed>()("NotTranscribed", {
  reason: Schema.Literals(["Absent", "Busy", "TimedOut", "Crashed", "Closed"])
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

export interface TranscriptionProcess {
  readonly transcribe: (request: TranscriptionRequest) => Effect.Effect<Transcription, NotTranscribed>
  /** Starts it unless it runs, and waits until the model is loaded. Fails if the process ends before that. */
  readonly start: Effect.Effect<void, NotTranscribed>
  readonly stop: Effect.Effect<void>
  /** Undefined while it is not running. */
  readonly pid: () => number | undefined
}

/** Called once, with undefined if the process has ended. */
type Told<A> = (value: A | undefined) => void

/** A process from its start to its end. */
interface Life {
  readonly child: ChildProcess
  readonly asked: Map<number, Told<Transcription>>
  /** Those who wait for the model to be loaded. */
  readonly waiting: Set<Told<true>>
  isReady: boolean
  isOver: boolean
}

/** ONNX Runtime keeps the memory of the longest utterance. */
const mostGrownBytes = 300 * 1024 * 1024

const program = new URL("./transcriptionWorker.ts", import.meta.url)

const startChild = (model: TranscriptionModel): ChildProcess => {
  // Without the environment, which holds secrets, and without output, which could contain texts.
  const child = fork(fileURLToPath(program), [], {
    env: {},
    execArgv: ["--max-semi-space-size=1"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })
  child.unref()
  child.channel?.unref()
  // A failure to send is ignored: the exit event reports the end of the process.
  child.send(model, () => {})
  return child
}

const live = (model: TranscriptionModel, ended: (life: Life) => void): Life => {
  const life: Life = { child: startChild(model), asked: new Map(), waiting: new Set(), isReady: false, isOver: false }
  /** After the first utterance, when everything that is needed has been allocated. */
  let usualBytes: number | undefined
  const over = () => {
    if (life.isOver) return
    life.isOver = true
    ended(life)
    for (const told of [...life.asked.values(), ...life.waiting]) told(undefined)
  }
  // Without a listener, a failure to start would end the engine.
  life.child.on("error", over).on("exit", over)
  life.child.on("message", (message: TranscriptionMessage) => {
    if (message._tag === "Ready") {
      life.isReady = true
      for (const told of life.waiting) told(true)
      life.waiting.clear()
      return
    }
    const { _tag, id, residentBytes, ...transcription } = message
    const told = life.asked.get(id)
    life.asked.delete(id)
    usualBytes ??= residentBytes
    // The next utterance starts another one.
    if (residentBytes > usualBytes + mostGrownBytes && life.asked.size === 0) {
      over()
      life.child.kill("SIGKILL")
    }
    told?.(transcription)
  })
  return life
}

const crashed = Effect.fail(new NotTranscribed({ reason: "Crashed" }))
const answeredTo = <A>(ask: (told: Told<A>) => () => void): Effect.Effect<A, NotTranscribed> =>
  Effect.callback<A, NotTranscribed>((resume) => {
    const giveUp = ask((value) => resume(value === undefined ? crashed : Effect.succeed(value)))
    return Effect.sync(giveUp)
  })

export const makeTranscriptionProcess = (model: TranscriptionModel): TranscriptionProcess => {
  let present: Life | undefined
  let count = 0
  const started = (): Life => {
    present ??= live(model, (life) => {
      if (present === life) present = undefined
    })
    return present
  }
  return {
    transcribe: (request) =>
      answeredTo((told) => {
        const { asked, child } = started()
        const id = ++count
        asked.set(id, told)
        child.send({ id, ...request } satisfies NumberedRequest, () => {})
        return () => void asked.delete(id)
      }),
    start: answeredTo<true>((told) => {
      const { isReady, waiting } = started()
      if (isReady) told(true)
      else waiting.add(told)
      return () => void waiting.delete(told)
    }).pipe(Effect.asVoid),
    stop: Effect.sync(() => {
      present?.child.kill("SIGKILL")
      present = undefined
    }),
    pid: () => present?.child.pid
  }
}
