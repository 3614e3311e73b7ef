import t from "tap"
import { complete, flagsOf, type RetryConfig, retryReasonNames, stillAllowed, stillAllowedSql } from "#core/campaign/RetryPolicy.ts"
import { column, install } from "./services.ts"

const { sql, test } = await install(t)

const subsets = retryReasonNames.reduce<ReadonlyArray<ReadonlyArray<string>>>(
  (subsets, reason) => subsets.flatMap((subset) => [subset, [...subset, reason]]),
  [[]]
)
const allFlags = subsets.map((subset) => flagsOf((reason) => subset.includes(reason)))
// Stored before the setting for the newest reason existed.
const older: Partial<RetryConfig> = { retryOnBusy: true, retryOnNoAnswer: true, retryOnVoicemail: true }

const configs: ReadonlyArray<RetryConfig> = [true, false].flatMap((enabled) =>
  [0, 1, 2].flatMap((maxRetries) => [
    ...allFlags.map((flags) => complete({ ...flags, enabled, maxRetries })),
    { ...older, enabled, maxRetries, retryDelaySeconds: 120 }
  ])
)
const waiting = configs.flatMap((config) =>
  retryReasonNames.flatMap((reason) => [0, 1, 2, 3].map((retriesUsed) => ({ config, reason, retriesUsed })))
)

test(t, "given all retries that may wait, under all settings, then SQL allows those that RetryPolicy allows", function* (t) {
  const rows = JSON.stringify(
    waiting.map(({ config, reason, retriesUsed }) => ({ config, retry_reason: reason, retries_used: retriesUsed }))
  )
  const judged = yield* sql<{ readonly allowed: boolean }>`
        SELECT ${sql.literal(stillAllowedSql("c", "c.config"))} AS allowed
        FROM ROWS FROM (jsonb_to_recordset(${rows}::text::jsonb) AS (config jsonb, retry_reason text, retries_used int))
          WITH ORDINALITY AS c (config, retry_reason, retries_used, place) ORDER BY place`
  t.strictSame(column(judged, "allowed"), waiting.map(stillAllowed))
  t.ok(judged.some(({ allowed }) => allowed))
})
