/** /api/v1/health */
import { Effect } from "effect"
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
  summary: "Metrics of this node for Prometheus",
  access: "none",
  description:
    "Counts and measures of calls, requests, connections and the process; nothing about any organization. 404 unless `METRICS` is `on`: with `local`, they are at a port of this machine that the start tells.",
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
    summary: "What answers here",
    access: "none",
    success: HealthWire,
    handle: () =>
      Effect.gen(function* () {
        const site = yield* ServerInfo
        const { isSignupOpen } = yield* Users
        return {
          status: "ok" as const,
          version: site.version,
          backend_api_endpoint: yield* site.url,
          deployment_mode: "oss" as const,
          auth_provider: "local" as const,
          signup_enabled: isSignupOpen,
          turn_enabled: false as const,
          force_turn_relay: false as const,
          tunnel_url: null
        }
      })
  }),
  route({
    method: "get",
    path: "/api/v1/health/ready",
    name: "getReadiness",
    summary: "Whether it can do its work",
    access: "none",
    description:
      "503 while the database does not answer, or is not certain to be this engine's alone, or while the engine cannot write the journal of what it dials to its own disk. A trunk that is down, or not connected yet, stops its own campaigns only. Trunks are opened by the first call through them; an organization reads at `/api/v1/organizations/telephony-trunks` what keeps its own down.",
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
        return { status: "ready" as const, postgres: "up" as const, redis: "not_used" as const, trunks }
      })
  }),
  metricsRoute
])
