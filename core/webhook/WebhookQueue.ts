/**
 * The queue of deliveries to webhook endpoints. Nodes divide the endpoints among themselves: a node that claims an endpoint owns all its
 * deliveries until the lease ends, sends some of them, and puts the endpoint back in line. A slow endpoint therefore delays others by one
 * turn at most, and no endpoint gets requests from two nodes at once.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { Sealer, type Seals } from "#core/Sealer.ts"
import type { Event } from "#core/event/Event.ts"
import type { WebhookDeliveryId, WebhookEndpointId } from "./WebhookEndpoint.ts"
import { openedSecret, openedUrl } from "./WebhookEndpointStore.ts"

/** Longer than any turn. */
const leaseFor = "90 seconds"

export interface ClaimedEndpoint {
  readonly id: WebhookEndpointId
  readonly url: string
  /** The URL as the database has it, sealed. It shows whether the URL has been changed since. */
  readonly storedUrl: string
  /** The current secret, and the previous one while that is still valid. */
  readonly secrets: ReadonlyArray<string>
  readonly lease: number
  readonly version: number
  /** Consecutive failed turns before this one. */
  readonly failures: number
}

export interface DueDelivery {
  readonly id: WebhookDeliveryId
  /** Tries before this one. */
  readonly attempts: number
  readonly event: Event
}

export interface Tried {
  readonly id: WebhookDeliveryId
  readonly state: "pending" | "delivered" | "dead"
  /** Milliseconds until the next try, if the delivery is pending. */
  readonly dueInMillis: number
  readonly status: number | undefined
  readonly error: string | undefined
}

interface TurnEnd {
  /** Consecutive failed turns; 0 after a turn without a failure. */
  readonly failures: number
  readonly pauseMillis: number
  /** The endpoint answered that it is gone for good, so it is disabled. */
  readonly isGone: boolean
}

export class WebhookQueue extends Context.Service<
  WebhookQueue,
  {
    /** Endpoints with deliveries due, longest waiting first. Two callers never hold the same one while its lease lasts. */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedEndpoint>>
    readonly due: (endpoint: ClaimedEndpoint, limit: number) => Effect.Effect<ReadonlyArray<DueDelivery>>
    readonly record: (endpoint: ClaimedEndpoint, tried: ReadonlyArray<Tried>) => Effect.Effect<void>
    /** Gives the endpoint back. Does nothing if the lease has ended and another node has claimed it. */
    readonly release: (endpoint: ClaimedEndpoint, end: TurnEnd) => Effect.Effect<void>
    /** Milliseconds until an endpoint that is not leased is due; undefined if there is none. */
    readonly nextDueIn: Effect.Effect<number | undefined>
  }
>()("core/webhook/WebhookQueue") {
  static readonly layer = Layer.effect(
    WebhookQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      return WebhookQueue.of({
        claim: (limit) => Effect.orDie(claim(sql, sealer, limit)),
        due: (endpoint, limit) => Effect.orDie(due(sql, endpoint, limit)),
        record: (endpoint, tried) => (tried.length === 0 ? Effect.void : Effect.orDie(record(sql, endpoint, tried))),
        release: (endpoint, end) => Effect.orDie(release(sql, endpoint, end)),
        nextDueIn: Effect.orDie(nextDueIn(sql))
      })
    })
  )
}

type Sql = SqlClient.SqlClient

const claim = (sql: Sql, sealer: Seals, limit: number) =>
  sql<Omit<ClaimedEndpoint, "storedUrl"> & { readonly organizationId: OrganizationId }>`
    UPDATE webhook_endpoints e SET leased_until = now() + ${leaseFor}::text::interval, lease = lease + 1
    FROM (
      SELECT id FROM webhook_endpoints
      WHERE enabled AND next_due_at <= now() AND (leased_until IS NULL OR leased_until < now())
      ORDER BY next_due_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
    ) AS chosen
    WHERE e.id = chosen.id
    RETURNING e.id, e.organization_id, e.url, e.lease, e.version, e.failures,
      array_remove(ARRAY[e.secret, CASE WHEN e.previous_secret_until > now() THEN e.previous_secret END], NULL) AS secrets`.pipe(
    Effect.map((rows) =>
      rows.map(
        ({ organizationId, secrets, url, ...endpoint }): ClaimedEndpoint => ({
          ...endpoint,
          url: openedUrl(sealer, organizationId, endpoint.id, url),
          storedUrl: url,
          secrets: secrets.map((secret) => openedSecret(sealer, organizationId, endpoint.id, secret))
        })
      )
    )
  )

interface DueRow extends Omit<Event, "id"> {
  readonly id: WebhookDeliveryId
  readonly attempts: number
  readonly eventId: Event["id"]
}

const due = (sql: Sql, endpoint: ClaimedEndpoint, limit: number) =>
  sql<DueRow>`
    SELECT d.id, d.attempts, d.event_id, e.organization_id, e.type, e.subject, e.data, e.created_at
    FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
    WHERE d.endpoint_id = ${endpoint.id} AND d.state = 'pending' AND d.due_at <= now()
    ORDER BY d.due_at, d.id LIMIT ${limit}::int`.pipe(
    Effect.map((rows) =>
      rows.map(({ attempts, eventId, id, ...event }): DueDelivery => ({ id, attempts, event: { ...event, id: eventId } }))
    )
  )

// The lease is not checked: a delivery that a node made after it lost its lease has still been made.
const record = (sql: Sql, endpoint: ClaimedEndpoint, tried: ReadonlyArray<Tried>) => {
  const rows = tried.map(({ dueInMillis, error, id, state, status }) => ({
    id,
    state,
    due_in: dueInMillis / 1000,
    status: status ?? null,
    error: error ?? null
  }))
  return sql`
    UPDATE webhook_deliveries d SET state = t.state, attempts = d.attempts + 1, last_attempt_at = now(), last_status = t.status,
      last_error = t.error, due_at = CASE WHEN t.state = 'pending' THEN now() + make_interval(secs => t.due_in) ELSE d.due_at END
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) AS t (id bigint, state text, due_in float8, status smallint, error text)
    WHERE d.id = t.id AND d.endpoint_id = ${endpoint.id} AND d.state = 'pending'`.pipe(Effect.asVoid)
}

// A delivery may be added while we look for the next one due. That raises the version, and then we look again.
const release = Effect.fnUntraced(function* (sql: Sql, endpoint: ClaimedEndpoint, end: TurnEnd) {
  let version: number | undefined = endpoint.version
  // The URL may have been changed meanwhile, and the new one is not gone.
  const isGone = sql`(${end.isGone}::bool AND url = ${endpoint.storedUrl})`
  while (version !== undefined) {
    const released = yield* sql`
      UPDATE webhook_endpoints e SET leased_until = NULL, failures = ${end.failures}, enabled = enabled AND NOT ${isGone},
        disabled_reason = CASE WHEN ${isGone} THEN 'gone' ELSE disabled_reason END,
        next_due_at = (SELECT greatest(due_at, now() + make_interval(secs => ${end.pauseMillis / 1000}::float8)) FROM webhook_deliveries
          WHERE endpoint_id = e.id AND state = 'pending' ORDER BY due_at LIMIT 1)
      WHERE id = ${endpoint.id} AND lease = ${endpoint.lease}::bigint AND version = ${version}::bigint RETURNING id`
    if (released.length > 0) return
    const [now] = yield* sql<{ readonly version: number }>`
      SELECT version FROM webhook_endpoints WHERE id = ${endpoint.id} AND lease = ${endpoint.lease}::bigint`
    version = now?.version
  }
})

const nextDueIn = (sql: Sql) =>
  sql<{ readonly dueIn: number }>`
    SELECT extract(epoch FROM next_due_at - clock_timestamp())::float8 * 1000 AS due_in FROM webhook_endpoints
    WHERE enabled AND next_due_at IS NOT NULL AND (leased_until IS NULL OR leased_until < now()) ORDER BY next_due_at LIMIT 1`.pipe(
    Effect.map((rows) => (rows[0] === undefined ? undefined : Math.max(0, rows[0].dueIn)))
  )
