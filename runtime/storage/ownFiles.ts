/** Files and folders are accessible only to the engine's own user. Those left by an earlier version are closed to other users. */
import { Effect } from "effect"
import type { Dirent } from "node:fs"
import { chmod, readdir, stat } from "node:fs/promises"
import { join } from "node:path"

export const ownFile = 0o600
export const ownFolder = 0o700
const permissions = 0o777

const attempt = <A>(act: () => Promise<A>) => Effect.tryPromise({ try: act, catch: (cause) => cause })

/** Closes a folder after its contents, so that a closed folder need not be read again, however large it is. */
const closeFolder = (folder: string): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const { mode } = yield* attempt(() => stat(folder))
    if ((mode & permissions) === ownFolder) return
    const entries = yield* attempt(() => readdir(folder, { withFileTypes: true }))
    yield* Effect.forEach(entries, (entry) => closeEntry(folder, entry), { discard: true })
    yield* attempt(() => chmod(folder, ownFolder))
  })

const closeEntry = (folder: string, entry: Dirent): Effect.Effect<void, unknown> => {
  const path = join(folder, entry.name)
  if (entry.isDirectory()) return closeFolder(path)
  return entry.isFile() ? Effect.asVoid(attempt(() => chmod(path, ownFile))) : Effect.void
}

export const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/** Closes the folder and everything below it. The folder itself is closed first, so that others are kept out at once. */
export const closeToOthers = (folder: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const folders = yield* attempt(() => readdir(folder, { withFileTypes: true }))
    yield* attempt(() => chmod(folder, ownFolder))
    yield* Effect.forEach(folders, (entry) => closeEntry(folder, entry), { discard: true })
  }).pipe(
    Effect.catch((cause) =>
      isMissing(cause) ? Effect.void : Effect.logWarning("stored files could not be closed to other users of the machine", cause)
    )
  )
