/**
 * Stores uploaded CSVs, recordings, transcripts and documents by key: in a folder of this machine, or in a bucket.
 *
 * What grows, such as the recording of a call, is written to this machine's disk at the path that belongs to its key, where the next process finds
 * it. It becomes the file with `keep`. In a folder, that path is the file's own.
 */
import { Context, Effect, Layer, type Scope, type Stream } from "effect"
import { resolve } from "node:path"
import type { FilesAway } from "#core/FilesAway.ts"
import { type FileFailed, fileFolder, type FileKeyRefused, type FileNotFound, type FileStat, readPart } from "./FileFolder.ts"
import { closeToOthers } from "./ownFiles.ts"

/** Of a bucket, never of a folder: it does not answer, or refuses. */
type Unread = FileKeyRefused | FileNotFound | FileFailed | FilesAway

export interface OpenedFile extends FileStat {
  /** Reads from the byte at `from` up to, but without, the one at `until`. */
  readonly read: (from: number, until: number) => Stream.Stream<Uint8Array, unknown>
}

export class Files extends Context.Service<
  Files,
  {
    /** Writes the file atomically: a reader sees the old bytes or the new ones, never a part. */
    readonly write: (key: string, bytes: Uint8Array) => Effect.Effect<void, FileKeyRefused | FileFailed>
    /** The local path at which `key` is written piece by piece. Neither it nor its folder need exist. */
    readonly path: (key: string) => Effect.Effect<string, FileKeyRefused>
    /** The same, in a folder that exists. */
    readonly createWriter: (key: string) => Effect.Effect<string, FileKeyRefused | FileFailed>
    /** What was written at this path, or beside it, is complete: it is the file now, and keeps its name after a loss of power. */
    readonly keep: (path: string, key: string) => Effect.Effect<void, FileKeyRefused | FileFailed>
    readonly read: (key: string) => Effect.Effect<Uint8Array, Unread>
    readonly open: (key: string) => Effect.Effect<OpenedFile, Unread>
    readonly stat: (key: string) => Effect.Effect<FileStat, Unread>
    /** A path at which the file can be read until the scope closes. */
    readonly localCopy: (key: string) => Effect.Effect<string, Unread, Scope.Scope>
    /** Succeeds when there is no such file. */
    readonly remove: (key: string) => Effect.Effect<void, FileKeyRefused | FileFailed | FilesAway>
    /** What the engine has to do in the background for its files, while no other engine has its database. */
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
