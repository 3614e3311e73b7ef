/** Files in a folder of this machine, by key. A key is a relative path of plain names; anything else is refused before it reaches the disk. */
import { Effect, Schema, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isMissing, ownFile, ownFolder } from "./ownFiles.ts"

export class FileKeyRefused extends Schema.TaggedError<FileKeyRefused>()("FileKeyRefused", { key: Schema.String }) {
  override get message(): string {
    return "this is not a file key"
  }
}
export class FileNotFound extends Schema.TaggedError<FileNotFound>()("FileNotFound", { key: Schema.String }) {
  override get message(): string {
    return "there is no such file"
  }
}
/** Reported when the disk is full, read-only or broken. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  key: Schema.String,
  operation: Schema.Literals(["write", "read", "stat", "remove"]),
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `a file could not be used: ${this.operation} failed`
  }
}

export interface FileStat {
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

const maxKeyLength = 500
// No name is empty or starts with a dot or a dash, so there is no `..`, no hidden file, and nothing that a command line takes for an option.
const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,239}(?:\/[A-Za-z0-9_][A-Za-z0-9._-]{0,239}){1,3}$/

export const isFileKey = (key: string): boolean => key.length <= maxKeyLength && keyPattern.test(key)

/** Flushes changes of names in the folder to the disk. */
const synced = async (folder: string): Promise<void> => {
  const opened = await open(folder)
  await opened.sync().finally(() => opened.close())
}

export const attempt = <A>(key: string, operation: FileFailed["operation"], act: () => Promise<A>) =>
  Effect.tryPromise({ try: act, catch: (cause) => new FileFailed({ key, operation, cause }) })
const existing = <A>(key: string, operation: FileFailed["operation"], act: () => Promise<A>) =>
  Effect.mapError(attempt(key, operation, act), (error) => (isMissing(error.cause) ? new FileNotFound({ key }) : error))

/** Undefined if there is no such file. */
export const bytesAt = (path: string): Effect.Effect<number | undefined, FileFailed> =>
  Effect.catchTag(
    existing(path, "stat", async () => (await stat(path)).size),
    "FileNotFound",
    () => Effect.undefined
  )

/** Reads from byte `from` up to, but not including, byte `until`. The reader opens the file: if nothing is read, there is nothing to close. */
export const readPart = (path: string, from: number, until: number): Stream.Stream<Uint8Array, unknown> =>
  until <= from
    ? Stream.empty
    : Stream.suspend(() =>
        Stream.fromAsyncIterable<Uint8Array, unknown>(createReadStream(path, { start: from, end: until - 1 }), (error) => error)
      )

export const fileFolder = (folder: string) => {
  const path = (key: string) => (isFileKey(key) ? Effect.succeed(join(folder, key)) : Effect.fail(new FileKeyRefused({ key })))
  const make = (target: string) => mkdir(dirname(target), { recursive: true, mode: ownFolder })
  return {
    path,
    write: Effect.fn("FileFolder.write")(function* (key: string, bytes: Uint8Array) {
      const target = yield* path(key)
      const draft = join(dirname(target), `.${randomUUID()}.part`)
      const written = () =>
        make(target)
          .then(() => writeFile(draft, bytes, { mode: ownFile }))
          .then(() => rename(draft, target))
      const discarded = attempt(key, "remove", () => rm(draft, { force: true }))
      yield* Effect.onError(attempt(key, "write", written), () => Effect.ignore(discarded))
    }),
    createWriter: Effect.fn("FileFolder.createWriter")(function* (key: string) {
      const target = yield* path(key)
      yield* attempt(key, "write", () => make(target))
      return target
    }),
    /** Moves a file that is already on this disk here, so that its new name survives a power failure. */
    take: Effect.fn("FileFolder.take")(function* (from: string, key: string) {
      const target = yield* path(key)
      yield* attempt(key, "write", () =>
        make(target)
          .then(() => rename(from, target))
          .then(() => synced(dirname(target)))
      )
    }),
    read: Effect.fn("FileFolder.read")(function* (key: string) {
      const target = yield* path(key)
      return yield* existing(key, "read", (): Promise<Uint8Array> => readFile(target))
    }),
    stat: Effect.fn("FileFolder.stat")(function* (key: string) {
      const target = yield* path(key)
      const found = yield* existing(key, "stat", () => stat(target))
      return { bytes: found.size, modifiedAt: found.mtimeMs } satisfies FileStat
    }),
    remove: Effect.fn("FileFolder.remove")(function* (key: string) {
      const target = yield* path(key)
      yield* attempt(key, "remove", () => rm(target, { force: true }))
    })
  }
}
