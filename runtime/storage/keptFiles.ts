/** Stores the files that calls leave behind, and counts them for their organizations. */
import { Duration, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import { CallFiles } from "./CallFiles.ts"
import { Files } from "./Files.ts"
import { StorageRoom } from "./StorageRoom.ts"

// A hanging disk must not hold up a call's actor.
const storeTimeout = Duration.seconds(10)

/** Undefined, and logged, if the file could not be stored in time. */
const stored = <E>(key: string, write: Effect.Effect<unknown, E>): Effect.Effect<string | undefined> =>
  write.pipe(
    Effect.timeout(storeTimeout),
    Effect.as(key),
    Effect.catchCause((cause) => Effect.as(Effect.logError("a file of a call could not be stored", cause), undefined)),
    Effect.annotateLogs({ key })
  )

export const makeKeptFiles = Effect.gen(function* () {
  const files = yield* Files
  const names = yield* CallFiles
  const room = yield* StorageRoom

  /** Adds the size of the file, if it exists, to the organization's storage. */
  const counted = (organizationId: OrganizationId) => (key: string | undefined) =>
    key === undefined
      ? Effect.undefined
      : files.stat(key).pipe(
          Effect.map(({ bytes }) => room.kept({ organizationId, key, bytes })),
          Effect.ignore,
          Effect.as(key)
        )

  const keep = (organizationId: OrganizationId, key: string, write: Effect.Effect<unknown, unknown>) =>
    Effect.flatMap(stored(key, write), counted(organizationId))

  const keepTranscript = ({ organizationId, runId }: { readonly organizationId: OrganizationId; readonly runId: number }, text: string) => {
    const key = names.transcript(runId)
    return keep(organizationId, key, files.write(key, new TextEncoder().encode(text)))
  }

  return { counted, keep, keepTranscript, files, names, room }
})
