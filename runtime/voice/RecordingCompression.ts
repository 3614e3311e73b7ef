/**
 * Compresses recordings to Opus, one at a time, after their calls, for organizations that ask for it. The rows say which steps remain, so the
 * next process finishes whatever a killed one leaves behind:
 *
 *     WAV, row marked -> draft written -> draft takes its name -> the run names it -> WAV removed -> row deleted
 *
 * If the recording is deleted meanwhile, the run no longer names it, and both files are removed here.
 */
import { Clock, Effect, Layer, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Worker } from "node:worker_threads"
import * as store from "#core/file/CompressionStore.ts"
import { compressedKey } from "#core/file/RecordingFormat.ts"
import { Config } from "#runtime/config/config.ts"
import type { CompressionReply, CompressionRequest } from "./opusWorker.ts"
import { Files } from "#runtime/storage/Files.ts"

const EVERY = "5 seconds"
/** A call of an hour takes half a minute on an idle processor. */
const LONGEST = "1 hour"
/** When to retry a recording that could not be compressed: the disk may be full, or the recording may crash the worker. */
const REST_MILLIS = 3_600_000
const MOST_RESTING = 10_000

const program = new URL("./opusWorker.ts", import.meta.url)

type Compress = (request: CompressionRequest) => Effect.Effect<CompressionReply, unknown>

/** The worker starts with the first request and stops with the scope. It takes one request at a time. */
const makeCompress: Effect.Effect<Compress, never, Scope.Scope> = Effect.gen(function* () {
  let worker: Worker | undefined
  const stop = Effect.suspend(() => {
    const stopped = worker
    worker = undefined
    return stopped === undefined ? Effect.void : Effect.promise(() => stopped.terminate())
  })
  yield* Effect.addFinalizer(() => stop)
  const start = () => {
    // Without the process's flags: a loader among them would be loaded again.
    const started = new Worker(program, { name: "compression", execArgv: [] })
    // Without a listener, an error in the worker would end the process.
    started.on("error", () => {})
    return started
  }
  return (request) =>
    Effect.callback<CompressionReply, unknown>((resume) => {
      const asked = (worker ??= start())
      const settle = (outcome: Effect.Effect<CompressionReply, unknown>) => {
        asked.off("message", replied).off("error", failed).off("exit", exited)
        resume(outcome)
      }
      const replied = (bytes: CompressionReply) => settle(Effect.succeed(bytes))
      const failed = (cause: unknown) => settle(Effect.fail(cause))
      const exited = (code: number) => settle(Effect.fail(`the worker has ended with ${code}`))
      asked.on("message", replied).on("error", failed).on("exit", exited)
      asked.postMessage(request)
    }).pipe(
      // A worker that failed, or whose caller was interrupted, may be in any state.
      Effect.onError(() => stop),
      Effect.timeout(LONGEST)
    )
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files
  const { nodeName } = yield* Config
  const draft = `drafts/${nodeName}.opus`
  const resting = new Map<string, number>()

  /** Compresses the recording, and makes the run refer to the compressed file. */
  const compressed = Effect.fnUntraced(function* (compression: store.Compression, compress: Compress) {
    const { key } = compression
    const opus = yield* files.createWriter(draft)
    const bytes = yield* Effect.scoped(Effect.flatMap(files.localCopy(key), (wav) => compress({ wav, opus })))
    if (bytes === undefined) {
      yield* Effect.logWarning("a recording is not in the engine's format, and is left as it is")
      return yield* store.giveUp(sql, compression)
    }
    yield* files.keep(opus, compressedKey(key))
    const isNamed = yield* store.publish(sql, compression, bytes)
    return yield* cleared(compression, isNamed)
  })

  /** Removes the WAV, which no run refers to any more, and the compressed file unless the run refers to it. */
  const cleared = Effect.fnUntraced(function* (compression: store.Compression, isNamed: boolean) {
    const { key } = compression
    if (!isNamed) yield* files.remove(compressedKey(key))
    yield* files.remove(key)
    yield* store.settle(sql, compression)
  })

  const handled = (compression: store.Compression, compress: Compress) =>
    Effect.gen(function* () {
      const { key, recordingKey } = compression
      const now = yield* Clock.currentTimeMillis
      if ((resting.get(key) ?? 0) > now) return
      const work = recordingKey === key ? compressed(compression, compress) : cleared(compression, recordingKey === compressedKey(key))
      yield* Effect.catchCause(work, (cause) => {
        if (resting.size >= MOST_RESTING) resting.clear()
        resting.set(key, now + REST_MILLIS)
        return Effect.logWarning("a recording could not be compressed, and will be tried again in an hour", cause)
      })
    }).pipe(Effect.annotateLogs({ runId: compression.runId }))

  const all = Effect.gen(function* () {
    const compress = yield* makeCompress
    for (let after = ""; ; ) {
      const due = yield* store.due(sql, after)
      yield* Effect.forEach(due, (compression) => handled(compression, compress), { discard: true })
      const last = due.at(-1)
      if (last === undefined || due.length < store.atOnce) return
      after = last.key
    }
  }).pipe(Effect.scoped)

  // A killed process may have left its draft.
  yield* Effect.ignore(files.remove(draft))
  yield* Effect.catchCause(all, (cause) => Effect.logWarning("recordings could not be compressed", cause)).pipe(
    Effect.repeat(Schedule.spaced(EVERY))
  )
})

export const layer = Layer.effectDiscard(Effect.forkScoped(make))
