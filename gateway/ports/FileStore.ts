/** Port: the store of uploaded lists, recordings and transcripts. Unknown and invalid keys count as missing. */
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Only the engine's own user may read and write the file. */
const ownFile = 0o600

export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", { key: Schema.String }) {}

export interface StoredFile {
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Reads from the byte at `from` up to, but without, the one at `until`. */
  readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown>
}

interface StagedFile {
  readonly bytes: number
  /** Stores the bytes under their key, and replaces what is there. */
  readonly keep: Effect.Effect<void>
}

/** Files in a folder of this machine. */
interface LocalFiles {
  /** The path to write `key` to, in a folder that exists. */
  readonly createWriter: (key: string) => Effect.Effect<string, unknown>
  readonly stat: (key: string) => Effect.Effect<{ readonly bytes: number; readonly modifiedAt: number }, { readonly _tag: string }>
  readonly path: (key: string) => Effect.Effect<string, unknown>
  readonly remove: (key: string) => Effect.Effect<void, unknown>
}

export class FileStore extends Context.Service<
  FileStore,
  {
    readonly find: (key: string) => Effect.Effect<StoredFile, FileMissing>
    /** Writes all bytes or none: a reader never sees a part. Returns their number. */
    readonly write: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<number, E>
    /** Writes the bytes to disk, but not yet under their key. They are deleted with the scope unless they were kept. */
    readonly stage: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<StagedFile, E, Scope.Scope>
    /** Also succeeds if there is no such file. */
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
          : // The reader opens the file: if nothing is read, there is nothing to close.
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
