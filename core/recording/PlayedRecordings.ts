/** The recordings that calls play, cached for a while, because all calls of a campaign open with the same one. */
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import type { Recording } from "./Recording.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import * as store from "./RecordingStore.ts"

const remembered = 1000
/** How long a deleted recording may still be played, and an old transcript still be used. */
const rememberedFor = Duration.minutes(1)

/** The bytes under a storage key never change. */
type PlayedRecording = Pick<Recording, "recordingId" | "storageKey" | "transcript">

export class PlayedRecordings extends Context.Service<
  PlayedRecordings,
  {
    /** Undefined when the organization has no recording of that name. */
    readonly find: (organizationId: OrganizationId, name: RecordingName) => Effect.Effect<PlayedRecording | undefined>
  }
>()("core/recording/PlayedRecordings") {
  static readonly layer = Layer.effect(
    PlayedRecordings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const found = yield* SteadyCache.make(
        ({ name, organizationId }: { readonly organizationId: OrganizationId; readonly name: RecordingName }) =>
          Effect.orDie(store.find(sql, organizationId, name)),
        {
          capacity: remembered,
          // Nothing else is cached: a missing recording may be uploaded at any moment, and the database may come back.
          timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? rememberedFor : Duration.zero)
        }
      )
      return { find: (organizationId, name) => found.get({ organizationId, name }) }
    })
  )
}
