/**
 * Stores uploaded CSVs, recordings, transcripts and documents by key: in a folder of this machine, or in a bucket.
 *
 * A file that grows, such as the recording of a call, is written to this machine's disk at the path that belongs to its key, where the next
 * process finds it. `keep` then makes it the stored file. With a folder, that path is the file's own.
 */
import { Context, Effect, Layer, type Scope, type Stream } from "effect"
import { resolve } from "node:path"
import type { FilesAway } from "#core/FilesAway.ts"
import { type FileFailed, fileFolder, type FileKeyRefused, type FileNotFound, type FileStat, readPart } from "./FileFolder.ts"
import { closeToOthers } from "./ownFiles.ts"

/** `FilesAway` occurs only with a bucket, never with a folder: the bucket does not answer, or refuses. */
type Unread = FileKeyRefused | FileNotFound | FileFailed | FilesAway

export interface OpenedFile extends FileStat {
  /** Reads from byte `from` up to, but not including, byte `until`. */
  readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown>
}

export class Files extends Context.Service<
  Files,
  {
    /** Writes the file atomically: a reader sees either the old bytes or the new ones, never a mixture. */
    readonly write: (key: string, bytes: Uint8Array) => Effect.Effect<void, FileKeyRefused | FileFailed>
    /** The local path at which `key` is written piece by piece. Neither the file nor its folder need exist. */
    readonly path: (key: string) => Effect.Effect<string, FileKeyRefused>
    /** The same, but the folder exists. */
    readonly createWriter: (key: string) => Effect.Effect<string, FileKeyRefused | FileFailed>
    /** The file written at this path, or beside it, is complete: stores it under `key`, in a way that survives a power failure. */
    readonly keep: (path: string, key: string) => Effect.Effect<void, FileKeyRefused | FileFailed>
    readonly read: (key: string) => Effect.Effect<Uint8Array, Unread>
    readonly open: (key: string) => Effect.Effect<OpenedFile, Unread>
    readonly stat: (key: string) => Effect.Effect<FileStat, Unread>
    /** A path at which the file can be read until the scope closes. */
    readonly localCopy: (key: string) => Effect.Effect<string, Unread, Scope.Scope>
    /** Succeeds if there is no such file. */
    readonly remove: (key: string) => Effect.Effect<void, FileKeyRefused | FileFailed | FilesAway>
    /** The engine's background work on its files, while no other engine has its database. */
    readonly deliver: Effect.Effect<void, never, Scope.Scope>
  }
>()("runtime/storage/Files") {
  static readonly layerLocal = (folder: string): Layer.Layer<Files> =>
    Layer.effect(Files, Effect.as(Effect.forkScoped(closeToOthers(resolve(folder))), local(resolve(folder))))
}

const local = (folder: string): Files["Service"] => {
  const { createWriter, path, read, remove, stat, take, write } = fileFolder(folder)
  return Files.of({
    write,
    path,
    createWriter,
    read,
    stat,
    remove,
    keep: Effect.fn("Files.keep")(function* (from, key) {
      if (from !== (yield* path(key))) yield* take(from, key)
    }),
    open: Effect.fn("Files.open")(function* (key) {
      const found = yield* stat(key)
      const target = yield* path(key)
      return { ...found, read: (from, until) => readPart(target, from, until) }
    }),
    localCopy: Effect.fn("Files.localCopy")((key) => Effect.andThen(stat(key), path(key))),
    deliver: Effect.void
  })
}
