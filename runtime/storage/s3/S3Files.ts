/**
 * Files in a bucket. Complete files go through the outbox on this machine's disk, so nobody waits for the bucket, and an unreachable bucket
 * loses nothing; they are read from there until the bucket has them. An unreachable bucket is reported as `FilesAway`, never as a defect.
 */
import { Clock, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { link, mkdir, readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { S3Address } from "#runtime/config/S3Address.ts"
import { CurrentFileMetrics } from "#runtime/metrics/FileMetrics.ts"
import { attempt, fileFolder } from "#runtime/storage/FileFolder.ts"
import { Files } from "#runtime/storage/Files.ts"
import { closeToOthers, isMissing, ownFolder } from "#runtime/storage/ownFiles.ts"
import { makeOutage, type Outage } from "./Outage.ts"
import { Outbox } from "./Outbox.ts"
import { openBucket, type S3Bucket } from "./S3Bucket.ts"
import { inTime, makeReads } from "./S3Reads.ts"
import type { S3Keys } from "./S3Request.ts"

/** A growing file that has not been written to for this long was left by a killed process and is no longer wanted. */
const LEFT_OVER_MILLIS = 86_400_000
const LEFT_OVER_EVERY = "1 hour"

/** Aborts the start: calls would be recorded for nothing. */
class BucketRefused extends Schema.TaggedError<BucketRefused>()("BucketRefused", {
  bucket: Schema.String,
  endpoint: Schema.String,
  code: Schema.String
}) {
  override get message(): string {
    return `FILES_URL: the bucket "${this.bucket}" at ${this.endpoint} cannot be written: ${this.code}`
  }
}

interface Setting {
  readonly address: S3Address
  readonly keys: S3Keys
  /** On this machine's disk: growing files, and the outbox. */
  readonly folder: string
}

export const layer = (setting: Setting): Layer.Layer<Files, BucketRefused> =>
  Layer.effect(
    Files,
    Effect.gen(function* () {
      const { address, folder, keys } = setting
      const metrics = yield* CurrentFileMetrics
      const bucket = yield* openBucket(address, keys)
      const outage = makeOutage(address, metrics)
      yield* bucket.probe(`probe/${randomUUID()}`).pipe(
        inTime,
        Effect.catch((failure) =>
          failure.isPassing
            ? outage.noticed(failure)
            : Effect.fail(new BucketRefused({ bucket: address.bucket, endpoint: new URL(address.base).origin, code: failure.code }))
        )
      )
      yield* Effect.forkScoped(closeToOthers(folder))
      const outbox = new Outbox({ folder: join(folder, "waiting"), bucket, outage, metrics })
      return filesOf(bucket, outbox, join(folder, "growing"), outage)
    })
  )

const filesOf = (bucket: S3Bucket, outbox: Outbox, growingFolder: string, outage: Outage): Files["Service"] => {
  const growing = fileFolder(growingFolder)
  const { ask, fetched, here, stored } = makeReads(bucket, outbox, outage)

  return Files.of({
    path: growing.path,
    createWriter: growing.createWriter,
    keep: (path, key) => outbox.take(path, key),
    write: Effect.fn("Files.write")(function* (key, bytes) {
      yield* growing.write(key, bytes)
      yield* outbox.take(yield* growing.path(key), key)
    }),
    open: Effect.fn("Files.open")((key) => Effect.catchTag(here(key), "FileNotFound", () => stored(key))),
    stat: Effect.fn("Files.stat")((key) => Effect.catchTag(outbox.stat(key), "FileNotFound", () => stored(key))),
    read: Effect.fn("Files.read")(function* (key) {
      const content = Effect.flatMap(bucket.head(key), ({ bytes, etag }) => Stream.runCollect(bucket.read(key, 0, bytes, etag)))
      const fromBucket = Effect.map(ask(key, content), (pieces): Uint8Array => Buffer.concat(pieces))
      return yield* Effect.catchTag(outbox.read(key), "FileNotFound", () => fromBucket)
    }),
    localCopy: Effect.fn("Files.localCopy")(function* (key) {
      const waiting = yield* outbox.path(key)
      const copy = join(growingFolder, `.${randomUUID()}.copy`)
      yield* Effect.addFinalizer(() => Effect.promise(() => rm(copy, { force: true })))
      yield* attempt(key, "write", () => mkdir(growingFolder, { recursive: true, mode: ownFolder }))
      // A second name, so that it can still be read after the bucket has it.
      const isHere = yield* Effect.isSuccess(attempt(key, "read", () => link(waiting, copy)))
      if (!isHere) yield* fetched(key, copy)
      return copy
    }),
    remove: Effect.fn("Files.remove")(function* (key) {
      yield* growing.remove(key)
      yield* outbox.remove(key)
      const removed = ask(key, Effect.andThen(outbox.settled(key), bucket.remove(key)))
      yield* Effect.catchTag(removed, "FileNotFound", () => Effect.void)
    }),
    deliver: Effect.andThen(
      Effect.forkScoped(Effect.repeat(forgetLeftOver(growingFolder), Schedule.spaced(LEFT_OVER_EVERY))),
      outbox.deliver
    )
  })
}

const forgetLeftOver = (folder: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const entries = yield* Effect.tryPromise(() => readdir(folder, { recursive: true, withFileTypes: true }))
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name)
      const { mtimeMs } = yield* Effect.tryPromise(() => stat(path))
      if (now - mtimeMs > LEFT_OVER_MILLIS) yield* Effect.tryPromise(() => rm(path, { force: true }))
    }
  }).pipe(
    Effect.catch(({ cause }) =>
      isMissing(cause) ? Effect.void : Effect.logWarning("files left over from former processes could not be deleted", cause)
    )
  )
