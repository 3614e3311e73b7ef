/** Port: where uploaded lists, recordings and transcripts lie. Keys that it does not know or does not like are missing. */
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"

/** For the engine's own user alone. */
const ownFile = 0o600

export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", { key: Schema.String }) {}

export interface StoredFile {
  readonly bytes: number
  /** Epoch milliseconds. */
  readonly modifiedAt: number
  /** From the byte at `from` up to, and without, the one at `until`. */
  readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown>
}

interface StagedFile {
  readonly bytes: number
  /** Puts them under their key, in the place of whatever lies there. */
  readonly keep: Effect.Effect<void>
}

/** Files under a folder of this machine. */
interface LocalFiles {
  /** Where `key` may be written; the folder is there. */
  readonly createWriter: (key: string) => Effect.Effect<string, unknown>
  readonly stat: (key: string) => Effect.Effect<{ readonly bytes: number; readonly modifiedAt: number }, { readonly _tag: string }>
  readonly path: (key: string) => Effect.Effect<string, unknown>
  readonly remove: (key: string) => Effect.Effect<void, unknown>
}

export class FileStore extends Context.Service<
  FileStore,
  {
    readonly find: (key: string) => Effect.Effect<StoredFile, FileMissing>
    /** All of `bytes` or nothing: a reader never sees a part. Returns how many they were. */
    readonly write: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<number, E>
    /** The bytes, on the disk and not yet under their key: gone with the scope, unless they were kept. */
    readonly stage: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<StagedFile, E, Scope.Scope>
    /** Succeeds when there is no such file. */
    readonly remove: (key: string) => Effect.Effect<void>
  }
>()("gateway/ports/FileStore") {
  static readonly layerLocal = (files: LocalFiles): Layer.Layer<FileStore> => Layer.succeed(FileStore, local(files))
}

const local = (files: LocalFiles): FileStore["Service"] => ({
  remove: Effect.fn("FileStore.remove")((key) => Effect.orDie(files.remove(key))),
  find: Effect.fn("FileStore.find")(function* (key) {
    const { bytes, modifiedAt } = yield* files
      .stat(key)
      .pipe(Effect.catch((error) => (error._tag === "FileFailed" ? Effect.die(error) : Effect.fail(new FileMissing({ key })))))
    const path = yield* Effect.orDie(files.path(key))
    return {
      bytes,
      modifiedAt,
      read: (from, until) =>
        until <= from
          ? Stream.empty
          : // Opened by whoever reads: nobody would close it for one who does not.
            Stream.suspend(() =>
              Stream.fromAsyncIterable<Uint8Array, unknown>(createReadStream(path, { start: from, end: until - 1 }), (error) => error)
            )
    }
  }),
  write: Effect.fn("FileStore.write")((key, bytes) =>
    Effect.scoped(Effect.flatMap(stage(files, key, bytes), (staged) => Effect.as(staged.keep, staged.bytes)))
  ),
  stage: (key, bytes) => stage(files, key, bytes)
})

const stage = Effect.fn("FileStore.stage")(function* <E>(files: LocalFiles, key: string, bytes: Stream.Stream<Uint8Array, E>) {
  const target = yield* Effect.orDie(files.createWriter(key))
  const draft = join(dirname(target), `.${randomUUID()}.part`)
  yield* Effect.addFinalizer(() => Effect.promise(() => rm(draft, { force: true })))
  const count = yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.acquireRelease(
        Effect.promise(() => open(draft, "w", ownFile)),
        (file) => Effect.promise(() => file.close())
      )
      let count = 0
      yield* Stream.runForEach(bytes, (chunk) => {
        count += chunk.byteLength
        return Effect.promise(() => file.writeFile(chunk))
      })
      yield* Effect.promise(() => file.sync())
      return count
    })
  )
  return { bytes: count, keep: Effect.promise(() => rename(draft, target)) } satisfies StagedFile
})
