/** The recordings that calls play, for the engine: remembered for a while, because a campaign's calls all open with the same one. */
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import type { Recording } from "./Recording.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import * as store from "./RecordingStore.ts"

const remembered = 1000
/** So long a recording is played on that was deleted, or is told of with its former transcript. */
const rememberedFor = Duration.minutes(1)

/** What lies under a storage key never changes. */
type PlayedRecording = Pick<Recording, "recordingId" | "storageKey" | "transcript">

export class PlayedRecordings extends Context.Service<
  PlayedRecordings,
  {
    /** Undefined: the organization has none of that name. */
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
          // What is missing may be uploaded any moment, and a database that is away comes back.
          timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? rememberedFor : Duration.zero)
        }
      )
      return { find: (organizationId, name) => found.get({ organizationId, name }) }
    })
  )
}
