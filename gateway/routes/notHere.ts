/**
 * Requests that the existing product's pages send whenever they open, for services that are not part of this engine. Each gets an empty
 * answer. Requests that would set such a service up are refused like any unknown request.
 */
import { Effect } from "effect"
import Type from "typebox"
import { Agents } from "#core/agent/Agents.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { AgentPath } from "#gateway/wire/Agent.ts"

const none = () => Type.Array(Type.Unknown(), { maxItems: 0 })
const zero = () => Type.Literal(0)

const CreditsQuery = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 })
})
const Credits = Type.Object(
  {
    total_credits_used: zero(),
    remaining_credits: zero(),
    total_quota: zero(),
    account: Type.Null(),
    ledger_entries: none(),
    total_count: zero(),
    page: Type.Integer(),
    limit: Type.Integer(),
    total_pages: zero()
  },
  { title: "BillingCredits", description: "This engine charges nothing." }
)
const noCredits = {
  total_credits_used: 0,
  remaining_credits: 0,
  total_quota: 0,
  account: null,
  ledger_entries: [],
  total_count: 0,
  total_pages: 0
} as const

const Voices = Type.Object(
  {
    provider: Type.String(),
    voices: Type.Array(Type.Object({ voice_id: Type.String(), name: Type.String() }, { title: "Voice" })),
    facets: Type.Null()
  },
  { title: "Voices" }
)

export const notHereRoutes = tagged(
  { name: "Existing product", about: "What the existing product's pages ask for and this engine does not have. The answers say so." },
  [
    route({
      method: "get",
      path: "/api/v1/organizations/billing/credits",
      name: "getBillingCredits",
      summary: "No credits: this engine charges nothing",
      description: "For clients of the existing product: every sum is zero, and the ledger is empty.",
      query: CreditsQuery,
      success: Credits,
      handle: ({ query: { limit, page } }) => Effect.succeed({ ...noCredits, ledger_entries: [], limit, page })
    }),
    route({
      method: "get",
      path: "/api/v1/user/service-keys",
      name: "listServiceKeys",
      summary: "No keys: there is no managed service",
      description: "For clients of the existing product: the list is always empty.",
      success: none(),
      handle: () => Effect.succeed([])
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/langfuse-credentials",
      name: "getLangfuseCredentials",
      summary: "No tracing service: none can be configured",
      description:
        "For clients of the existing product: traces of this engine are sent by OpenTelemetry, which its environment configures.",
      success: Type.Object({ configured: Type.Literal(false) }, { title: "LangfuseCredentials" }),
      handle: () => Effect.succeed({ configured: false as const })
    }),
    route({
      method: "get",
      path: "/api/v1/workflow/:workflow_id/embed-token",
      name: "getEmbedToken",
      summary: "No widget token: conversations take place by telephone",
      description: "For clients of the existing product: `null` for every agent. 404 if the organization has no such agent.",
      params: AgentPath,
      success: Type.Null(),
      errors: ["NotFound"],
      handle: ({ caller, params }) =>
        Agents.use((_) => _.getLatest(caller.organizationId, params.workflow_id)).pipe(
          Effect.mapBoth({ onSuccess: () => null, onFailure: ({ id }) => new NotFound({ detail: `Workflow with id ${id} not found` }) })
        )
    }),
    route({
      method: "get",
      path: "/api/v1/user/configurations/voices/:provider",
      name: "listVoices",
      summary: "List the voices of a speech service",
      description: "Empty for a service that this engine does not support.",
      params: Type.Object({ provider: Type.String() }),
      success: Voices,
      handle: ({ params: { provider } }) =>
        ServiceRegistry.useSync(({ find }) => {
          const voices = find("tts", provider)?.fields["voice"]?.choices ?? []
          return { provider, voices: voices.map((voice) => ({ voice_id: voice, name: voice })), facets: null }
        })
    })
  ]
)
