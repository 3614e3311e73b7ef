/**
 * Complete files on this machine's disk, on their way into the bucket:
 *
 *     taken in -> stored in the bucket -> deleted here
 *
 * The folder is the truth: files that a process leaves behind there are stored by the next one. While the bucket accepts nothing, files wait and
 * are retried at growing intervals. A file that is removed meanwhile does not come back: its removal waits until its transfer is over.
 */
import { Deferred, Duration, Effect, Latch, Random, Schedule, Semaphore } from "effect"
import type { Dirent } from "node:fs"
import { readdir, rm, stat } from "node:fs/promises"
import { join, relative } from "node:path"
import type { FileMetrics } from "#runtime/metrics/FileMetrics.ts"
import { FileFailed, fileFolder, isFileKey } from "#runtime/storage/FileFolder.ts"
import { isMissing } from "#runtime/storage/ownFiles.ts"
import type { Outage } from "./Outage.ts"
import type { S3Bucket } from "./S3Bucket.ts"
import type { S3Failure } from "./S3Failure.ts"

const FIRST_PAUSE_MILLIS = 1000
const LONGEST_PAUSE_MILLIS = 60_000
/** How often files that the bucket has refused individually are retried. */
const LOOK_AGAIN = "1 hour"
/** How long a stopping engine continues storing. */
const LAST_CHANCE = "20 seconds"
const BATCH = 100
const AT_ONCE = 4

interface Parts {
  readonly folder: string
  readonly bucket: S3Bucket
  readonly outage: Outage
  readonly metrics: FileMetrics
}

type Found = { readonly size: number; readonly ino: number; readonly mtimeMs: number }
const isSame = (one: Found, other: Found | undefined): boolean =>
  other !== undefined && one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs

const failed = (key: string, operation: FileFailed["operation"]) => (cause: unknown) => new FileFailed({ key, operation, cause })

/** Undefined if there is no such file. */
const foundAt = (path: string, key: string) =>
  Effect.tryPromise({
    try: (): Promise<Found | undefined> => stat(path).catch((cause: unknown) => (isMissing(cause) ? undefined : Promise.reject(cause))),
    catch: failed(key, "stat")
  })

export class Outbox {
  private readonly parts: Parts
  private readonly files: ReturnType<typeof fileFolder>
  private readonly waiting = new Set<string>()
  /** Files that the bucket refuses although it accepts others. */
  private readonly refused = new Set<string>()
  private readonly underWay = new Map<string, Deferred.Deferred<void>>()
  private readonly news = Latch.makeUnsafe(false)
  /** From checking a file until it is deleted, no other file may take its name. */
  private readonly names = Semaphore.makeUnsafe(1)

  constructor(parts: Parts) {
    this.parts = parts
    this.files = fileFolder(parts.folder)
  }

  get stat() {
    return this.files.stat
  }
  get read() {
    return this.files.read
  }
  get path() {
    return this.files.path
  }

  /** Returns once the file is here. */
  take(from: string, key: string) {
    // Even if the caller is interrupted, the file may be here.
    return this.names.withPermit(this.files.take(from, key)).pipe(Effect.ensuring(Effect.sync(() => this.noteWaiting(key))))
  }

  /** Deletes the local file. A transfer in progress may still put it into the bucket. */
  remove(key: string) {
    return Effect.map(this.names.withPermit(this.files.remove(key)), () => {
      this.waiting.delete(key)
      this.refused.delete(key)
      this.count()
    })
  }

  /** Returns once no transfer of the file is in progress. */
  settled(key: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const transfer = this.underWay.get(key)
      return transfer === undefined ? Effect.void : Deferred.await(transfer)
    })
  }

  /** Stores files while the scope is open, and for a short time when it closes. */
  readonly deliver = Effect.suspend(() =>
    Effect.gen({ self: this }, function* () {
      yield* this.look
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(this.rest, LAST_CHANCE)))
      yield* Effect.forkScoped(this.loop)
      yield* Effect.forkScoped(Effect.repeat(this.look, Schedule.spaced(LOOK_AGAIN)))
    })
  )

  private noteWaiting(key: string): void {
    this.waiting.add(key)
    this.count()
    this.news.openUnsafe()
  }

  private count(): void {
    this.parts.metrics.waiting = this.waiting.size + this.refused.size
  }

  /** Finds what an earlier process has left, and gives refused files another chance. */
  private readonly look = Effect.tryPromise(() => readdir(this.parts.folder, { recursive: true, withFileTypes: true })).pipe(
    Effect.map((entries) => this.found(entries)),
    Effect.catch(({ cause }) =>
      isMissing(cause) ? Effect.void : Effect.logWarning("files that wait for the bucket could not be listed", cause)
    )
  )

  private found(entries: ReadonlyArray<Dirent>): void {
    this.refused.clear()
    for (const entry of entries) {
      const key = relative(this.parts.folder, join(entry.parentPath, entry.name))
      if (entry.isFile() && isFileKey(key)) this.noteWaiting(key)
    }
  }

  private readonly loop = Effect.suspend(() =>
    Effect.gen({ self: this }, function* () {
      for (let pause = FIRST_PAUSE_MILLIS; ; ) {
        yield* this.news.await
        const isStored = yield* this.batch.pipe(
          Effect.as(true),
          Effect.catchTag("S3Failure", () => Effect.succeed(false)),
          Effect.catchCause((cause) => Effect.as(Effect.logWarning("files could not be stored in the bucket", cause), false))
        )
        if (this.waiting.size === 0) this.news.closeUnsafe()
        if (isStored) {
          pause = FIRST_PAUSE_MILLIS
          continue
        }
        yield* Effect.sleep(Duration.millis(pause * (0.5 + (yield* Random.next) / 2)))
        pause = Math.min(pause * 2, LONGEST_PAUSE_MILLIS)
      }
    })
  )

  /** Stores every waiting file, except those that the bucket refuses. */
  private readonly rest = Effect.suspend(() =>
    Effect.whileLoop({ while: () => this.waiting.size > 0, body: () => this.batch, step: () => undefined })
  )

  /** After the first failure, only transfers in progress are completed. Fails with a failure that concerns all files. */
  private readonly batch = Effect.suspend(() => {
    const failed: Array<readonly [key: string, failure: S3Failure]> = []
    const before = this.parts.metrics.stored
    const stored = (key: string) =>
      failed.length > 0
        ? Effect.void
        : Effect.catchTag(this.store(key), "S3Failure", (failure) => Effect.sync(() => void failed.push([key, failure])))
    return Effect.andThen(
      Effect.forEach([...this.waiting].slice(0, BATCH), (key) => Effect.suspend(() => stored(key)), {
        concurrency: AT_ONCE,
        discard: true
      }),
      Effect.suspend(() => this.judged(failed, this.parts.metrics.stored > before))
    )
  })

  /** `isTaking`: the bucket has accepted other files meanwhile, so a permanent refusal concerns only this file. */
  private judged(failed: ReadonlyArray<readonly [key: string, failure: S3Failure]>, isTaking: boolean) {
    return Effect.gen({ self: this }, function* () {
      for (const [key, failure] of failed) {
        if (isTaking && !failure.isPassing) {
          yield* this.setAside(key, failure)
          continue
        }
        // The other files come first next time.
        if (this.waiting.delete(key)) this.waiting.add(key)
        if (!failure.isPassing) yield* this.parts.outage.noticed(failure)
      }
      const ofAll = failed.find(([key]) => this.waiting.has(key))
      if (ofAll !== undefined) return yield* ofAll[1]
    })
  }

  private store(key: string) {
    return Effect.gen({ self: this }, function* () {
      const transfer = Deferred.makeUnsafe<void>()
      this.underWay.set(key, transfer)
      const over = Effect.sync(() => {
        this.underWay.delete(key)
        Deferred.doneUnsafe(transfer, Effect.void)
      })
      yield* Effect.ensuring(this.transferred(key), over)
    }).pipe(
      Effect.catchTags({
        FileFailed: (error) => this.setAside(key, error),
        FileKeyRefused: (error) => this.setAside(key, error),
        S3Failure: (failure) => this.notStored(key, failure)
      })
    )
  }

  private transferred(key: string) {
    return Effect.gen({ self: this }, function* () {
      const path = yield* this.files.path(key)
      const sent = yield* foundAt(path, key)
      if (sent !== undefined) {
        yield* this.parts.bucket.put(key, path, sent.size)
        this.parts.metrics.stored++
        yield* this.parts.outage.over
      }
      yield* this.names.withPermit(this.deleted(path, key, sent))
    })
  }

  /** A file that has been replaced since is stored once more. */
  private deleted(path: string, key: string, sent: Found | undefined) {
    return Effect.gen({ self: this }, function* () {
      const now = yield* foundAt(path, key)
      if (now !== undefined && (sent === undefined || !isSame(sent, now))) return
      yield* Effect.tryPromise({ try: () => rm(path, { force: true }), catch: failed(key, "remove") })
      this.waiting.delete(key)
      this.count()
    }).pipe(Effect.uninterruptible)
  }

  private notStored(key: string, failure: S3Failure) {
    return Effect.gen({ self: this }, function* () {
      // The file was removed before it was read.
      if ((yield* Effect.isFailure(this.files.stat(key))) && this.waiting.delete(key)) return this.count()
      if (failure.isOfObject) return yield* this.setAside(key, failure)
      if (failure.isPassing) yield* this.parts.outage.noticed(failure)
      return yield* failure
    })
  }

  private setAside(key: string, error: S3Failure | { readonly _tag: string; readonly message: string }) {
    return Effect.suspend(() => {
      this.parts.metrics.failures++
      if (this.waiting.delete(key)) this.refused.add(key)
      this.count()
      return Effect.logError("a file could not be stored in the bucket, and will be tried again in an hour").pipe(
        Effect.annotateLogs({ key, reason: error.message })
      )
    })
  }
}
