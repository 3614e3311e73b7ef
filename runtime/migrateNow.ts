/** `npm run migrate` expands the schema as far as a running engine allows, and exits. Starting the engine does the same. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { Config } from "./config/config.ts"
import * as postgres from "./postgres/postgres.ts"
import * as telemetry from "./metrics/telemetry.ts"

Effect.gen(function* () {
  const { left } = yield* postgres.Migrations
  if (left.length === 0) return yield* Effect.logInfo("schema is up to date")
  const files = left.map(({ file }) => file).join(", ")
  yield* Effect.logInfo("schema is expanded, and the next engine that has the database to itself contracts it").pipe(
    Effect.annotateLogs({ files })
  )
}).pipe(Effect.provide(postgres.layer.pipe(Layer.provideMerge(telemetry.layer), Layer.provide(Config.layer))), NodeRuntime.runMain)
