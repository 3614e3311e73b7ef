/** The worker thread that derives keys from passwords. It starts when first needed, and again after a crash. */
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { KeyReply, KeyRequest } from "./passwordWorker.ts"

const program = new URL("./passwordWorker.ts", import.meta.url)

interface Waiting {
  readonly resolve: (key: Uint8Array) => void
  readonly reject: (cause: unknown) => void
}

/** A running thread, and the callers waiting for it. */
interface Running {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

export class PasswordThread {
  private running: Running | undefined
  private asked = 0

  /** Fails with a defect if the thread ends first. */
  derive(request: Omit<KeyRequest, "id">): Effect.Effect<Uint8Array> {
    return Effect.promise(
      () =>
        new Promise<Uint8Array>((resolve, reject) => {
          const { waiting, worker } = (this.running ??= this.start())
          const id = this.asked++
          waiting.set(id, { reject, resolve })
          // The thread keeps the process alive only while a caller waits.
          worker.ref()
          worker.postMessage({ ...request, id } satisfies KeyRequest)
        })
    )
  }

  readonly stop = Effect.suspend(() => {
    const stopped = this.running
    this.running = undefined
    return stopped === undefined ? Effect.void : Effect.asVoid(Effect.promise(() => stopped.worker.terminate()))
  })

  private start(): Running {
    // Without the process's flags: a loader among them would be loaded again.
    const running: Running = { worker: new Worker(program, { name: "passwords", execArgv: [] }), waiting: new Map() }
    const { waiting, worker } = running
    const gone = (cause: unknown) => {
      if (this.running === running) this.running = undefined
      for (const { reject } of waiting.values()) reject(new Error("the password thread has ended", { cause }))
      waiting.clear()
    }
    worker.on("error", gone).on("exit", gone)
    worker.on("message", ({ id, key }: KeyReply) => {
      waiting.get(id)?.resolve(key)
      waiting.delete(id)
      if (waiting.size === 0) worker.unref()
    })
    return running
  }
}
