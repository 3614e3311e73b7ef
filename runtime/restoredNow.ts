/**
 * `npm run restored`, before the first start on a database restored from a backup: pauses all running campaigns, and skips the run numbers that
 * may have been lost. An engine notices by itself that a database is a different one, or on another timeline, but not that its files were put
 * back.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { pauseRestored } from "#core/call/LostAttempts.ts"
import { skipRestored } from "#core/run/RunNumbers.ts"
import { Config } from "./config/config.ts"
import * as telemetry from "./metrics/telemetry.ts"
import { DatabaseServer } from "./postgres/DatabaseServer.ts"
import { lockStore } from "./postgres/LockStore.ts"
import * as postgres from "./postgres/postgres.ts"

class EngineRuns extends Schema.TaggedError<EngineRuns>()("EngineRuns", {}) {
  override get message(): string {
    return "An engine runs on this database: stop it first, because it may be calling people again"
  }
}

Effect.gen(function* () {
  const server = yield* DatabaseServer
  const lock = lockStore(yield* server.session({ applicationName: "trunkline restored" }))
  if (!(yield* lock.tryLock)) return yield* new EngineRuns()
  const sql = yield* SqlClient.SqlClient
  yield* skipRestored(sql)
  const campaigns = yield* pauseRestored(sql)
  yield* Console.log(
    campaigns === 0
      ? "No campaign was running."
      : `${campaigns === 1 ? "1 campaign is" : `${campaigns} campaigns are`} paused, with an entry in the log.`
  )
}).pipe(
  Effect.scoped,
  Effect.provide(postgres.layer.pipe(Layer.provideMerge(telemetry.layer), Layer.provide(Config.layer))),
  // What the settings or the connection lack is an error of the layer.
  Effect.tapError((error) => Console.error(error.message)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
