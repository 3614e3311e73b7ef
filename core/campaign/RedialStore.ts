import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, CampaignId, OrganizationId } from "#core/Id.ts"
import type { CampaignState } from "./Campaign.ts"
import { createdEntry, intoCampaignLog, logEntry, sourceEntry } from "#core/CampaignLog.ts"
import type { NewRedial, RedialReason } from "./Redial.ts"
import * as settingColumns from "./settingColumns.ts"

type Sql = SqlClient.SqlClient

/** If a campaign is redialed twice at once, the second redial waits here for the first. */
export const lockParent = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<{
    readonly state: CampaignState
    readonly redialedCampaignId: CampaignId | null
    readonly agentId: AgentId
    readonly isAgentActive: boolean
  }>`
    SELECT c.state, c.redialed_campaign_id, c.agent_id, a.status = 'active' AS is_agent_active
    FROM campaigns c JOIN agents a ON a.id = c.agent_id
    WHERE c.organization_id = ${organizationId} AND c.id = ${id} FOR NO KEY UPDATE OF c`.pipe(Effect.map((rows) => rows[0]))

export const insertChild = (sql: Sql, organizationId: OrganizationId, id: CampaignId, wanted: NewRedial) => {
  const replaced = {
    name: sql`coalesce(${settingColumns.bound(sql, "name", wanted)}, left(c.name, 255 - length(' (Redial)')) || ' (Redial)')`,
    retry: sql`coalesce(${settingColumns.bound(sql, "retry", wanted)}, c.retry_config)`
  }
  return sql<{ readonly id: CampaignId }>`
    INSERT INTO campaigns (organization_id, agent_id, telephony_configuration_id, source_type, source_id, source_hash, source_sync,
      parent_campaign_id, total_rows, ${settingColumns.columns(sql)})
    SELECT c.organization_id, c.agent_id, c.telephony_configuration_id, c.source_type, c.source_id, c.source_hash, c.source_sync,
      c.id, 0, ${settingColumns.copied(sql, replaced)}
    FROM campaigns c WHERE c.organization_id = ${organizationId} AND c.id = ${id} RETURNING id`.pipe(Effect.map((rows) => rows[0]))
}

/** Who are called again, and how many are not because they have opted out. */
interface Copied {
  readonly contacts: number
  readonly optedOut: number
}

/** A contact's `context` holds only what its list brought. What a retry adds is in its run. */
export const copyContacts = (
  sql: Sql,
  organizationId: OrganizationId,
  id: CampaignId,
  childId: CampaignId,
  reasons: ReadonlyArray<RedialReason>
) =>
  sql<Copied>`
    WITH matching AS (
      SELECT row_no, organization_id, phone_number, context, has_opted_out(organization_id, phone_number) AS is_out FROM contacts
      WHERE organization_id = ${organizationId} AND campaign_id = ${id} AND state = 'failed' AND last_outcome = ANY(${reasons}::text[])
    ), copied AS (
      INSERT INTO contacts (campaign_id, row_no, organization_id, phone_number, context)
      SELECT ${childId}::int, row_no, organization_id, phone_number, context FROM matching WHERE NOT is_out
      ORDER BY row_no RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM copied) AS contacts, count(*)::int AS opted_out FROM matching WHERE is_out`.pipe(
    Effect.map(([row]) => row ?? { contacts: 0, optedOut: 0 })
  )

const redialEntry = (childId: CampaignId, { contacts, optedOut }: Copied) =>
  ({
    level: "info",
    event: "redial_created",
    message: "A new campaign was created with the contacts to call again.",
    details: { campaign_id: childId, contacts, ...(optedOut === 0 ? {} : { opted_out: optedOut }) }
  }) as const

/** Links the two campaigns and writes to both logs. Of the variables that are empty in some row, keeps those that are empty in a copied row. */
export const settle = (sql: Sql, organizationId: OrganizationId, id: CampaignId, childId: CampaignId, copied: Copied) => sql`
  WITH child AS (
    UPDATE campaigns c SET total_rows = ${copied.contacts}, source_sync = c.source_sync || jsonb_build_object(
      'lastSyncedAt', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'rowsInFile', ${copied.contacts}::int,
      'accepted', ${copied.contacts}::int, 'skipped', 0, 'warnings', '[]'::jsonb)
      || CASE WHEN c.source_sync ? 'variables' THEN jsonb_build_object('variables', c.source_sync -> 'variables' || jsonb_build_object('empty', (
        SELECT coalesce(jsonb_agg(e.name), '[]') FROM jsonb_array_elements_text(c.source_sync -> 'variables' -> 'empty') AS e (name)
        WHERE EXISTS (SELECT 1 FROM contacts WHERE campaign_id = ${childId} AND coalesce(context ->> e.name, '') ~ '^\\s*$')))) ELSE '{}' END
    WHERE c.organization_id = ${organizationId} AND c.id = ${childId} RETURNING c.organization_id, c.id
  ), parent AS (
    UPDATE campaigns SET redialed_campaign_id = ${childId}, updated_at = now()
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING organization_id, id
  )
  ${intoCampaignLog(sql)}
  SELECT e.organization_id, e.campaign_id, e.level, e.event, e.message, e.details FROM (
    SELECT organization_id, id, 1, ${logEntry(sql, redialEntry(childId, copied))} FROM parent
    UNION ALL
    SELECT organization_id, id, 2, ${logEntry(sql, createdEntry({ parent_campaign_id: id }))} FROM child
    UNION ALL
    SELECT organization_id, id, 3, ${logEntry(sql, sourceEntry({ accepted: copied.contacts, rowsInFile: copied.contacts, skipped: 0, warnings: 0 }))} FROM child
  ) AS e (organization_id, campaign_id, ordinal, level, event, message, details) ORDER BY e.ordinal`
