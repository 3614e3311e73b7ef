import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import { newRowId, openedText, type Place, Sealer, type Seals } from "#core/Sealer.ts"
import type { EventType } from "#core/event/Event.ts"
import {
  type DeliveryState,
  type WebhookDelivery,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  WebhookEndpointId,
  type WebhookEndpointWithSecret
} from "./WebhookEndpoint.ts"

type Sql = SqlClient.SqlClient

const deliveryOf = (row: Row<WebhookDelivery>): WebhookDelivery => ({
  ...row,
  lastAttemptAt: row.lastAttemptAt ?? undefined,
  lastStatus: row.lastStatus ?? undefined,
  lastError: row.lastError ?? undefined
})

const columns = (sql: Sql) =>
  sql.literal("id, organization_id, url, description, event_types, enabled, disabled_reason, created_at, updated_at")

const previousSecretFor = "24 hours"

export interface EndpointSettings {
  readonly url: string
  readonly description: string
  readonly eventTypes: ReadonlyArray<EventType>
  readonly enabled: boolean
}

/** Serializes the creation of an organization's endpoints, so that their number never exceeds the limit. */
export const lock = (sql: Sql, organizationId: OrganizationId) => sql`
  SELECT id FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`

export const count = (sql: Sql, organizationId: OrganizationId) =>
  sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM webhook_endpoints WHERE organization_id = ${organizationId}`.pipe(
    Effect.map((rows) => rows[0]?.count ?? 0)
  )

/** The place of both secrets: a rotation moves the current secret, as it is sealed, to `previous_secret`. */
const placeOf = (organizationId: OrganizationId, id: WebhookEndpointId): Place => ({ of: "webhook_endpoints", organizationId, id })
/** URLs are sealed because they often contain a token. */
const urlPlaceOf = (organizationId: OrganizationId, id: WebhookEndpointId): Place => ({ of: "webhook_endpoints.url", organizationId, id })

export const openedUrl = (sealer: Seals, organizationId: OrganizationId, id: WebhookEndpointId, url: string): string =>
  openedText(sealer, urlPlaceOf(organizationId, id), url)

export const openedSecret = (sealer: Seals, organizationId: OrganizationId, id: WebhookEndpointId, secret: string): string =>
  openedText(sealer, placeOf(organizationId, id), secret)

const endpointOf =
  (sealer: Seals) =>
  (row: Row<WebhookEndpoint>): WebhookEndpoint => ({
    ...row,
    url: openedUrl(sealer, row.organizationId, row.id, row.url),
    disabledReason: row.disabledReason ?? undefined
  })

/** The endpoint with its secret in clear text, which is shown only this once. */
const withSecret =
  (sealer: Seals, secret: string) =>
  (rows: ReadonlyArray<Row<WebhookEndpoint>>): WebhookEndpointWithSecret | undefined =>
    rows.map(endpointOf(sealer)).map((endpoint) => ({ ...endpoint, secret }))[0]

export const insert = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, settings: EndpointSettings, secret: string) {
  const id = WebhookEndpointId.make(yield* newRowId(sql, "webhook_endpoints"))
  const sealer = yield* Sealer
  const url = sealer.seal(urlPlaceOf(organizationId, id), settings.url)
  const sealed = sealer.seal(placeOf(organizationId, id), secret)
  return yield* sql<Row<WebhookEndpoint>>`
    INSERT INTO webhook_endpoints (id, organization_id, url, description, event_types, enabled, secret) OVERRIDING SYSTEM VALUE
    VALUES (${id}::int, ${organizationId}, ${url}, ${settings.description}, ${settings.eventTypes}::text[], ${settings.enabled},
      ${sealed})
    RETURNING ${columns(sql)}`.pipe(Effect.map(withSecret(sealer, secret)))
})

export const list = (sql: Sql, sealer: Seals, organizationId: OrganizationId, limit: number) =>
  sql<Row<WebhookEndpoint>>`
    SELECT ${columns(sql)} FROM webhook_endpoints WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${limit}`.pipe(
    Effect.map((rows) => rows.map(endpointOf(sealer)))
  )

export const find = (sql: Sql, sealer: Seals, organizationId: OrganizationId, id: WebhookEndpointId) =>
  sql<Row<WebhookEndpoint>>`
    SELECT ${columns(sql)} FROM webhook_endpoints WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
    Effect.map((rows) => rows.map(endpointOf(sealer))[0])
  )

/**
 * Changes the endpoint and makes it due now, so that an endpoint that was enabled again resumes its deliveries at once. The new version makes
 * a node that is releasing the endpoint look again.
 */
export const update = (
  sql: Sql,
  sealer: Seals,
  organizationId: OrganizationId,
  id: WebhookEndpointId,
  { description, enabled, eventTypes, url }: Partial<EndpointSettings>
) => {
  const sealedUrl = url === undefined ? null : sealer.seal(urlPlaceOf(organizationId, id), url)
  return sql<Row<WebhookEndpoint>>`
    WITH due AS (
      SELECT pg_notify('trunkline_events', 'deliveries')
    )
    UPDATE webhook_endpoints SET url = coalesce(${sealedUrl}::text, url),
      description = coalesce(${description ?? null}::text, description),
      event_types = coalesce(${eventTypes ?? null}::text[], event_types), enabled = coalesce(${enabled ?? null}::bool, enabled),
      disabled_reason = CASE WHEN ${enabled ?? null}::bool IS NULL THEN disabled_reason END, failures = 0, version = version + 1,
      next_due_at = now(), updated_at = now()
    FROM due WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(
    Effect.map((rows) => rows.map(endpointOf(sealer))[0])
  )
}

/** Replaces the secret. For a day, deliveries are also signed with the previous one. */
export const rotate = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: WebhookEndpointId, secret: string) {
  const sealer = yield* Sealer
  const sealed = sealer.seal(placeOf(organizationId, id), secret)
  return yield* sql<Row<WebhookEndpoint>>`
    UPDATE webhook_endpoints SET previous_secret = secret, previous_secret_until = now() + ${previousSecretFor}::text::interval,
      secret = ${sealed}, updated_at = now()
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(Effect.map(withSecret(sealer, secret)))
})

/** From now on the endpoint gets no new deliveries. False if there is no such endpoint. */
export const disable = (sql: Sql, organizationId: OrganizationId, id: WebhookEndpointId) =>
  sql`UPDATE webhook_endpoints SET enabled = false WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** Deletes up to `limit` deliveries of the endpoint, and returns how many it deleted. */
export const removeDeliveries = (sql: Sql, organizationId: OrganizationId, id: WebhookEndpointId, limit: number) =>
  sql`
    DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
      SELECT id FROM webhook_deliveries WHERE organization_id = ${organizationId} AND endpoint_id = ${id} LIMIT ${limit}::int))
    RETURNING id`.pipe(Effect.map((rows) => rows.length))

/** Deletes the endpoint and the deliveries that it still has. False if there is no such endpoint. */
export const remove = (sql: Sql, organizationId: OrganizationId, id: WebhookEndpointId) =>
  sql`DELETE FROM webhook_endpoints WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export interface DeliveryQuery {
  readonly state: DeliveryState | undefined
  /** Selects only deliveries older than this one. */
  readonly before: WebhookDeliveryId | undefined
  readonly limit: number
}

/** Newest first. */
export const deliveries = (sql: Sql, organizationId: OrganizationId, id: WebhookEndpointId, { before, limit, state }: DeliveryQuery) =>
  sql<Row<WebhookDelivery>>`
    SELECT d.id, d.endpoint_id, d.event_id, e.type AS event_type, e.subject, d.state, d.attempts, d.due_at, d.last_attempt_at, d.last_status,
      d.last_error, d.created_at
    FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
    WHERE d.organization_id = ${organizationId} AND d.endpoint_id = ${id} AND ${sql.and([
      ...(state === undefined ? [] : [sql`d.state = ${state}`]),
      ...(before === undefined ? [] : [sql`d.id < ${before}::bigint`]),
      sql`true`
    ])}
    ORDER BY d.id DESC LIMIT ${limit}`.pipe(Effect.map((rows) => rows.map(deliveryOf)))

export const deliveryState = (sql: Sql, organizationId: OrganizationId, endpointId: WebhookEndpointId, id: WebhookDeliveryId) =>
  sql<{ readonly state: DeliveryState }>`
    SELECT state FROM webhook_deliveries WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId} AND id = ${id}`.pipe(
    Effect.map((rows) => rows[0]?.state)
  )

/** Makes up to `limit` dead deliveries pending again, oldest first, and resets their tries. Returns how many there were. */
export const replay = (
  sql: Sql,
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  which: { readonly id: WebhookDeliveryId | undefined; readonly limit: number }
) =>
  sql<{ readonly count: number }>`
    WITH replayed AS (
      UPDATE webhook_deliveries SET state = 'pending', attempts = 0, due_at = now() WHERE state = 'dead' AND id = ANY (ARRAY(
        SELECT id FROM webhook_deliveries
        WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId} AND state = 'dead'
          AND (${which.id ?? null}::bigint IS NULL OR id = ${which.id ?? null}::bigint)
        ORDER BY id LIMIT ${which.limit}::int))
      RETURNING id
    ), due AS (
      UPDATE webhook_endpoints SET version = version + 1, next_due_at = now(), failures = 0
      WHERE organization_id = ${organizationId} AND id = ${endpointId} AND EXISTS (SELECT 1 FROM replayed)
      RETURNING pg_notify('trunkline_events', 'deliveries')
    )
    SELECT count(*)::int AS count FROM replayed`.pipe(Effect.map((rows) => rows[0]?.count ?? 0))
