/**
 * What waits to be sent to webhook endpoints. Nodes share the endpoints out among themselves: whoever has claimed one has all of it until
 * the lease ends, sends a few of its deliveries, and gives it back to stand in line again. So a slow endpoint keeps nobody else waiting for
 * longer than one turn, and no endpoint hears from two nodes at once.
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
  /** As it lies in the database, so that another one can be told from it. */
  readonly storedUrl: string
  /** The current one, and the one before it while that is still good. */
  readonly secrets: ReadonlyArray<string>
  readonly lease: number
  readonly version: number
  /** Turns in a row that failed before this one. */
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
  /** Of a pending one: to its next try. */
  readonly dueInMillis: number
  readonly status: number | undefined
  readonly error: string | undefined
}

interface TurnEnd {
  /** 0 after a turn that went well. */
  readonly failures: number
  readonly pauseMillis: number
  /** The endpoint has said that it is gone for good: it is disabled. */
  readonly isGone: boolean
}

export class WebhookQueue extends Context.Service<
  WebhookQueue,
  {
    /** Endpoints with something due, the longest waiting first. No two callers are ever given the same one, while its lease lasts. */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedEndpoint>>
    readonly due: (endpoint: ClaimedEndpoint, limit: number) => Effect.Effect<ReadonlyArray<DueDelivery>>
    readonly record: (endpoint: ClaimedEndpoint, tried: ReadonlyArray<Tried>) => Effect.Effect<void>
    /** Gives the endpoint back. Does nothing when the lease has ended and another node has it. */
    readonly release: (endpoint: ClaimedEndpoint, end: TurnEnd) => Effect.Effect<void>
    /** Milliseconds until an endpoint that nobody has is due; undefined when none is. */
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

// What was delivered by a node that lost its lease is delivered nevertheless, so nothing is asked about the lease.
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

// A delivery may be added while we look for the next one due. It raises the version, and then we look again.
const release = Effect.fnUntraced(function* (sql: Sql, endpoint: ClaimedEndpoint, end: TurnEnd) {
  let version: number | undefined = endpoint.version
  // Somebody may have given it another address meanwhile, which is not gone.
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
