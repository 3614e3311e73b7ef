/**
 * `npm run copy-files -- FOLDER` copies the files of a folder into the bucket of `FILES_URL`, and exits. It deletes nothing on either side, and
 * skips files that the bucket already has in the same size, so it can be stopped and restarted.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import { readdir, stat } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import { Config } from "./config/config.ts"
import { bucketKeys } from "./files.ts"
import { isFileKey } from "./storage/FileFolder.ts"
import { openBucket, type S3Bucket } from "./storage/s3/S3Bucket.ts"

const AT_ONCE = 4
const TOLD_EVERY = 1000

class CopyImpossible extends Schema.TaggedError<CopyImpossible>()("CopyImpossible", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

const attempt = <A>(act: () => Promise<A>) =>
  Effect.tryPromise({ try: act, catch: (cause) => new CopyImpossible({ reason: cause instanceof Error ? cause.message : "unreadable" }) })

/** Unfinished files and those of other programs have no keys. */
const keysBelow = (folder: string) =>
  Effect.map(
    attempt(() => readdir(folder, { recursive: true, withFileTypes: true })),
    (entries) =>
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .filter((key) => isFileKey(key) && !key.startsWith("drafts/"))
  )

const copied = Effect.fnUntraced(function* (bucket: S3Bucket, folder: string, key: string) {
  const path = join(folder, key)
  const { size } = yield* attempt(() => stat(path))
  const there = yield* bucket.head(key).pipe(
    Effect.map(({ bytes }) => bytes),
    Effect.catchIf(
      (failure) => failure.isMissing,
      () => Effect.undefined
    )
  )
  if (there === size) return false
  yield* bucket.put(key, path, size)
  return true
})

const copy = Effect.gen(function* () {
  const settings = yield* Config
  const given = process.argv.at(-1) ?? ""
  if (settings.filesUrl === undefined || process.argv.length < 3)
    return yield* new CopyImpossible({ reason: "Set FILES_URL and name the folder: npm run copy-files -- .data/files" })
  const folder = resolve(given)
  const bucket = yield* openBucket(settings.filesUrl, bucketKeys(settings))
  const keys = yield* keysBelow(folder)
  let done = 0
  let sent = 0
  yield* Effect.forEach(
    keys,
    (key) =>
      Effect.flatMap(copied(bucket, folder, key), (isSent) => {
        done++
        if (isSent) sent++
        return done % TOLD_EVERY === 0 ? Console.log(`${done} of ${keys.length} files`) : Effect.void
      }),
    { concurrency: AT_ONCE, discard: true }
  )
  yield* Console.log(`${keys.length} files are in the bucket, ${sent} of them new there. Those in ${folder} are left as they are.`)
})

copy.pipe(
  Effect.scoped,
  Effect.provide(Config.layer),
  Effect.tapError((error) => Console.error(`Files could not be copied: ${error.message}`)),
  (main) => NodeRuntime.runMain(main, { disableErrorReporting: true })
)
