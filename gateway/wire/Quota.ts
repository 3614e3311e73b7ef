/** What organizations may use, and what they do. */
import Type, { type Static } from "typebox"
import type { OrganizationId } from "#core/Id.ts"
import type { QuotaName } from "#core/organization/Quota.ts"
import type { OrganizationQuotas } from "#core/organization/Quotas.ts"
import { clearable, id, instant, nullable, optional, orNull } from "#gateway/request/Field.ts"

const mostCalls = 100_000
const mostBytes = 2 ** 50
const mostRows = 10_000_000_000
const mostThings = 1_000_000

interface Limit {
  readonly minimum: number
  readonly maximum: number
  readonly description: string
}
const limits: Readonly<Record<QuotaName, Limit>> = {
  calls: { minimum: 0, maximum: mostCalls, description: "Calls up at once. Calls that are up when it is lowered go on." },
  storage_bytes: { minimum: 0, maximum: mostBytes, description: "Bytes of files kept: lists, recordings, transcripts and documents." },
  rows: { minimum: 0, maximum: mostRows, description: "Contacts kept, of all campaigns together." },
  agents: { minimum: 0, maximum: mostThings, description: "Agents, archived ones too." },
  keys: { minimum: 0, maximum: mostThings, description: "API keys that are not archived." },
  followers: { minimum: 0, maximum: mostThings, description: "Connections that follow events." },
  requests_per_second: { minimum: 1, maximum: mostThings, description: "Requests, in the long run." },
  request_burst: { minimum: 1, maximum: mostThings, description: "Requests at once, before the rate counts." }
}

const useWire = (name: QuotaName) =>
  Type.Object(
    {
      limit: Type.Integer({ description: "What holds." }),
      allowed: Type.Integer({ description: "What the operator allows." }),
      own: nullable(Type.Integer({ description: "What the organization has set for itself." })),
      used: nullable(Type.Integer({ description: "Null where nothing is kept that could be counted." }))
    },
    { description: limits[name].description }
  )

export const QuotasWire = Type.Object(
  {
    calls: useWire("calls"),
    storage_bytes: useWire("storage_bytes"),
    rows: useWire("rows"),
    agents: useWire("agents"),
    keys: useWire("keys"),
    followers: useWire("followers"),
    requests_per_second: useWire("requests_per_second"),
    request_burst: useWire("request_burst")
  },
  { title: "Quotas" }
)

const settable = (name: QuotaName) => clearable(Type.Integer({ ...limits[name] }))
const own = {
  calls: settable("calls"),
  storage_bytes: settable("storage_bytes"),
  rows: settable("rows"),
  agents: settable("agents"),
  keys: settable("keys"),
  followers: settable("followers")
}
export const SetQuotas = Type.Object(
  { ...own, requests_per_second: settable("requests_per_second"), request_burst: settable("request_burst") },
  { title: "SetQuotas", description: "What is left out stays as it is. Null: the default." }
)
/** Not the rate: whoever set it to nearly nothing could hardly set it back. */
export const SetOwnQuotas = Type.Object(own, {
  title: "SetOwnQuotas",
  description: "What is left out stays as it is. Null: as much as the operator allows."
})

export const OrganizationPath = Type.Object({ organization_id: id<OrganizationId>() })

export const OrganizationQuotasWire = Type.Object(
  { id: id<OrganizationId>(), name: Type.String(), created_at: instant(), quotas: QuotasWire },
  { title: "OrganizationQuotas" }
)

export const NewOperatorKey = Type.Object({ name: Type.String({ maxLength: 255 }) }, { title: "NewOperatorKey" })

export const OrganizationListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
  after: optional(id<OrganizationId>("The last organization of the page before."))
})
export const OrganizationListWire = Type.Object({ organizations: Type.Array(OrganizationQuotasWire) }, { title: "OrganizationList" })

export const quotasWire = ({ quotas }: OrganizationQuotas, followers: number): Static<typeof QuotasWire> => {
  const shown = (name: QuotaName) => ({ ...quotas[name], used: orNull(quotas[name].used) })
  return {
    calls: shown("calls"),
    storage_bytes: shown("storage_bytes"),
    rows: shown("rows"),
    agents: shown("agents"),
    keys: shown("keys"),
    followers: { ...quotas.followers, used: followers },
    requests_per_second: shown("requests_per_second"),
    request_burst: shown("request_burst")
  }
}

export const organizationQuotasWire = (organization: OrganizationQuotas, followers: number): Static<typeof OrganizationQuotasWire> => ({
  id: organization.id,
  name: organization.name,
  created_at: organization.createdAt.toISOString(),
  quotas: quotasWire(organization, followers)
})
