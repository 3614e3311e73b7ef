/** /api/v1/health */
import { Effect } from "effect"
import { NotReady } from "../Refusal.ts"
import { Readiness } from "../Readiness.ts"
import { route, tagged } from "../Route.ts"
import { Site } from "../Site.ts"
import { HealthWire, ReadyWire } from "../wire/Health.ts"

export const healthRoutes = tagged("Health", [
  route({
    method: "get",
    path: "/api/v1/health",
    name: "getHealth",
    summary: "What answers here",
    access: "none",
    success: HealthWire,
    handle: () =>
      Effect.flatMap(Site, (site) =>
        Effect.map(site.url, (url) => ({
          status: "ok" as const,
          version: site.version,
          backend_api_endpoint: url,
          deployment_mode: "oss" as const,
          auth_provider: "local" as const
        }))
      )
  }),
  route({
    method: "get",
    path: "/api/v1/health/ready",
    name: "getReadiness",
    summary: "Whether it can do its work",
    access: "none",
    description: "503 while the database does not answer. A trunk that is down stops its own campaigns only, and is listed.",
    success: ReadyWire,
    errors: ["NotReady"],
    handle: () =>
      Effect.gen(function* () {
        const readiness = yield* Readiness
        if (!(yield* readiness.postgres)) return yield* new NotReady({ detail: "The database does not answer" })
        const trunks = yield* readiness.trunks
        return {
          status: "ready" as const,
          postgres: "up" as const,
          trunks: trunks.map(({ isUp, provider, reason, telephonyConfigurationId }) => ({
            telephony_configuration_id: telephonyConfigurationId,
            provider,
            status: isUp ? ("up" as const) : ("down" as const),
            reason
          }))
        }
      })
  })
])
