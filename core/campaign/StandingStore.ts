import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { defaultConfiguration } from "#core/telephony/defaultConfiguration.ts"
import type { CampaignState } from "./Campaign.ts"
import { type ScheduleConfig, stateAt } from "./Schedule.ts"
import type { CampaignStanding } from "./WaitingFor.ts"

interface Found {
  readonly state: CampaignState
  readonly schedule: ScheduleConfig | null
  readonly isTrunkDown: boolean
  readonly maxConcurrency: number | null
  readonly organizationLimit: number
  readonly organizationShare: number
  readonly trunkLimit: number | null
  readonly upOfCampaign: number
  readonly upOfCampaigns: number
  readonly upOfOrganization: number
  readonly upOfTrunk: number
}

/** `now` in epoch milliseconds. Undefined if the organization has no such campaign. It reads live attempts, which are few. */
export const standing = (sql: SqlClient.SqlClient, organizationId: OrganizationId, id: CampaignId, now: number) =>
  sql<Found>`
    SELECT c.state, c.schedule_config AS schedule, c.max_concurrency, o.concurrency_limit AS organization_limit,
      greatest(o.concurrency_limit - o.concurrency_reserve, 0) AS organization_share, t.max_concurrent_calls AS trunk_limit, up.*,
      EXISTS (SELECT 1 FROM trunk_outages w WHERE w.telephony_configuration_id = t.id AND w.endpoint = '' AND w.began_at IS NOT NULL
        AND w.ended_at IS NULL) AS is_trunk_down
    FROM campaigns c JOIN organizations o ON o.id = c.organization_id
    LEFT JOIN telephony_configurations t ON t.organization_id = c.organization_id
      AND t.id = coalesce(c.telephony_configuration_id, ${sql.literal(defaultConfiguration("c.organization_id"))})
    CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE a.campaign_id = c.id))::int AS up_of_campaign, count(a.campaign_id)::int AS up_of_campaigns,
        count(*)::int AS up_of_organization, (count(*) FILTER (WHERE a.telephony_configuration_id = t.id))::int AS up_of_trunk
      FROM attempts a WHERE a.organization_id = c.organization_id AND a.state IN ('intent', 'sent', 'answered')
    ) up
    WHERE c.organization_id = ${organizationId} AND c.id = ${id}`.pipe(
    Effect.map(([row]) => (row === undefined ? undefined : standingOf(row, now)))
  )

const standingOf = (row: Found, now: number): CampaignStanding => ({
  state: row.state,
  window: stateAt(row.schedule ?? undefined, now),
  isTrunkDown: row.isTrunkDown,
  calls: [
    { up: row.upOfCampaign, limit: row.maxConcurrency ?? undefined },
    { up: row.upOfCampaigns, limit: row.organizationShare },
    { up: row.upOfOrganization, limit: row.organizationLimit },
    { up: row.upOfTrunk, limit: row.trunkLimit ?? undefined }
  ]
})
