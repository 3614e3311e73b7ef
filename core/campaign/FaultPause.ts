/**
 * The pause of a campaign whose owner keeps failing. The engine tries to resume it, at growing intervals, until the campaign runs for a while
 * without a failure or a person acts on it: every action of a person clears `resume_tries` in its row, which each statement here checks. The
 * log has two entries, one when the campaign is paused and one when it runs again. Failed tries add none.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CampaignId } from "#core/Id.ts"
import type { AutomaticStop } from "./CampaignOwnership.ts"
import { completionEntry, intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import { runningOrCompleted } from "./CampaignStore.ts"

export interface FaultPause {
  /** How often the engine has tried to resume the campaign so far. */
  readonly tries: number
  /** Identifies this pause: any later pause or resume raises the campaign's epoch. */
  readonly dialEpoch: number
}

export class FaultPauses extends Context.Service<
  FaultPauses,
  {
    /** The owner has failed. Pauses the campaign if that happens too often, or at once if the engine is just trying to resume it. */
    readonly failed: (id: CampaignId, isTooOften: boolean, stop: AutomaticStop) => Effect.Effect<void>
    /** Undefined when the campaign is not paused for its owner's failures, or a person has acted on it since. */
    readonly find: (id: CampaignId) => Effect.Effect<FaultPause | undefined>
    /** Lets the campaign run again. False when there has been a later pause or resume, or when there is nothing left to dial. */
    readonly tryAgain: (id: CampaignId, pause: FaultPause) => Effect.Effect<boolean>
    /** The campaign has run for a while without a failure: the try counts as a resume and is logged. */
    readonly proved: (id: CampaignId) => Effect.Effect<void>
  }
>()("core/campaign/FaultPauses") {
  static readonly layer = Layer.effect(
    FaultPauses,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      failed: (id, isTooOften, stop) => Effect.orDie(failed(sql, id, isTooOften, stop)),
      find: (id) => Effect.orDie(find(sql, id)),
      tryAgain: (id, pause) => Effect.orDie(tryAgain(sql, id, pause)),
      proved: (id) => Effect.orDie(proved(sql, id))
    }))
  )
}

type Sql = SqlClient.SqlClient

const resumedByEngine = {
  level: "info",
  event: "campaign_resumed",
  message: "Resumed: the campaign runs again without failures.",
  details: { by: "engine" }
} as const

const failed = (sql: Sql, id: CampaignId, isTooOften: boolean, stop: AutomaticStop) =>
  sql`
    WITH found AS MATERIALIZED (
      SELECT id, resume_tries IS NULL AS is_first FROM campaigns
      WHERE id = ${id}::int AND state = 'running' AND (${isTooOften}::bool OR resume_tries IS NOT NULL) FOR NO KEY UPDATE
    ), stopped AS (
      UPDATE campaigns c SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = coalesce(resume_tries, 0)
      FROM found WHERE c.id = found.id RETURNING c.organization_id, c.id, found.is_first
    )
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, stop)} FROM stopped WHERE is_first`.pipe(Effect.asVoid)

const find = (sql: Sql, id: CampaignId) =>
  sql<FaultPause>`
    SELECT resume_tries AS tries, dial_epoch FROM campaigns
    WHERE id = ${id}::int AND state = 'paused' AND resume_tries IS NOT NULL`.pipe(Effect.map((rows) => rows[0]))

// The breaker keeps its epoch and its count: nobody has said that the cause of failing calls is gone.
const tryAgain = (sql: Sql, id: CampaignId, { dialEpoch }: FaultPause) =>
  sql<{ readonly runs: boolean }>`
    WITH changed AS (
      UPDATE campaigns SET ${runningOrCompleted(sql)}, dial_epoch = dial_epoch + 1, resume_tries = resume_tries + 1
      WHERE id = ${id}::int AND state = 'paused' AND resume_tries IS NOT NULL AND dial_epoch = ${dialEpoch}::int RETURNING *
    ), logged AS (
      ${intoCampaignLog(sql)} SELECT c.organization_id, c.id, ${completionEntry(sql)} FROM changed c WHERE c.state = 'completed'
    )
    SELECT state = 'running' AS runs FROM changed`.pipe(Effect.map(([row]) => row?.runs === true))

const proved = (sql: Sql, id: CampaignId) =>
  sql`
    WITH resumed AS (
      UPDATE campaigns SET resume_tries = NULL WHERE id = ${id}::int AND state = 'running' AND resume_tries IS NOT NULL
      RETURNING organization_id, id
    )
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, resumedByEngine)} FROM resumed`.pipe(Effect.asVoid)
