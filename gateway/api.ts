/** The whole API: its routes, and the server that serves them. */
import { Clock, Context, Effect, Layer } from "effect"
import type * as uws from "uWebSockets.js"
import type { Agents } from "#core/agent/Agents.ts"
import type { AgentTests } from "#core/agent/regression/AgentTests.ts"
import type { BrowserCalls } from "#core/call/BrowserCalls.ts"
import type { BrowserRuns } from "#core/call/BrowserRuns.ts"
import type { Calls } from "#core/call/Calls.ts"
import type { Campaigns } from "#core/campaign/Campaigns.ts"
import type { Folders } from "#core/folder/Folders.ts"
import type { Events } from "#core/event/Events.ts"
import type { LiveEvents } from "#core/event/LiveEvents.ts"
import type { LiveFeedback } from "#core/run/LiveFeedback.ts"
import type { NodeLinks } from "#core/node/NodeLinks.ts"
import type { NodeWebhooks } from "#core/webhook/NodeWebhooks.ts"
import type { WebhookEndpoints } from "#core/webhook/WebhookEndpoints.ts"
import type { OptOuts } from "#core/contact/OptOuts.ts"
import type { Idempotency } from "#core/Idempotency.ts"
import type { Retentions } from "#core/file/Retentions.ts"
import type { Engines } from "#core/node/Engines.ts"
import type { LinkMakers } from "#core/organization/LinkMakers.ts"
import type { Uploads } from "#core/file/Uploads.ts"
import { HeavyLanes } from "#core/load/HeavyWork.ts"
import type { Network } from "#core/egress/Network.ts"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { RequestRates } from "#core/organization/RequestRates.ts"
import { SharedBudgets } from "#core/organization/SharedBudgets.ts"
import type { Accounts } from "#core/services/accounts.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { Registry } from "#core/provider/Registry.ts"
import type { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import type { Resources } from "#core/services/resources.ts"
import type { Reports } from "#core/report/Reports.ts"
import type { Runs } from "#core/run/Runs.ts"
import type { TextChats } from "#core/chat/TextChats.ts"
import type { NumberImports } from "#core/telephony/NumberImports.ts"
import type { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import type { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import type { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import type { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { endpointOf, type GatewayNeeds } from "./request/stages.ts"
import { proxiesOf } from "./http/Client.ts"
import type { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import type { CarrierMedia } from "#core/provider/CarrierMedia.ts"
import { carrierEndpoints } from "./carrierCallbacks.ts"
import { Closing } from "./http/Closing.ts"
import type { Endpoint } from "./http/Endpoint.ts"
import { passing } from "./http/passing.ts"
import type { FileLinks } from "./file/FileLinks.ts"
import type { FileStore } from "./ports/FileStore.ts"
import { mountSignaling } from "./browser/signaling.ts"
import { LiveFigures } from "./events/LiveFigures.ts"
import { mountLiveEvents } from "./events/liveEvents.ts"
import { DecidingEngine } from "#core/node/DecidingEngine.ts"
import type { Readiness } from "./ports/Readiness.ts"
import type { Route } from "./request/Route.ts"
import type { RunOwners } from "./ports/RunOwners.ts"
import { accountRoutes } from "./routes/account.ts"
import { apiKeyRoutes } from "./routes/apiKey.ts"
import { auditLogRoutes } from "./routes/auditLog.ts"
import { browserCallRoutes } from "./routes/browserCall.ts"
import { callRoutes } from "./routes/call.ts"
import { campaignRoutes } from "./routes/campaign.ts"
import { contactRoutes } from "./routes/contact.ts"
import { credentialRoutes } from "./routes/credential.ts"
import { consoleRoutes } from "./routes/console.ts"
import { documentRoutes } from "./routes/document.ts"
import { downloadRoutes } from "./routes/download.ts"
import { eventRoutes } from "./routes/event.ts"
import { fileRoutes } from "./routes/file.ts"
import { folderRoutes } from "./routes/folder.ts"
import { healthRoutes } from "./routes/health.ts"
import { invitationRoutes } from "./routes/invitation.ts"
import { knowledgeRoutes } from "./routes/knowledge.ts"
import { modelConfigurationRoutes } from "./routes/modelConfiguration.ts"
import { nodeTypeRoutes } from "./routes/nodeType.ts"
import { nodeWebhookRoutes } from "./routes/nodeWebhook.ts"
import { notHereRoutes } from "./routes/notHere.ts"
import { operatorRoutes } from "./routes/operator.ts"
import { carrierNumberRoutes } from "./routes/carrierNumber.ts"
import { phoneNumberRoutes } from "./routes/phoneNumber.ts"
import { engineRoutes } from "./routes/engine.ts"
import { quotaRoutes } from "./routes/quota.ts"
import { recordingRoutes } from "./routes/recording.ts"
import { resourceUploadRoutes } from "./routes/resourceUpload.ts"
import { optOutRoutes } from "./routes/optOut.ts"
import { organizationRoutes } from "./routes/organization.ts"
import { reportRoutes } from "./routes/report.ts"
import { runRoutes } from "./routes/run.ts"
import { servicePriceRoutes } from "./routes/servicePrice.ts"
import { sessionRoutes } from "./routes/session.ts"
import { telephonyRoutes } from "./routes/telephony.ts"
import { textChatRoutes } from "./routes/textChat.ts"
import { toolRoutes } from "./routes/tool.ts"
import { userConfigurationRoutes } from "./routes/userConfiguration.ts"
import { usageRoutes } from "./routes/usage.ts"
import { webhookRoutes } from "./routes/webhook.ts"
import { workflowRoutes } from "./routes/workflow.ts"
import { workflowTestRoutes } from "./routes/workflowTest.ts"
import { workflowVersionRoutes } from "./routes/workflowVersion.ts"
import type { ListenFailed } from "./http/listening.ts"
import { mountMediaSockets } from "./http/mediaSockets.ts"
import { mountNodeLinks } from "./http/nodeLinks.ts"
import type { Limits } from "./http/Limits.ts"
import { Gateway } from "./http/Gateway.ts"
import { layer as serverLayer } from "./http/server.ts"
import { makeShedding, type Shedding } from "./request/shedding.ts"
import { ServerInfo } from "./ports/ServerInfo.ts"

/** The services that the API's handlers need. */
type ApiNeeds =
  | Accounts
  | Agents
  | AgentTests
  | BrowserCalls
  | BrowserRuns
  | Calls
  | Campaigns
  | CarrierCallbacks
  | CarrierMedia
  | Closing
  | Engines
  | Events
  | FileLinks
  | FileStore
  | Folders
  | Idempotency
  | LiveEvents
  | LiveFeedback
  | LiveFigures
  | NodeLinks
  | NodeWebhooks
  | NumberImports
  | OptOuts
  | PhoneNumbers
  | Readiness
  | Reports
  | Resources
  | RunOwners
  | Runs
  | ServerInfo
  | ServiceRegistry
  | TelephonyConfigs
  | TelephonyPreparations
  | TelephonyTests
  | TextChats
  | LinkMakers
  | Retentions
  | Uploads
  | WebhookEndpoints

export const apiRoutes = (adapters: ReadonlyArray<Adapter>): ReadonlyArray<Route<ApiNeeds>> => {
  const routes = [
    ...campaignRoutes,
    ...contactRoutes,
    ...optOutRoutes,
    ...workflowRoutes,
    ...workflowVersionRoutes,
    ...workflowTestRoutes,
    ...nodeTypeRoutes,
    ...folderRoutes,
    ...runRoutes,
    ...textChatRoutes,
    ...nodeWebhookRoutes,
    ...reportRoutes,
    ...usageRoutes,
    ...callRoutes,
    ...browserCallRoutes,
    ...telephonyRoutes(adapters),
    ...phoneNumberRoutes,
    ...carrierNumberRoutes,
    ...fileRoutes,
    ...downloadRoutes,
    ...toolRoutes,
    ...credentialRoutes,
    ...recordingRoutes,
    ...knowledgeRoutes,
    ...resourceUploadRoutes,
    ...accountRoutes,
    ...sessionRoutes,
    ...apiKeyRoutes,
    ...organizationRoutes,
    ...quotaRoutes,
    ...engineRoutes,
    ...servicePriceRoutes,
    ...invitationRoutes,
    ...userConfigurationRoutes,
    ...modelConfigurationRoutes,
    ...auditLogRoutes,
    ...eventRoutes,
    ...webhookRoutes,
    ...operatorRoutes,
    ...notHereRoutes,
    ...consoleRoutes,
    ...healthRoutes
  ]
  return [...routes, ...documentRoutes(routes)]
}
export interface GatewayOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Whether any free port will do while this one is taken. */
  readonly mayWait?: boolean
  readonly limits?: Partial<Limits>
  /** Proxies whose `X-Forwarded-For` is trusted; without them, none. */
  readonly trustedProxies?: ReadonlyArray<Network>
  /** Whether every answer is checked against its own schema; one that does not fit becomes a 500. For tests. */
  readonly checksAnswers?: boolean
  /**
   * Whether the clients that request the most are refused while the thread is overloaded; see core/load/LoadShedding.ts. By default, they are.
   */
  readonly shedsLoad?: boolean
}

/** Serves these routes, and reports the port to `ServerInfo`. */
export const serve = <R>(
  routes: ReadonlyArray<Route<R>>,
  { checksAnswers = false, shedsLoad = true, ...options }: GatewayOptions,
  mount?: (app: uws.TemplatedApp, rates: RequestRates, shedding: Shedding) => Effect.Effect<void, never, R | GatewayNeeds>,
  undocumented: ReadonlyArray<Endpoint<R>> = []
): Layer.Layer<Gateway, ListenFailed, Exclude<R, Closing> | GatewayNeeds | ServerInfo> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { remembered } = yield* ApiKeys
      const lanes = yield* HeavyLanes
      const rates = new RequestRates(yield* Clock.Clock, yield* SharedBudgets)
      const shedding = shedsLoad ? yield* makeShedding(remembered) : { refusal: () => undefined }
      const deciding = yield* DecidingEngine
      const documented = routes.map((route) =>
        passing(endpointOf(route, { checksAnswers, lanes, rates, remembered, shedding }), route.answeredBy, deciding)
      )
      return serverLayer({
        ...options,
        mount: mount && ((app) => mount(app, rates, shedding)),
        endpoints: [...documented, ...undocumented]
      })
    })
  ).pipe(
    Layer.tap((context) => ServerInfo.use((site) => site.listensOn(Context.get(context, Gateway).port))),
    Layer.provide(Closing.layer)
  )

export const layer = (
  options: GatewayOptions
): Layer.Layer<Gateway, ListenFailed, Exclude<ApiNeeds, Closing | LiveFigures> | GatewayNeeds | ServerInfo | Registry> =>
  Layer.unwrap(
    Effect.map(Registry, ({ all }) => {
      const signed = all.flatMap(({ callbackHeaders = [] }) => callbackHeaders)
      const proxies = proxiesOf(options.trustedProxies ?? [])
      return serve<ApiNeeds>(
        apiRoutes(all),
        options,
        (app, rates, shedding) =>
          Effect.all(
            [
              mountLiveEvents(app, proxies, rates, shedding),
              mountSignaling(app, proxies, rates, shedding),
              mountMediaSockets(app, signed),
              mountNodeLinks(app)
            ],
            {
              discard: true
            }
          ),
        carrierEndpoints(signed)
      )
    })
  ).pipe(Layer.provide(LiveFigures.layer))
