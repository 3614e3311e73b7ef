import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { beginning, type Event, type EventId, type EventSelection, type EventType } from "./Event.ts"

type Sql = SqlClient.SqlClient

/** The most events that one statement puts in order. */
export const sequencedAtOnce = 500
export const keptFor = "7 days"
export const prunedAtOnce = 1000
/** An arbitrary key for the advisory lock. No other lock may use it. */
const sequencerLock = 7_265_873

const columns = (sql: Sql) => sql.literal("id, organization_id, type, subject, data, created_at")

interface Sequenced {
  readonly events: number
  readonly deliveries: number
}

/**
 * Moves the oldest events from the outbox into `events`, which gives them their ids, and adds a delivery for each endpoint that selects them.
 * Only one node does so at a time; the others find nothing to do. The lock is held until after the commit, so that ids become visible in the
 * order in which they are assigned.
 */
export const sequence = (sql: Sql) =>
  sql<Sequenced>`
    WITH mine AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${sequencerLock}::bigint) AS is_locked
    ), taken AS (
      DELETE FROM event_outbox WHERE (SELECT is_locked FROM mine)
        AND id = ANY (ARRAY(SELECT id FROM event_outbox ORDER BY id LIMIT ${sequencedAtOnce}::int))
      RETURNING id, organization_id, type, subject, data, created_at
    ), sequenced AS (
      INSERT INTO events (organization_id, type, subject, data, created_at)
      SELECT organization_id, type, subject, data, created_at FROM taken ORDER BY id
      RETURNING id, organization_id, type, data
    ), delivered AS (
      INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id)
      SELECT e.organization_id, e.id, s.id
      FROM sequenced s JOIN webhook_endpoints e ON e.organization_id = s.organization_id
      WHERE e.enabled AND CASE WHEN s.type = 'webhook.test' THEN s.data -> 'webhook_endpoint_id' = to_jsonb(e.id)
        ELSE e.event_types = '{}' OR s.type = ANY (e.event_types) END
      ORDER BY s.id
      RETURNING endpoint_id
    ), due AS (
      -- What failed may not be due for hours. An endpoint that rests does so for a minute at most, see Backoff.ts.
      UPDATE webhook_endpoints SET version = version + 1, next_due_at = least(next_due_at,
        now() + make_interval(secs => CASE WHEN failures = 0 THEN 0 ELSE least(60, power(2, least(failures - 1, 10))) END))
      WHERE id IN (SELECT endpoint_id FROM delivered)
    ), counted AS (
      SELECT (SELECT count(*)::int FROM sequenced) AS events, (SELECT count(*)::int FROM delivered) AS deliveries
    )
    SELECT events, deliveries, CASE WHEN events > 0 THEN pg_notify('trunkline_events', 'events') END AS heard,
      CASE WHEN deliveries > 0 THEN pg_notify('trunkline_events', 'deliveries') END AS due
    FROM counted`.pipe(Effect.map(([row]): Sequenced => ({ events: row?.events ?? 0, deliveries: row?.deliveries ?? 0 })))

/** The events of all organizations after `id`, in order, for this process's only reader (runtime/event/EventFeed.ts). */
export const after = (sql: Sql, id: EventId, limit: number) =>
  sql<Event>`SELECT ${columns(sql)} FROM events WHERE id > ${id}::bigint ORDER BY id LIMIT ${limit}::int`

export const newest = (sql: Sql) =>
  sql<{ readonly id: EventId }>`SELECT coalesce(max(id), 0) AS id FROM events`.pipe(Effect.map((rows) => rows[0]?.id ?? beginning))

export interface Kept {
  /** All events of the organization up to this id have been deleted. */
  readonly goneUntil: EventId
  /** The newest event that the organization has had, deleted or not. */
  readonly newest: EventId
}

export const kept = (sql: Sql, organizationId: OrganizationId) =>
  sql<Kept>`
    SELECT gone_until, greatest(gone_until, (SELECT max(id) FROM events WHERE organization_id = ${organizationId}::int)) AS newest
    FROM (SELECT coalesce((SELECT gone_until FROM event_horizons WHERE organization_id = ${organizationId}::int), 0) AS gone_until) h`.pipe(
    Effect.map((rows) => rows[0] ?? { goneUntil: beginning, newest: beginning })
  )

export interface Scan {
  readonly after: EventId
  readonly limit: number
}

interface ScannedRow extends Omit<Event, "type"> {
  readonly type: EventType | null
}

/** Looks at up to `limit` events of any type, in order. `events` has those of the selected types; `first` and `last` count the others too. */
export const scan = (sql: Sql, { organizationId, types }: EventSelection, { after: id, limit }: Scan) =>
  sql<ScannedRow>`
    SELECT id, organization_id, created_at, CASE WHEN wanted THEN type END AS type, CASE WHEN wanted THEN subject END AS subject,
      CASE WHEN wanted THEN data END AS data
    FROM (
      SELECT *, ${types.length}::int = 0 OR type = ANY (${types}::text[]) AS wanted
      FROM events WHERE organization_id = ${organizationId}::int AND id > ${id}::bigint ORDER BY id LIMIT ${limit}::int
    ) AS page ORDER BY id`.pipe(
    Effect.map((rows) => ({
      events: rows.filter((row): row is Event => row.type !== null),
      first: rows[0]?.id,
      last: rows.at(-1)?.id,
      isWhole: rows.length < limit
    }))
  )

/** Adds a test event for one endpoint to the outbox, as events get into `events` only from there. */
export const addTest = (sql: Sql, organizationId: OrganizationId, endpointId: number) => sql`
  SELECT add_event(${organizationId}::int, 'webhook.test', ${`webhook-endpoints/${endpointId}`}::text,
    jsonb_build_object('webhook_endpoint_id', ${endpointId}::int))`

/**
 * Deletes a batch of the oldest events, with their deliveries, if they have expired, and returns how many it deleted. It leaves no gap in the
 * events that remain, and always keeps the newest one, which shows how far the ids have come.
 */
export const prune = (sql: Sql) =>
  sql<{ readonly count: number }>`
    WITH oldest AS MATERIALIZED (
      SELECT id, created_at < now() - ${keptFor}::text::interval AS is_old FROM events ORDER BY id LIMIT ${prunedAtOnce}::int
    ), gone AS (
      DELETE FROM events WHERE id = ANY (ARRAY(
        SELECT id FROM oldest
        WHERE id < least((SELECT max(id) FROM events), (SELECT min(id) FROM oldest WHERE NOT is_old))))
      RETURNING id, organization_id
    ), noted AS (
      INSERT INTO event_horizons (organization_id, gone_until) SELECT organization_id, max(id) FROM gone GROUP BY organization_id
      ON CONFLICT (organization_id) DO UPDATE SET gone_until = greatest(event_horizons.gone_until, excluded.gone_until)
    )
    SELECT count(*)::int AS count FROM gone`.pipe(Effect.map(([row]) => row?.count ?? 0))
