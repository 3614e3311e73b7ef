/** The values that a form for a new campaign starts with. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Row as Stored } from "#core/Row.ts"
import { defaultConfiguration } from "#core/telephony/defaultConfiguration.ts"
import { type CampaignSettings, type OfferedSetting, offeredSettings } from "./CampaignSettings.ts"
import { defaultRetryConfig, type RetryConfig } from "./RetryPolicy.ts"
import * as settingColumns from "./settingColumns.ts"

type LastSettings = Stored<Pick<CampaignSettings, OfferedSetting>>

export interface CampaignDefaults {
  /** Calls of the organization that may be up at once. */
  readonly concurrencyLimit: number
  /** Active numbers of the default telephony configuration. */
  readonly fromNumbers: number
  readonly retry: RetryConfig
  /** Settings of the organization's newest campaign. */
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
      SELECT ${settingColumns.readObject(sql, offeredSettings)}
      FROM campaigns c WHERE organization_id = o.id ORDER BY created_at DESC, id DESC LIMIT 1) AS last
    FROM organizations o WHERE o.id = ${organizationId}`
  if (row === undefined) return yield* Effect.die(`No organization ${organizationId}`)
  const { concurrencyLimit, fromNumbers, last } = row
  return { concurrencyLimit, fromNumbers, retry: defaultRetryConfig, last: last ?? undefined } satisfies CampaignDefaults
})
