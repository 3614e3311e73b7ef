/** Rows that tests start from, inserted directly. Anything that a test does not name gets a plausible value. */
import type { Agent } from "#core/agent/Agent.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { defaultRetryConfig, type RetryConfig } from "#core/campaign/RetryPolicy.ts"
import { AgentDefinitionId, AgentId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"

const inserted = Effect.fnUntraced(function* (table: string, row: Record<string, unknown>) {
  const sql = yield* SqlClient.SqlClient
  const [made] = yield* sql<{ readonly id: number }>`INSERT INTO ${sql(table)} ${sql.insert(row)} RETURNING id`
  return made?.id ?? 0
})
const json = (value: unknown) => JSON.stringify(value)

export const organization = (given: { readonly name?: string; readonly concurrencyLimit?: number } = {}) =>
  Effect.map(inserted("organizations", { name: given.name ?? "Acme", concurrencyLimit: given.concurrencyLimit ?? 10 }), (id) =>
    OrganizationId.make(id)
  )

/** `key` is what a client sends. */
export const apiKey = Effect.fnUntraced(function* (organizationId: OrganizationId, key: string) {
  yield* inserted("apiKeys", {
    organizationId,
    name: "test",
    keyPrefix: key.slice(0, 8),
    keyHash: createHash("sha256").update(key).digest("hex")
  })
  return key
})

/** The version that calls use. */
export const publishedOf = ({ currentDefinitionId }: Pick<Agent, "currentDefinitionId">): AgentDefinitionId => {
  if (currentDefinitionId === null) throw new Error("the agent has no published version")
  return currentDefinitionId
}

/** An agent with one node that says `greeting`, published as version 1. */
export const agent = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  given: { readonly name?: string; readonly greeting?: string } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const greeting = given.greeting ?? "Hello {{first_name}}"
  const start = {
    id: "1",
    type: "startCall",
    position: { x: 0, y: 0 },
    data: { name: "Start", prompt: "Greet.", greeting_type: "text", greeting }
  }
  const agentId = yield* inserted("agents", { organizationId, name: given.name ?? "Reminder" })
  const definitionId = yield* inserted("agentDefinitions", {
    organizationId,
    agentId,
    versionNumber: 1,
    versionStatus: "published",
    definition: json({ nodes: [start], edges: [] }),
    publishedAt: new Date(0)
  })
  yield* sql`UPDATE agents SET current_definition_id = ${definitionId} WHERE id = ${agentId}`
  return { agentId: AgentId.make(agentId), definitionId: AgentDefinitionId.make(definitionId) }
})

interface GivenTelephony {
  readonly provider?: string
  readonly credentials?: Readonly<Record<string, unknown>>
  readonly isDefaultOutbound?: boolean
}
export const telephonyConfiguration = (organizationId: OrganizationId, given: GivenTelephony = {}) =>
  Effect.map(
    inserted("telephonyConfigurations", {
      organizationId,
      name: given.provider ?? "ari",
      provider: given.provider ?? "ari",
      credentials: json(given.credentials ?? {}),
      isDefaultOutbound: given.isDefaultOutbound ?? true
    }),
    (id) => TelephonyConfigId.make(id)
  )

/** `+15550000001` and so on; the last two digits select what an emulated callee does, see the emulator. */
const phoneNumbers = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `+1555${String(index + 1).padStart(7, "0")}`)

const contacts = Effect.fnUntraced(function* (organizationId: OrganizationId, campaignId: CampaignId, numbers: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO contacts (campaign_id, row_no, organization_id, phone_number, context)
    SELECT ${campaignId}::int, n.row_no, ${organizationId}::int, n.phone_number, jsonb_build_object('phone_number', n.phone_number, 'first_name', 'Ada')
    FROM jsonb_array_elements_text(${json(numbers)}::text::jsonb) WITH ORDINALITY AS n (phone_number, row_no)`
})

interface GivenCampaign {
  readonly state?: "draft" | "running" | "paused" | "completed" | "failed"
  /** The numbers to dial, or how many. */
  readonly contacts?: number | ReadonlyArray<string>
  readonly rateLimit?: number
  readonly maxConcurrency?: number
  readonly retry?: Partial<RetryConfig>
  readonly organizationId?: OrganizationId
}

/** A campaign with everything it needs: an organization unless one is given, agent, telephony configuration and contacts. */
export const campaign = Effect.fnUntraced(function* (given: GivenCampaign = {}) {
  const organizationId = given.organizationId ?? (yield* organization())
  const { agentId, definitionId } = yield* agent(organizationId)
  const telephonyConfigurationId = yield* telephonyConfiguration(organizationId, { isDefaultOutbound: false })
  const numbers = typeof given.contacts === "object" ? given.contacts : phoneNumbers(given.contacts ?? 3)
  const state = given.state ?? "draft"
  const id = yield* inserted("campaigns", {
    organizationId,
    name: "Spring reminder",
    agentId,
    telephonyConfigurationId,
    state,
    sourceType: "csv",
    sourceId: "campaigns/1/list.csv",
    sourceHash: "",
    sourceSync: json({
      status: "completed",
      lastSyncedAt: null,
      error: null,
      rowsInFile: numbers.length,
      accepted: numbers.length,
      skipped: 0,
      warnings: []
    }),
    rateLimit: given.rateLimit ?? 1,
    maxConcurrency: given.maxConcurrency ?? null,
    retryConfig: json({ ...defaultRetryConfig, ...given.retry }),
    totalRows: numbers.length,
    dialEpoch: state === "running" ? 1 : 0,
    breakerEpoch: state === "running" ? 1 : 0,
    startedAt: state === "draft" ? null : new Date(0)
  })
  const campaignId = CampaignId.make(id)
  yield* contacts(organizationId, campaignId, numbers)
  return { campaignId, organizationId, agentId, definitionId, telephonyConfigurationId, numbers }
})
