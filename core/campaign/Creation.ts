/** Creates campaigns from uploaded lists, and says beforehand what would come of it: both read the list in the same way. */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentArchived, type AgentNotFound } from "#core/agent/Agent.ts"
import { requiredVariablesOf, variablesUsedBy } from "#core/agent/AgentGraph.ts"
import type { Agents } from "#core/agent/Agents.ts"
import { importContacts } from "#core/contact/ContactImport.ts"
import type { ContactSource, SourceNotFound, SourceRefused } from "#core/contact/ContactSource.ts"
import { checkList, unreadable } from "#core/contact/ListCheck.ts"
import type { FilesAway } from "#core/FilesAway.ts"
import type { AgentId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { hasRoom, within } from "#core/organization/QuotaStore.ts"
import { type Extensions, noExtensions } from "#core/telephony/Extensions.ts"
import { ready, type TelephonyConfigNotFound, type TelephonyNotReady } from "#core/telephony/TelephonyConfig.ts"
import type { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { type CampaignChanges, storedChanges } from "./CampaignSettings.ts"
import * as store from "./CampaignStore.ts"
import { complete } from "./RetryPolicy.ts"

export interface NewCampaign extends CampaignChanges {
  readonly name: string
  readonly agentId: AgentId
  readonly sourceType: "csv"
  readonly sourceId: string
  readonly telephonyConfigurationId?: TelephonyConfigId | undefined
  /** A UUID. If a campaign was already created with it, that one is returned and none is created. */
  readonly creationId?: string | undefined
}

/** A list that is to be checked before anything is created. */
export interface ListToCheck extends Pick<NewCampaign, "sourceId" | "telephonyConfigurationId"> {
  /** Whose variables the list must have. */
  readonly agentId: AgentId | undefined
}

/** What is wrong with anything but the list. */
export type NotChecked =
  | AgentNotFound
  | AgentArchived
  | FilesAway
  | QuotaFull
  | SourceNotFound
  | TelephonyConfigNotFound
  | TelephonyNotReady

export type NotCreated = NotChecked | SourceRefused

interface Ports {
  readonly sql: SqlClient.SqlClient
  readonly agents: Agents["Service"]
  readonly configs: TelephonyConfigs["Service"]
  readonly source: ContactSource["Service"]
  readonly rateLimit: number
}

export const create = Effect.fnUntraced(
  function* (ports: Ports, organizationId: OrganizationId, campaign: NewCampaign) {
    const { sql, source } = ports
    const { required } = yield* variablesOf(ports, organizationId, campaign.agentId)
    // An organization without room for a single contact is refused before its list is read.
    yield* hasRoom(sql, organizationId, "rows")
    const records = yield* source.read(organizationId, campaign.sourceId)
    const extensions = yield* extensionsOf(ports.configs, organizationId, campaign.telephonyConfigurationId)
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        const rateLimit = campaign.rateLimit ?? ports.rateLimit
        const settings = { ...storedChanges(campaign), name: campaign.name, rateLimit, retry: complete(campaign.retry) }
        const [row] = yield* store.insert(sql, { ...campaign, organizationId }, settings)
        if (row === undefined) return yield* Effect.die("An inserted campaign was not returned")
        const options = { extensions, requiredVariables: required ?? [] }
        const { hash, summary, variables } = yield* importContacts(sql, { organizationId, id: row.id }, records, options)
        const telephonyConfigurationId = yield* chosenConfig(ports.configs, organizationId, campaign.telephonyConfigurationId)
        const warnings = [...summary.warnings, ...unsearchable(required)]
        const lastSyncedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
        const sync: store.StoredSync = { status: "completed", lastSyncedAt, error: null, ...summary, warnings, variables }
        yield* store.settle(sql, organizationId, row.id, { hash, sync, telephonyConfigurationId })
        yield* within(sql, organizationId, "rows", summary.accepted)
        yield* records.keep
        return row.id
      })
    )
  },
  Effect.scoped,
  Effect.catchTag("SqlError", Effect.die)
)

/** Fails where the creation would for a reason other than the list. A list that would be refused is no failure. */
export const check = Effect.fnUntraced(
  function* (ports: Ports, organizationId: OrganizationId, { agentId, sourceId, telephonyConfigurationId }: ListToCheck) {
    const { configs, source, sql } = ports
    const agent = agentId === undefined ? undefined : yield* variablesOf(ports, organizationId, agentId)
    yield* hasRoom(sql, organizationId, "rows")
    yield* chosenConfig(configs, organizationId, telephonyConfigurationId)
    const extensions = yield* extensionsOf(configs, organizationId, telephonyConfigurationId)
    const known = agent?.required === undefined ? undefined : { required: agent.required, used: agent.used }
    const list = yield* source.read(organizationId, sourceId).pipe(
      Effect.flatMap((records) => checkList(records, known, extensions)),
      Effect.catchTag("SourceRefused", ({ reason }) => Effect.succeed(unreadable(reason)))
    )
    if (list.refusal === undefined) yield* hasRoom(sql, organizationId, "rows", list.accepted)
    return { ...list, warnings: [...list.warnings, ...(agent === undefined ? [] : unsearchable(agent.required))] }
  },
  Effect.scoped,
  Effect.catchTag("SqlError", Effect.die)
)

/** `required` is undefined if the definition is malformed. */
const variablesOf = Effect.fnUntraced(function* ({ agents }: Ports, organizationId: OrganizationId, id: AgentId) {
  const agent = yield* agents.get(organizationId, id)
  if (agent.status === "archived") return yield* new AgentArchived({ id: agent.id })
  return { required: requiredVariablesOf(agent.definition), used: variablesUsedBy(agent.definition) }
})

const unsearchable = (required: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  required === undefined ? ["The agent's definition could not be searched for template variables."] : []

/** If none is named, the current default is stored for good. If there is no default, one is looked for when the campaign starts. */
const chosenConfig = (configs: TelephonyConfigs["Service"], organizationId: OrganizationId, id: TelephonyConfigId | undefined) =>
  configs.resolve(organizationId, id).pipe(
    Effect.flatMap(ready),
    Effect.map((config): TelephonyConfigId | undefined => config.id),
    Effect.catchTag("TelephonyNotConfigured", () => Effect.succeed(undefined))
  )

/** The extensions that a new list may contain. Errors of the configuration are reported once the list has been read. */
const extensionsOf = (configs: TelephonyConfigs["Service"], organizationId: OrganizationId, id: TelephonyConfigId | undefined) =>
  configs.resolve(organizationId, id).pipe(
    Effect.map((config): Extensions => config.extensions),
    Effect.orElseSucceed(() => noExtensions)
  )
