/** What a form for a new campaign starts from. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { BreakerConfig } from "./CircuitBreaker.ts"
import { defaultRetryConfig, type RetryConfig } from "./RetryPolicy.ts"
import type { ScheduleConfig } from "./Schedule.ts"
import { defaultConfiguration } from "#core/telephony/defaultConfiguration.ts"

interface LastSettings {
  readonly retry: RetryConfig
  readonly maxConcurrency: number | null
  readonly schedule: ScheduleConfig | null
  readonly breaker: BreakerConfig | null
}

export interface CampaignDefaults {
  /** Calls of the organization that may be up at once. */
  readonly concurrencyLimit: number
  /** Active numbers of the configuration that calls go through when none is named. */
  readonly fromNumbers: number
  readonly retry: RetryConfig
  /** Of the newest campaign. */
  readonly last: LastSettings | undefined
}

interface Row extends Pick<CampaignDefaults, "concurrencyLimit" | "fromNumbers"> {
  readonly last: LastSettings | null
}

export const campaignDefaults = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, organizationId: OrganizationId) {
  const [row] = yield* sql<Row>`
    SELECT o.concurrency_limit, (
      SELECT count(*)::int FROM phone_numbers n
      WHERE n.organization_id = o.id AND n.is_active AND n.telephony_configuration_id = ${sql.literal(defaultConfiguration("o.id"))}) AS from_numbers, (
      SELECT jsonb_build_object('retry', retry_config, 'maxConcurrency', max_concurrency, 'schedule', schedule_config, 'breaker', circuit_breaker)
      FROM campaigns WHERE organization_id = o.id ORDER BY created_at DESC, id DESC LIMIT 1) AS last
    FROM organizations o WHERE o.id = ${organizationId}`
  if (row === undefined) return yield* Effect.die(`No organization ${organizationId}`)
  const { concurrencyLimit, fromNumbers, last } = row
  return { concurrencyLimit, fromNumbers, retry: defaultRetryConfig, last: last ?? undefined } satisfies CampaignDefaults
})
