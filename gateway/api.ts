/** The whole API: its routes, and the server that serves them. */
import { Context, Effect, Layer } from "effect"
import type { Agents } from "#core/agent/Agents.ts"
import type { Calls } from "#core/call/Calls.ts"
import type { Campaigns } from "#core/campaign/Campaigns.ts"
import type { Uploads } from "#core/campaign/Uploads.ts"
import type { ApiKeys } from "#core/organization/ApiKeys.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { Registry } from "#core/provider/Registry.ts"
import type { Runs } from "#core/run/Runs.ts"
import type { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { endpointOf } from "./answer.ts"
import type { FileLinks } from "./FileLinks.ts"
import type { FileStore } from "./FileStore.ts"
import type { Readiness } from "./Readiness.ts"
import type { Route } from "./Route.ts"
import type { RunOwners } from "./RunOwners.ts"
import { callRoutes } from "./routes/call.ts"
import { campaignRoutes } from "./routes/campaign.ts"
import { documentRoutes } from "./routes/document.ts"
import { fileRoutes } from "./routes/file.ts"
import { healthRoutes } from "./routes/health.ts"
import { runRoutes } from "./routes/run.ts"
import { telephonyRoutes } from "./routes/telephony.ts"
import { workflowRoutes } from "./routes/workflow.ts"
import { Gateway, layer as serverLayer, type Limits, type ListenFailed } from "./server.ts"
import { Site } from "./Site.ts"

/** What the handlers of the API stand on. */
export type ApiNeeds = Agents | Calls | Campaigns | FileLinks | FileStore | Readiness | RunOwners | Runs | Site | TelephonyConfigs | Uploads

export const apiRoutes = (adapters: ReadonlyArray<Adapter>): ReadonlyArray<Route<ApiNeeds>> => {
  const routes = [
    ...campaignRoutes,
    ...workflowRoutes,
    ...runRoutes,
    ...callRoutes,
    ...telephonyRoutes(adapters),
    ...fileRoutes,
    ...healthRoutes
  ]
  return [...routes, ...documentRoutes(routes)]
}
export interface GatewayOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly limits?: Partial<Limits>
  /** Whether every answer is held against its own schema; one that does not fit becomes a 500. For tests. */
  readonly checksAnswers?: boolean
}

/** Serves these routes, and tells the site on which port. */
export const serve = <R>(
  routes: ReadonlyArray<Route<R>>,
  { checksAnswers = false, ...options }: GatewayOptions
): Layer.Layer<Gateway, ListenFailed, R | ApiKeys | Site> =>
  serverLayer({ ...options, endpoints: routes.map((route) => endpointOf(route, { checksAnswers })) }).pipe(
    Layer.tap((context) => Site.use((site) => site.listensOn(Context.get(context, Gateway).port)))
  )

export const layer = (options: GatewayOptions): Layer.Layer<Gateway, ListenFailed, ApiNeeds | ApiKeys | Site | Registry> =>
  Layer.unwrap(Effect.map(Registry, ({ all }) => serve(apiRoutes(all), options)))
