/** The keys that requests carry. Every request authenticates, so what was found is remembered for a moment. */
import { Cache, Context, Effect, Exit, Layer, Schema } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../Id.ts"
import type { ApiKeyId, Caller } from "./Caller.ts"
import { hashOf } from "./Secret.ts"

/** Unknown, archived or empty: which of these is nobody's business. */
export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()("InvalidApiKey", {}) {}

const rememberedMillis = 1000
const rememberedKeys = 10_000
const longestKey = 256

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Whose key this is. An archived key may be accepted for up to a second more. */
    readonly authenticate: (rawKey: string) => Effect.Effect<Caller, InvalidApiKey>
  }
>()("core/organization/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Refusals are not remembered: made-up keys would push out the real ones.
      const callers = yield* Cache.makeWith((rawKey: string) => lookup(sql, rawKey), {
        capacity: rememberedKeys,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberedMillis : 0)
      })
      return ApiKeys.of({
        authenticate: (rawKey) =>
          rawKey === "" || rawKey.length > longestKey ? Effect.fail(new InvalidApiKey()) : Cache.get(callers, rawKey)
      })
    })
  ).pipe(Layer.provide(Digest.layerWebCrypto))
}

const lookup = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, rawKey: string) {
  const [caller] = yield* Effect.orDie(use(sql, yield* hashOf(rawKey)))
  return caller ?? (yield* new InvalidApiKey())
})

// `last_used_at` is good to a minute, so that reading it costs no write per request.
const use = (sql: SqlClient.SqlClient, keyHash: string) => sql<{ readonly organizationId: OrganizationId; readonly apiKeyId: ApiKeyId }>`
  WITH found AS (
    SELECT id, organization_id, last_used_at FROM api_keys WHERE key_hash = ${keyHash} AND archived_at IS NULL
  ), used AS (
    UPDATE api_keys k SET last_used_at = now() FROM found f
    WHERE k.id = f.id AND (f.last_used_at IS NULL OR f.last_used_at < now() - interval '1 minute')
  )
  SELECT organization_id, id AS api_key_id FROM found`
