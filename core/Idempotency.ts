/**
 * Lets a client repeat a request without repeating its effect. The key is claimed before the work begins, together with the id of what the
 * work will create; the answer is kept with it. If the process dies in between, or the client goes away, the key becomes free again, and the
 * next request with it works under the same id: it finds what was created already, and creates nothing twice.
 */
import { Context, Effect, Layer } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "./Id.ts"

const keptHours = 24
/** Longer than any request takes. */
const leaseSeconds = 60
export const prunedAtOnce = 1000

interface IdempotencyKey {
  readonly organizationId: OrganizationId
  /** The name of the operation: a key is valid for one operation only. */
  readonly route: string
  readonly key: string
}

interface IdempotentRequest extends IdempotencyKey {
  /** Everything that distinguishes this request from others, as JSON. */
  readonly content: unknown
}

export interface KeptAnswer {
  readonly status: number
  readonly body: string
}

export type Taken =
  /** The work is ours. What it creates gets `id`, and may exist already. */
  | { readonly _tag: "Ours"; readonly id: string }
  | { readonly _tag: "Answered"; readonly answer: KeptAnswer }
  | { readonly _tag: "InFlight" }
  /** The key belongs to a request with other content. */
  | { readonly _tag: "OtherRequest" }

/** The id for what the current request creates; undefined without a key. */
export const RequestId = Context.Reference<string | undefined>("core/RequestId", { defaultValue: () => undefined })

export class Idempotency extends Context.Service<
  Idempotency,
  {
    readonly take: (request: IdempotentRequest) => Effect.Effect<Taken>
    /** Keeps the answer, unless there is one already. */
    readonly answer: (key: IdempotencyKey, id: string, answer: KeptAnswer) => Effect.Effect<void>
    /** Frees the key without an answer: the next request with it continues the work. */
    readonly release: (key: IdempotencyKey, id: string) => Effect.Effect<void>
  }
>()("core/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      return Idempotency.of({
        take: Effect.fn("Idempotency.take")((request) => Effect.orDie(Effect.provideContext(take(sql, request), crypto))),
        answer: Effect.fn("Idempotency.answer")((key, id, answer) => Effect.asVoid(Effect.orDie(keep(sql, key, id, answer)))),
        release: Effect.fn("Idempotency.release")((key, id) => Effect.asVoid(Effect.orDie(release(sql, key, id))))
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

type Sql = SqlClient.SqlClient

/** The same text for the same content, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

const hashOf = Effect.fnUntraced(function* (content: unknown) {
  const digest = yield* Digest.Digest
  return yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(canonical(content)))
})

const take = Effect.fnUntraced(function* (sql: Sql, request: IdempotentRequest) {
  const random = yield* SecureRandom.SecureRandom
  const hash = yield* hashOf(request.content)
  const [ours] = yield* claim(sql, request, hash, yield* random.uuidV7())
  if (ours !== undefined) return { _tag: "Ours" as const, id: ours.id }
  const [found] = yield* sql<{ readonly requestHash: string; readonly status: number | null; readonly body: string | null }>`
    SELECT request_hash, status, body FROM idempotency_keys
    WHERE organization_id = ${request.organizationId} AND route = ${request.route} AND key = ${request.key}`
  if (found !== undefined && found.requestHash !== hash) return { _tag: "OtherRequest" as const }
  if (found === undefined || found.status === null || found.body === null) return { _tag: "InFlight" as const }
  return { _tag: "Answered" as const, answer: { status: found.status, body: found.body } }
})

/** Claims a key that is new, has expired, or whose request was left unanswered; in the last case it keeps its id. */
const claim = (sql: Sql, { key, organizationId, route }: IdempotentRequest, hash: string, id: string) => sql<{ readonly id: string }>`
  INSERT INTO idempotency_keys AS k (organization_id, route, key, id, request_hash, leased_until)
  VALUES (${organizationId}, ${route}, ${key}, ${id}::uuid, ${hash}, now() + make_interval(secs => ${leaseSeconds}))
  ON CONFLICT (organization_id, route, key) DO UPDATE SET
    id = CASE WHEN k.created_at < now() - make_interval(hours => ${keptHours}) THEN excluded.id ELSE k.id END,
    created_at = CASE WHEN k.created_at < now() - make_interval(hours => ${keptHours}) THEN now() ELSE k.created_at END,
    request_hash = excluded.request_hash, leased_until = excluded.leased_until, status = NULL, body = NULL
  WHERE k.created_at < now() - make_interval(hours => ${keptHours})
    OR (k.status IS NULL AND k.leased_until <= now() AND k.request_hash = excluded.request_hash)
  RETURNING id`

const keep = (sql: Sql, { key, organizationId, route }: IdempotencyKey, id: string, { body, status }: KeptAnswer) => sql`
  UPDATE idempotency_keys SET status = ${status}, body = ${body}
  WHERE organization_id = ${organizationId} AND route = ${route} AND key = ${key} AND id = ${id}::uuid AND status IS NULL`

const release = (sql: Sql, { key, organizationId, route }: IdempotencyKey, id: string) => sql`
  UPDATE idempotency_keys SET leased_until = now()
  WHERE organization_id = ${organizationId} AND route = ${route} AND key = ${key} AND id = ${id}::uuid AND status IS NULL`

/** Deletes the oldest expired keys of all organizations, except those with a request in flight. Returns how many there were. */
export const prune = (sql: Sql) =>
  sql`
    DELETE FROM idempotency_keys WHERE (organization_id, route, key) IN (
      SELECT organization_id, route, key FROM idempotency_keys
      WHERE created_at < now() - make_interval(hours => ${keptHours}) AND (status IS NOT NULL OR leased_until <= now())
      ORDER BY created_at LIMIT ${prunedAtOnce}::int FOR UPDATE SKIP LOCKED)
    RETURNING key`.pipe(Effect.map((rows) => rows.length))
