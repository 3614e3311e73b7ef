/** Port: the store of uploaded lists, recordings, transcripts and documents. Unknown and invalid keys count as missing. */
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { open, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { FilesAway } from "#core/FilesAway.ts"

/** Only the engine's own user may read and write the file. */
const ownFile = 0o600

export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", { key: Schema.String }) {}

export interface StoredFile {
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Reads from the byte at `from`, inclusive, to the one at `until`, exclusive. */
  readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown>
}

interface StagedFile {
  readonly bytes: number
  /** Stores the bytes under their key, and replaces what is there. */
  readonly keep: Effect.Effect<void>
}

/** Besides `FilesAway`: `FileFailed` is a disk failure; any other tag means that there is no such file. */
type FileTrouble = FilesAway | { readonly _tag: string }

/** The node's files. */
interface NodeFiles {
  /** The path to write `key` to, on this machine and in a folder that exists. */
  readonly createWriter: (key: string) => Effect.Effect<string, unknown>
  /** What was written at `path`, or beside it, becomes the file. */
  readonly keep: (path: string, key: string) => Effect.Effect<void, unknown>
  readonly open: (key: string) => Effect.Effect<StoredFile, FileTrouble>
  readonly remove: (key: string) => Effect.Effect<void, FileTrouble>
}

export class FileStore extends Context.Service<
  FileStore,
  {
    readonly find: (key: string) => Effect.Effect<StoredFile, FileMissing | FilesAway>
    /** Writes all bytes or none: a reader never sees a part. Returns their number. */
    readonly write: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<number, E>
    /** Writes the bytes to disk, but not yet under their key. They are deleted with the scope unless they were kept. */
    readonly stage: <E>(key: string, bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<StagedFile, E, Scope.Scope>
    /** Also succeeds if there is no such file. */
    readonly remove: (key: string) => Effect.Effect<void, FilesAway>
  }
>()("gateway/ports/FileStore") {
  static readonly layerOf = (files: NodeFiles): Layer.Layer<FileStore> => Layer.succeed(FileStore, storeOf(files))
}

// TypeScript does not narrow by a tag that may be any string.
const isAway = (error: FileTrouble): error is FilesAway => error._tag === "FilesAway"

const storeOf = (files: NodeFiles): FileStore["Service"] => ({
  remove: Effect.fn("FileStore.remove")((key) =>
    Effect.catch(files.remove(key), (error): Effect.Effect<never, FilesAway> => (isAway(error) ? Effect.fail(error) : Effect.die(error)))
  ),
  find: Effect.fn("FileStore.find")((key) =>
    Effect.catch(files.open(key), (error): Effect.Effect<never, FileMissing | FilesAway> => {
      if (isAway(error)) return Effect.fail(error)
      return error._tag === "FileFailed" ? Effect.die(error) : Effect.fail(new FileMissing({ key }))
    })
  ),
  write: Effect.fn("FileStore.write")((key, bytes) =>
    Effect.scoped(Effect.flatMap(stage(files, key, bytes), (staged) => Effect.as(staged.keep, staged.bytes)))
  ),
  stage: (key, bytes) => stage(files, key, bytes)
})

const stage = Effect.fn("FileStore.stage")(function* <E>(files: NodeFiles, key: string, bytes: Stream.Stream<Uint8Array, E>) {
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
  return { bytes: count, keep: Effect.orDie(files.keep(draft, key)) } satisfies StagedFile
})
