/**
 * Stores uploaded CSVs, recordings and transcripts by key. A key is a relative path of plain names; anything else (from a URL, a client's
 * `source_id`, a row) is refused before it reaches the disk.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { closeToOthers, ownFile, ownFolder } from "./ownFiles.ts"

class FileKeyRefused extends Schema.TaggedError<FileKeyRefused>()("FileKeyRefused", { key: Schema.String }) {
  override get message(): string {
    return "this is not a file key"
  }
}
class FileNotFound extends Schema.TaggedError<FileNotFound>()("FileNotFound", { key: Schema.String }) {
  override get message(): string {
    return "there is no such file"
  }
}
/** Reported when the disk is full, read-only or broken. */
class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  key: Schema.String,
  operation: Schema.Literals(["write", "read", "stat", "remove"]),
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `a file could not be used: ${this.operation} failed`
  }
}

interface FileStat {
  readonly bytes: number
  readonly modifiedAt: number
}

const maxKeyLength = 500
// No name is empty or starts with a dot or a dash: no `..`, no hidden files, nothing that a command line takes for an option.
const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,239}(?:\/[A-Za-z0-9_][A-Za-z0-9._-]{0,239}){1,3}$/

const isFileKey = (key: string): boolean => key.length <= maxKeyLength && keyPattern.test(key)

export class Files extends Context.Service<
  Files,
  {
    /** Writes the file atomically: a reader sees the old bytes or the new ones, never a part. */
    readonly write: (key: string, bytes: Uint8Array) => Effect.Effect<void, FileKeyRefused | FileFailed>
    /** The local path at which the caller may write `key` piece by piece. Its folder exists. */
    readonly createWriter: (key: string) => Effect.Effect<string, FileKeyRefused | FileFailed>
    readonly read: (key: string) => Effect.Effect<Uint8Array, FileKeyRefused | FileNotFound | FileFailed>
    readonly stat: (key: string) => Effect.Effect<FileStat, FileKeyRefused | FileNotFound | FileFailed>
    /** Renames a file that is already on the disk, so that the new name survives a loss of power. */
    readonly rename: (from: string, to: string) => Effect.Effect<void, FileKeyRefused | FileFailed>
    /** Succeeds when there is no such file. */
    readonly remove: (key: string) => Effect.Effect<void, FileKeyRefused | FileFailed>
    /** The local path of `key`, for readers that stream. The file need not exist. */
    readonly path: (key: string) => Effect.Effect<string, FileKeyRefused>
  }
>()("runtime/storage/Files") {
  static readonly layerLocal = (folder: string): Layer.Layer<Files> =>
    Layer.effect(Files, Effect.as(Effect.forkScoped(closeToOthers(resolve(folder))), local(resolve(folder))))
}

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/** Flushes changes of names in the folder to the disk. */
const synced = async (folder: string): Promise<void> => {
  const opened = await open(folder)
  await opened.sync().finally(() => opened.close())
}

const local = (folder: string): Files["Service"] => {
  const path = (key: string) => (isFileKey(key) ? Effect.succeed(join(folder, key)) : Effect.fail(new FileKeyRefused({ key })))
  const attempt = <A>(key: string, operation: FileFailed["operation"], act: () => Promise<A>) =>
    Effect.tryPromise({ try: act, catch: (cause) => new FileFailed({ key, operation, cause }) })
  const existing = <A>(key: string, operation: FileFailed["operation"], act: () => Promise<A>) =>
    Effect.mapError(attempt(key, operation, act), (error) => (isMissing(error.cause) ? new FileNotFound({ key }) : error))

  return Files.of({
    path,
    write: Effect.fn("Files.write")(function* (key, bytes) {
      const target = yield* path(key)
      const draft = join(dirname(target), `.${randomUUID()}.part`)
      const written = () =>
        mkdir(dirname(target), { recursive: true, mode: ownFolder })
          .then(() => writeFile(draft, bytes, { mode: ownFile }))
          .then(() => rename(draft, target))
      const discarded = attempt(key, "remove", () => rm(draft, { force: true }))
      yield* Effect.onError(attempt(key, "write", written), () => Effect.ignore(discarded))
    }),
    createWriter: Effect.fn("Files.createWriter")(function* (key) {
      const target = yield* path(key)
      yield* attempt(key, "write", () => mkdir(dirname(target), { recursive: true, mode: ownFolder }))
      return target
    }),
    read: Effect.fn("Files.read")(function* (key) {
      const target = yield* path(key)
      return yield* existing(key, "read", () => readFile(target))
    }),
    stat: Effect.fn("Files.stat")(function* (key) {
      const target = yield* path(key)
      const found = yield* existing(key, "stat", () => stat(target))
      return { bytes: found.size, modifiedAt: found.mtimeMs }
    }),
    rename: Effect.fn("Files.rename")(function* (from, to) {
      const [source, target] = [yield* path(from), yield* path(to)]
      yield* attempt(to, "write", () => rename(source, target).then(() => synced(dirname(target))))
    }),
    remove: Effect.fn("Files.remove")(function* (key) {
      const target = yield* path(key)
      yield* attempt(key, "remove", () => rm(target, { force: true }))
    })
  })
}
