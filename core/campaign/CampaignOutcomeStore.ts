import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import { type BucketSize, bucketsOf, bucketMillis, type CampaignOutcomes } from "./CampaignOutcomes.ts"

type Sql = SqlClient.SqlClient

interface Span {
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

const seconds = (size: BucketSize) => bucketMillis[size] / 1000
/** Of a column: where its bucket begins, in epoch milliseconds. */
const bucketAt = (sql: Sql, column: "ended_at" | "due_at", size: BucketSize) =>
  sql`(floor(extract(epoch FROM ${sql.literal(column)}) / ${seconds(size)}::int) * ${seconds(size)}::int * 1000)::float8`
const instant = (sql: Sql, at: number) => sql`to_timestamp(${at}::float8 / 1000)`

/** `now` in epoch milliseconds. Undefined if the organization has no such campaign. */
export const outcomes = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  id: CampaignId,
  { now, size }: { readonly now: number; readonly size: BucketSize | undefined }
) {
  const [span] = yield* sql<Span>`SELECT started_at, completed_at FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id}`
  if (span === undefined) return undefined
  const buckets = bucketsOf({ started: span.startedAt?.getTime(), ended: span.completedAt?.getTime(), now }, size)
  const { current, since, until } = buckets
  // Nothing but what is in the index `attempts_over_time`, which has no organization: the campaign is known to be of this one.
  const rows = yield* sql<{ readonly at: number; readonly outcome: Outcome; readonly calls: number }>`
    SELECT ${bucketAt(sql, "ended_at", buckets.size)} AS at, outcome, count(*)::int AS calls FROM attempts
    WHERE campaign_id = ${id} AND outcome IS NOT NULL AND ended_at >= ${instant(sql, since)} GROUP BY 1, 2 ORDER BY 1`
  const soon = current + bucketMillis[buckets.size]
  // Each part has an index of its own.
  const retries = yield* sql<{ readonly at: number; readonly retries: number }>`
    SELECT least(greatest(at, ${current}::float8), ${until}::float8) AS at, count(*)::int AS retries FROM (
      SELECT ${bucketAt(sql, "due_at", buckets.size)} AS at FROM contacts WHERE campaign_id = ${id} AND state = 'retry_wait' AND NOT awaits_number
      UNION ALL SELECT ${current}::float8 FROM contacts WHERE campaign_id = ${id} AND state = 'retry_wait' AND awaits_number
    ) waiting GROUP BY 1 ORDER BY 1`
  const sum = (those: ReadonlyArray<{ readonly retries: number }>) => those.reduce((all, one) => all + one.retries, 0)
  return {
    ...buckets,
    calls: [...Map.groupBy(rows, ({ at }) => at)].map(([at, those]) => ({
      at,
      counts: Object.fromEntries(those.map(({ calls, outcome }) => [outcome, calls]))
    })),
    retries: {
      due: sum(retries.filter(({ at }) => at < soon)),
      ahead: retries.filter(({ at }) => at >= soon && at < until),
      later: sum(retries.filter(({ at }) => at >= until))
    }
  } satisfies CampaignOutcomes
})
