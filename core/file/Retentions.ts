/** Whether, for how long and in which format an organization keeps recordings and transcripts, and their deletion on request. Runs stay. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId, RunId } from "#core/Id.ts"
import { CallKeeping } from "./CallKeeping.ts"
import { filesOfRecording } from "./RecordingFormat.ts"
import { RunNotFound } from "#core/run/Run.ts"
import { type Retention, RunNotCompleted } from "./Retention.ts"
import * as store from "./RetentionStore.ts"
import * as runs from "#core/run/RunStore.ts"

export class Retentions extends Context.Service<
  Retentions,
  {
    readonly get: (id: OrganizationId) => Effect.Effect<Retention>
    /** Undefined fields stay unchanged. */
    readonly set: (id: OrganizationId, changes: Partial<Retention>) => Effect.Effect<Retention>
    /** Deletes the recording and transcript of a call with `remove`. If that fails, the run still names its files, and the operation can be repeated. */
    readonly removeArtifacts: <E>(
      run: { readonly organizationId: OrganizationId; readonly agentId: AgentId; readonly id: RunId },
      remove: (key: string) => Effect.Effect<void, E>
    ) => Effect.Effect<void, E | RunNotFound | RunNotCompleted>
  }
>()("core/file/Retentions") {
  static readonly layer = Layer.effect(
    Retentions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keeping = yield* CallKeeping
      return Retentions.of({
        get: Effect.fn("Retentions.get")((id) => Effect.orDie(store.find(sql, id))),
        // The cache is cleared even if the client that made the change is gone.
        set: Effect.fn("Retentions.set")((id, changes) =>
          Effect.uninterruptible(Effect.andThen(Effect.orDie(store.put(sql, id, changes)), keeping.changed)).pipe(
            Effect.andThen(Effect.orDie(store.find(sql, id)))
          )
        ),
        removeArtifacts: Effect.fn("Retentions.removeArtifacts")(function* ({ agentId, id, organizationId }, remove) {
          const run = yield* Effect.orDie(runs.find(sql, organizationId, agentId, id))
          if (run === undefined) return yield* new RunNotFound({ id })
          if (!run.isCompleted) return yield* new RunNotCompleted({ id })
          const recorded = run.recordingKey === undefined ? [] : filesOfRecording(run.recordingKey)
          const written = run.transcriptKey === undefined ? [] : [run.transcriptKey]
          yield* Effect.forEach([...recorded, ...written], remove, { discard: true })
          for (const kind of store.artifactKinds) yield* Effect.orDie(store.forget(sql, organizationId, kind, [id]))
        })
      })
    })
  )
}
