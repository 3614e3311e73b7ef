/** Reads files that are in the bucket or on their way there, and translates failures into those of files. */
import { Effect, Stream } from "effect"
import { open } from "node:fs/promises"
import { FilesAway } from "#core/FilesAway.ts"
import { attempt, FileNotFound, readPart } from "#runtime/storage/FileFolder.ts"
import type { OpenedFile } from "#runtime/storage/Files.ts"
import { ownFile } from "#runtime/storage/ownFiles.ts"
import { AWAY_SECONDS, type Outage } from "./Outage.ts"
import type { Outbox } from "./Outbox.ts"
import type { S3Bucket } from "./S3Bucket.ts"
import { S3Failure, timedOut } from "./S3Failure.ts"

/** How long a caller who needs an answer waits for the bucket. */
const PATIENCE = "10 seconds"

export const inTime = <A>(ask: Effect.Effect<A, S3Failure>) =>
  Effect.timeoutOrElse(ask, { duration: PATIENCE, orElse: () => Effect.fail(new S3Failure({ status: undefined, code: timedOut })) })

/** Translates the outcome of a bucket request into errors about files. */
const makeTold =
  ({ noticed, over }: Outage) =>
  <A>(key: string, ask: Effect.Effect<A, S3Failure>): Effect.Effect<A, FileNotFound | FilesAway> =>
    Effect.catch(
      Effect.tap(ask, () => over),
      (failure): Effect.Effect<never, FileNotFound | FilesAway> =>
        failure.isMissing ? Effect.fail(new FileNotFound({ key })) : Effect.andThen(noticed(failure), Effect.fail(away))
    )
type Told = ReturnType<typeof makeTold>

const away = new FilesAway({ retryAfterSeconds: AWAY_SECONDS })

export const makeReads = (bucket: S3Bucket, outbox: Outbox, outage: Outage) => {
  const told = makeTold(outage)
  /** For requests that somebody is waiting for. While the bucket is known to be unreachable, it is not asked. */
  const ask: Told = (key, ask) => Effect.flatMap(outage.isAway, (isAway) => (isAway ? Effect.fail(away) : told(key, inTime(ask))))

  const openStored = (key: string) =>
    Effect.map(ask(key, bucket.head(key)), ({ bytes, etag, modifiedAt }) => ({
      bytes,
      modifiedAt,
      stored: (from: number, until: number) => bucket.read(key, from, until, etag)
    }))
  const stored = (key: string) => Effect.map(openStored(key), ({ stored, ...found }): OpenedFile => ({ ...found, read: stored }))

  /** The bucket may have received the file since it was found here. */
  const here = Effect.fnUntraced(function* (key: string) {
    const found = yield* outbox.stat(key)
    const path = yield* outbox.path(key)
    const read = (from: number, until: number) =>
      outbox.stat(key).pipe(
        Effect.as(readPart(path, from, until)),
        Effect.catchTag("FileNotFound", () => Effect.map(stored(key), (file) => file.read(from, until))),
        Stream.unwrap
      )
    return { ...found, read } satisfies OpenedFile
  })

  const fetched = Effect.fnUntraced(function* (key: string, path: string) {
    const { bytes, stored } = yield* openStored(key)
    const file = yield* Effect.acquireRelease(
      attempt(key, "write", () => open(path, "w", ownFile)),
      (file) => Effect.promise(() => file.close())
    )
    // A write refused by this disk is not a failure of the bucket.
    const written = Stream.runForEach(stored(0, bytes), (piece) => Effect.orDie(attempt(key, "write", () => file.writeFile(piece))))
    yield* told(key, written)
  }, Effect.scoped)

  return { ask, fetched, here, stored }
}
