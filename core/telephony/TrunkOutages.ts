/**
 * Outages of trunks, kept until they are written to the logs of the campaigns that were affected: those that had contacts to call at the time,
 * and those whose calls were cut. An outage that begins again before it is logged continues. Where a trunk has several endpoints, the outage of
 * an endpoint covers that endpoint's calls, and the outage of the trunk covers only the campaigns that it held up.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import type { CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { KEPT_DAYS } from "./pastOutages.ts"

/** A call that is still up this long after its trunk came back has survived the outage. */
const OUTLIVED_SECONDS = 30
/** A provider that goes away ends its calls, or the connections of their audio, before its own connection breaks. */
const CUT_BEFORE_SECONDS = 10

interface ToldOutage {
  readonly campaignId: CampaignId
  readonly message: string
}

/** What is down: one endpoint of the trunk, or the trunk as a whole if `endpoint` is `""`. */
export interface Away {
  readonly id: TelephonyConfigId
  readonly endpoint: string
}

/** Outages of trunks. Times are epoch milliseconds. */
export class TrunkOutages extends Context.Service<
  TrunkOutages,
  {
    /** Records that the trunk is down, and adds the campaigns that it holds up. May be repeated, also with another `reason`. */
    readonly began: (away: Away, at: number, reason: string | undefined, heldUp: ReadonlyArray<CampaignId>) => Effect.Effect<void>
    /** Records that the trunk is back. Does nothing if no outage is recorded. */
    readonly ended: (away: Away, at: number) => Effect.Effect<void>
    /** Writes the log entries once every call that was under way has been settled. `isPending` means that some have not been. */
    readonly tell: (away: Away, now: number) => Effect.Effect<{ readonly told: ReadonlyArray<ToldOutage>; readonly isPending: boolean }>
    /** Configurations with an outage that is not logged yet. */
    readonly untold: Effect.Effect<ReadonlyArray<TelephonyConfigId>>
    /** Forgets outages of endpoints that the trunk no longer has: they would never be logged. */
    readonly keepFor: (id: TelephonyConfigId, endpoints: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("core/telephony/TrunkOutages") {
  static readonly layer = Layer.effect(
    TrunkOutages,
    Effect.map(SqlClient.SqlClient, (sql) =>
      TrunkOutages.of({
        began: (away, at, reason, heldUp) => Effect.orDie(began(sql, away, { at, heldUp, reason })),
        ended: (away, at) => Effect.orDie(ended(sql, away, at)),
        keepFor: (id, endpoints) => Effect.orDie(keepFor(sql, id, endpoints)),
        tell: (away, now) => Effect.orDie(tell(sql, away, now)),
        untold: Effect.orDie(untold(sql))
      })
    )
  )
}

type Sql = SqlClient.SqlClient

interface Begun {
  readonly at: number
  readonly reason: string | undefined
  readonly heldUp: ReadonlyArray<CampaignId>
}

const began = (sql: Sql, { endpoint, id }: Away, { at, heldUp, reason }: Begun) =>
  sql`
    INSERT INTO trunk_outages AS o (telephony_configuration_id, endpoint, organization_id, began_at, reason, held_campaigns)
    SELECT id, ${endpoint}, organization_id, to_timestamp(${at}::float8 / 1000), ${reason ?? null}, ${heldUp}::int[] FROM telephony_configurations
    WHERE id = ${id}::int
    ON CONFLICT (telephony_configuration_id, endpoint) DO UPDATE SET began_at = coalesce(o.began_at, excluded.began_at), ended_at = NULL,
      reason = CASE WHEN o.began_at IS NULL THEN excluded.reason ELSE coalesce(excluded.reason, o.reason) END, held_campaigns = ARRAY(
      SELECT unnest(o.held_campaigns) UNION SELECT unnest(excluded.held_campaigns))`.pipe(Effect.asVoid)

const ended = (sql: Sql, { endpoint, id }: Away, at: number) =>
  sql`
    UPDATE trunk_outages SET ended_at = greatest(began_at, to_timestamp(${at}::float8 / 1000))
    WHERE telephony_configuration_id = ${id}::int AND endpoint = ${endpoint} AND began_at IS NOT NULL AND ended_at IS NULL`.pipe(
    Effect.asVoid
  )

const keepFor = (sql: Sql, id: TelephonyConfigId, endpoints: ReadonlyArray<string>) =>
  sql`
    DELETE FROM trunk_outages WHERE telephony_configuration_id = ${id}::int AND endpoint <> '' AND NOT endpoint = ANY (${endpoints}::text[])`.pipe(
    Effect.asVoid
  )

const untold = (sql: Sql) =>
  sql<{
    readonly id: TelephonyConfigId
  }>`SELECT DISTINCT telephony_configuration_id AS id FROM trunk_outages WHERE began_at IS NOT NULL`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id))
  )

// An outage is logged, kept for those who look at it later, and forgotten here in one statement, so it is logged once. The endpoint of a call that
// has not ended is stored only once it has been answered. The outage of the trunk leaves out calls through an endpoint that was itself down: they belong
// to that endpoint's outage.
const tell = (sql: Sql, { endpoint, id }: Away, now: number) =>
  sql<{ readonly told: ReadonlyArray<ToldOutage>; readonly isPending: boolean }>`
    WITH over AS MATERIALIZED (
      SELECT * FROM trunk_outages o WHERE o.telephony_configuration_id = ${id}::int AND o.endpoint = ${endpoint} AND o.ended_at IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM attempts a
        WHERE a.telephony_configuration_id = ${id}::int AND a.state IN ('intent', 'sent', 'answered') AND a.campaign_id IS NOT NULL
          AND a.sent_at <= o.ended_at AND (o.endpoint = '' OR coalesce(a.endpoint, o.endpoint) = o.endpoint)
          AND (a.state <> 'answered' OR to_timestamp(${now}::float8 / 1000) < o.ended_at + make_interval(secs => ${OUTLIVED_SECONDS})))
      FOR UPDATE
    ), forgotten AS (
      UPDATE trunk_outages o SET began_at = NULL, ended_at = NULL, held_campaigns = '{}', told_at = to_timestamp(${now}::float8 / 1000)
      FROM over WHERE o.telephony_configuration_id = over.telephony_configuration_id AND o.endpoint = over.endpoint
    ), cut AS (
      SELECT a.campaign_id, a.answered_at IS NOT NULL AS answered, a.outcome = 'unknown' AS unknown,
        c.state NOT IN ('completed', 'failed', 'cancelled')
          OR EXISTS (SELECT 1 FROM attempts later WHERE later.campaign_id = a.campaign_id AND later.row_no = a.row_no AND later.number > a.number)
          AS again
      FROM over o
      JOIN attempts a ON a.telephony_configuration_id = o.telephony_configuration_id AND a.sent_at <= o.ended_at AND a.state = 'ended'
        AND a.hangup_cause IN ('trunk_lost', 'media_failure', 'node_lost', 'written_off')
        AND (a.ended_at >= o.began_at OR a.hangup_cause IN ('trunk_lost', 'media_failure') AND a.ended_at > o.told_at
          AND a.ended_at >= o.began_at - make_interval(secs => ${CUT_BEFORE_SECONDS}))
      JOIN contacts c ON c.campaign_id = a.campaign_id AND c.row_no = a.row_no
      WHERE CASE WHEN o.endpoint <> '' THEN a.endpoint = o.endpoint ELSE NOT EXISTS (
        SELECT 1 FROM trunk_outages own WHERE own.telephony_configuration_id = o.telephony_configuration_id AND own.endpoint = a.endpoint
          AND own.endpoint <> '' AND (own.began_at IS NOT NULL OR own.told_at >= o.began_at)) END
    ), concerned AS (
      SELECT o.organization_id, o.endpoint, o.began_at, o.ended_at, c.id, n.*
      FROM over o JOIN campaigns c ON c.id = ANY (o.held_campaigns) OR c.id IN (SELECT campaign_id FROM cut)
      CROSS JOIN LATERAL (
        SELECT count(*) AS calls, count(*) FILTER (WHERE answered) AS answered, count(*) FILTER (WHERE unknown) AS unknown,
          count(*) FILTER (WHERE again) AS again
        FROM cut WHERE cut.campaign_id = c.id
      ) n
    ), kept AS (
      INSERT INTO past_outages (organization_id, telephony_configuration_id, endpoint, began_at, ended_at, reason, calls_cut)
      SELECT organization_id, telephony_configuration_id, endpoint, began_at, ended_at, reason, (SELECT count(*) FROM cut) FROM over
    ), expired AS (
      DELETE FROM past_outages p USING over WHERE p.telephony_configuration_id = over.telephony_configuration_id
        AND p.ended_at < to_timestamp(${now}::float8 / 1000) - make_interval(days => ${KEPT_DAYS})
    ), logged AS (
      ${intoCampaignLog(sql)}
      SELECT organization_id, id, ${outageEntry(sql)}
      FROM concerned RETURNING campaign_id, message
    )
    SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object('campaignId', campaign_id, 'message', message)), '[]') FROM logged) AS told,
      EXISTS (SELECT 1 FROM trunk_outages WHERE telephony_configuration_id = ${id}::int AND endpoint = ${endpoint} AND began_at IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM over) AS is_pending`.pipe(
    Effect.map(([row]) => row ?? { isPending: false, told: [] })
  )

const iso = (sql: Sql, column: "began_at" | "ended_at") =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)

/** One entry per campaign affected by an outage that is over. */
const outageEntry = (sql: Sql) =>
  logEntry(sql, {
    level: sql.literal("CASE calls WHEN 0 THEN 'info' ELSE 'warning' END"),
    event: "telephony_outage",
    message: sql.literal(`format('%s could not be reached for %s s; %s.',
          CASE endpoint WHEN '' THEN 'The telephony provider' ELSE 'One of the telephony provider''s endpoints' END, round(extract(epoch FROM ended_at - began_at)),
          CASE calls WHEN 0 THEN 'no call was cut' WHEN 1 THEN '1 call was cut' ELSE calls || ' calls were cut' END)`),
    details: sql`jsonb_build_object('from', ${iso(sql, "began_at")}, 'until', ${iso(sql, "ended_at")}, 'calls_cut', calls, 'answered', answered,
          'called_again', again, 'not_called_again', calls - again, 'outcome_unknown', unknown)
          || CASE endpoint WHEN '' THEN '{}' ELSE jsonb_build_object('endpoint', endpoint) END`
  })
