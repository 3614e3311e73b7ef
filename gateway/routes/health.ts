/** /api/v1/health */
import { Effect } from "effect"
import { TurnServers } from "#core/call/TurnServers.ts"
import { Users } from "#core/organization/Users.ts"
import { MetricsText } from "#gateway/ports/MetricsText.ts"
import { NotFound, NotReady } from "#gateway/request/Refusal.ts"
import { Readiness } from "#gateway/ports/Readiness.ts"
import { download, route, tagged } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { HealthWire, ReadyWire, trunkCounts } from "#gateway/wire/Health.ts"

export const metricsRoute = download({
  method: "get",
  path: "/metrics",
  name: "getMetrics",
  summary: "Read this node's metrics for Prometheus",
  access: "none",
  answeredBy: "this",
  description:
    "Metrics of calls, requests, connections and the process; none about a particular organization. 404 unless `METRICS` is `on`: with `local`, they are served on a port of 127.0.0.1 that the engine prints at its start.",
  mediaTypes: ["text/plain"],
  errors: ["NotFound"],
  handle: () =>
    Effect.gen(function* () {
      const metricsText = yield* MetricsText
      if (metricsText === undefined) return yield* new NotFound({ detail: "Not Found" })
      return { mediaType: "text/plain; version=0.0.4; charset=utf-8", body: yield* metricsText }
    })
})

export const healthRoutes = tagged({ name: "Health", about: "Whether this node works, and how busy it is." }, [
  route({
    method: "get",
    path: "/api/v1/health",
    name: "getHealth",
    summary: "Read version and features",
    description:
      "Answers whenever the engine does, ready or not, without asking the database. Whether it can place calls is told by `/api/v1/health/ready`.",
    access: "none",
    answeredBy: "this",
    success: HealthWire,
    handle: () =>
      Effect.gen(function* () {
        const site = yield* ServerInfo
        const { isSignupOpen } = yield* Users
        const { isSet } = yield* TurnServers
        return {
          status: "ok" as const,
          version: site.version,
          backend_api_endpoint: yield* site.url,
          deployment_mode: "oss" as const,
          auth_provider: "local" as const,
          signup_enabled: isSignupOpen,
          turn_enabled: isSet,
          force_turn_relay: false as const,
          tunnel_url: null
        }
      })
  }),
  route({
    method: "get",
    path: "/api/v1/health/ready",
    name: "getReadiness",
    summary: "Check whether the node is ready",
    access: "none",
    answeredBy: "this",
    description:
      "503 while the engine is starting, while the database does not answer, while no engine is certain to be the one that decides, or while the engine cannot write its journal of dialed calls to its own disk. A trunk that is down or not yet connected stops only its own campaigns. A trunk is opened by the first call through it; `/api/v1/organizations/telephony-trunks` tells an organization why its own are down.",
    success: ReadyWire,
    errors: ["NotReady"],
    handle: () =>
      Effect.gen(function* () {
        const readiness = yield* Readiness
        const detail = yield* readiness.databaseTrouble
        if (detail !== undefined) return yield* new NotReady({ detail })
        const obstacle = yield* readiness.obstacle
        if (obstacle !== undefined) return yield* new NotReady({ detail: obstacle })
        const trunks = trunkCounts(yield* readiness.trunks)
        return { status: "ready" as const, postgres: "up" as const, redis: yield* readiness.redis, trunks }
      })
  }),
  metricsRoute
])
