/** The engine's side of one process that recognizes speech. It starts with the first request, also after it has died, and takes one at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"
import type { SphinxFiles } from "./SphinxFiles.ts"
import type { SphinxReply, SphinxRequest } from "./sphinxWorker.ts"

const meanings = {
  Busy: "too many utterances are waiting to be recognized",
  TimedOut: "it took too long to recognize",
  Crashed: "the process that recognizes speech has ended",
  Closed: "the engine is stopping"
} as const

export class NotRecognized extends Schema.TaggedError<NotRecognized>()("NotRecognized", {
  reason: Schema.Literals(["Busy", "TimedOut", "Crashed", "Closed"])
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

export interface SphinxProcess {
  /** An interrupted caller leaves a process behind whose next reply would be another request's: stop it then. */
  readonly ask: (request: SphinxRequest) => Effect.Effect<SphinxReply, NotRecognized>
  readonly start: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  /** Undefined while it is not running. */
  readonly pid: () => number | undefined
}

const program = new URL("./sphinxWorker.ts", import.meta.url)

export const makeSphinxProcess = (files: SphinxFiles): SphinxProcess => {
  let child: ChildProcess | undefined

  const start = (): ChildProcess => {
    // Without the environment, which holds secrets, and without output: PocketSphinx prints grammars that it cannot read.
    const started = fork(fileURLToPath(program), [JSON.stringify(files)], {
      env: {},
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"]
    })
    const gone = () => {
      if (child === started) child = undefined
    }
    // Without a listener, a failure to start would end the engine.
    started.on("error", gone).on("exit", gone)
    started.unref()
    started.channel?.unref()
    child = started
    return started
  }

  const ask = (request: SphinxRequest) =>
    Effect.callback<SphinxReply, NotRecognized>((resume) => {
      const asked = child ?? start()
      const replied = (reply: SphinxReply) => settle(Effect.succeed(reply))
      const ended = () => settle(Effect.fail(new NotRecognized({ reason: "Crashed" })))
      const release = () => void asked.off("message", replied).off("error", ended).off("exit", ended)
      const settle = (outcome: Effect.Effect<SphinxReply, NotRecognized>) => {
        release()
        resume(outcome)
      }
      asked.on("message", replied).on("error", ended).on("exit", ended)
      asked.send(request, (error) => {
        if (error !== null) ended()
      })
      return Effect.sync(release)
    })

  return {
    ask,
    start: Effect.sync(() => void (child ?? start())),
    stop: Effect.sync(() => {
      child?.kill("SIGKILL")
      child = undefined
    }),
    pid: () => child?.pid
  }
}
