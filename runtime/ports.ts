/** The gateway's ports as this node implements them: readiness, ownership of runs, file storage, allowed hosts and origins, and metrics. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TurnServers } from "#core/call/TurnServers.ts"
import { owns } from "#core/run/RunStore.ts"
import { AllowedHosts, AllowedOrigins, hostsOf } from "#gateway/http/admission.ts"
import { MetricsText } from "#gateway/ports/MetricsText.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { CurrentHttpMetrics } from "#gateway/ports/HttpMetrics.ts"
import { MetricsServer } from "#gateway/metricsServer.ts"
import { Readiness } from "#gateway/ports/Readiness.ts"
import { CurrentRequestTraces } from "#gateway/ports/RequestTraces.ts"
import { RunOwners } from "#gateway/ports/RunOwners.ts"
import { turnCredentials } from "./browser/iceServers.ts"
import { CallSupervisor } from "./call/CallSupervisor.ts"
import { Config } from "./config/config.ts"
import { LocalJournal } from "./journal/LocalJournal.ts"
import { Charge } from "./lock/Charge.ts"
import { DeciderMetrics } from "./metrics/DeciderMetrics.ts"
import { metricsText } from "./metrics/metrics.ts"
import { answers, DatabaseTrouble } from "./postgres/postgres.ts"
import { Redis } from "./redis/Redis.ts"
import { Started } from "./process/Started.ts"
import { Files } from "./storage/Files.ts"
import { CurrentTraces } from "./trace/Traces.ts"
import { TrunkPool, whyDown, wordsFor } from "./trunk/TrunkPool.ts"
import { MediaRoom } from "./voice/MediaRoom.ts"

const redisWords = { Off: "not_used", Up: "up", Down: "down" } as const

const readiness = Layer.effect(
  Readiness,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const pool = yield* TrunkPool
    const known = yield* DatabaseTrouble
    const { deciderAt, isTaken, mayDial } = yield* Charge
    const journal = yield* LocalJournal
    const started = yield* Started
    const redis = yield* Redis
    return {
      obstacle: Effect.sync(() => {
        if (!started.isFinished()) return "The engine is starting"
        const failure = journal.failure()
        return failure === undefined ? undefined : `The local journal cannot be written: ${failure}`
      }),
      databaseTrouble: answers(sql).pipe(
        Effect.map(() => {
          if (isTaken()) return mayDial() ? undefined : "The engine is stopping, or does not have the lock of its database"
          return deciderAt() === undefined ? "No engine is in charge at the moment" : undefined
        }),
        Effect.catch(() => Effect.succeed(known() ?? "The database does not answer"))
      ),
      redis: Effect.sync(() => redisWords[redis.state()._tag]),
      trunks: Effect.sync(() =>
        pool.all().map((trunk) => ({
          endpoints: trunk.endpoints().map((endpoint) => ({
            isUp: endpoint.status._tag === "Up",
            name: endpoint.name,
            reason: wordsFor(endpoint.status) ?? endpoint.trouble ?? null
          })),
          isUp: trunk.status()._tag === "Up",
          provider: trunk.adapter.manifest.provider,
          reason: whyDown(trunk) ?? null,
          telephonyConfigurationId: trunk.configurationId
        }))
      )
    }
  })
)

const runOwners = Layer.effect(
  RunOwners,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    owns: (organizationId, id) => Effect.orDie(owns(sql, organizationId, id))
  }))
)

const fileStore = Layer.unwrap(Effect.map(Files, FileStore.layerOf))

/** The node's metrics as text, shared by the ports that serve them. */
class Metrics extends Context.Service<Metrics, { readonly read: Effect.Effect<string> | undefined }>()("runtime/Metrics") {}

const metrics = Layer.effect(
  Metrics,
  Effect.gen(function* () {
    const calls = yield* CallSupervisor
    const decider = yield* DeciderMetrics
    const pool = yield* TrunkPool
    const http = yield* CurrentHttpMetrics
    const media = yield* MediaRoom
    const read = yield* metricsText({
      decider: decider.read,
      liveCalls: calls.live,
      media: media.metrics,
      trunks: () => pool.all().map((trunk) => trunk.status()._tag === "Up"),
      endpoints: () => pool.all().flatMap((trunk) => trunk.endpoints().map(({ status }) => status._tag === "Up")),
      routes: () => http.all()
    })
    return { read }
  })
)

const toAnybody = Layer.effect(
  MetricsText,
  Effect.gen(function* () {
    const { read } = yield* Metrics
    return (yield* Config).metrics === "on" ? read : undefined
  })
).pipe(Layer.provide(metrics))

const toThisMachine = Layer.effect(
  MetricsText,
  Effect.map(Metrics, ({ read }) => read)
).pipe(Layer.provide(metrics))

/** Serves the metrics to programs on this machine, if the settings say so. */
export const metricsServer = Layer.unwrap(
  Effect.map(Config, (settings) =>
    settings.metrics === "local" ? MetricsServer.layer(settings.metricsPort).pipe(Layer.provide(toThisMachine)) : MetricsServer.layerNone
  )
)

/** The host names that requests may be sent to, and the origins whose pages may read the answers. */
export const admission = Layer.unwrap(
  Effect.map(Config, ({ corsOrigins, host, mediaUrl, publicUrl }) =>
    Layer.mergeAll(
      Layer.succeed(
        AllowedHosts,
        hostsOf([host, ...[publicUrl, mediaUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]))])
      ),
      Layer.succeed(AllowedOrigins, corsOrigins.includes("*") ? undefined : new Set(corsOrigins))
    )
  )
)

/** The operator's TURN servers. */
export const turnServers = Layer.effect(
  TurnServers,
  Effect.map(Config, (settings) => ({
    isSet: settings.turnUrls !== undefined,
    credentials: (user: string, now: number) => turnCredentials(settings, user, now)
  }))
)

/** Requests are traced like everything else. */
export const requestTraces = Layer.effect(CurrentRequestTraces, CurrentTraces)

export const layer = Layer.mergeAll(toAnybody, readiness, runOwners, fileStore)
