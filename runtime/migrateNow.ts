/** `npm run migrate` brings the schema up to date and exits. Starting the engine does the same. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { Config } from "./config/config.ts"
import * as postgres from "./postgres/postgres.ts"
import * as telemetry from "./metrics/telemetry.ts"

Effect.logInfo("schema is up to date").pipe(
  Effect.provide(postgres.layer.pipe(Layer.provideMerge(telemetry.layer), Layer.provide(Config.layer))),
  NodeRuntime.runMain
)
