/** The operator's keys. Only an operator key can create and revoke others; the first one is created at the first start, or given as `API_KEY`. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type ApiKey, ApiKeyNotFound, newKey, prefixOf } from "./ApiKey.ts"
import { ApiKeys, counted } from "./ApiKeys.ts"
import * as store from "./ApiKeyStore.ts"
import type { ApiKeyId, Caller } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import { LastOperatorKey, type QuotaFull } from "./Quota.ts"
import type { RoleTooLow } from "./Role.ts"
import { hashOf } from "./Secret.ts"
import { whileGood } from "./Standing.ts"

export class Operators extends Context.Service<
  Operators,
  {
    /** Includes revoked keys; oldest first. */
    readonly keys: Effect.Effect<ReadonlyArray<ApiKey>>
    /** `key` is available only now. It belongs to the caller's organization and to no user, and never expires. */
    readonly create: (
      caller: Caller,
      name: string
    ) => Effect.Effect<{ readonly made: ApiKey; readonly key: Redacted.Redacted }, QuotaFull | RoleTooLow>
    /** Revoking a key again succeeds. */
    readonly revoke: (caller: Caller, id: ApiKeyId) => Effect.Effect<void, ApiKeyNotFound | LastOperatorKey | RoleTooLow>
  }
>()("core/organization/Operators") {
  static readonly layer = Layer.effect(
    Operators,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const apiKeys = yield* ApiKeys
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      return Operators.of({
        keys: acrossTenants(Effect.orDie(store.listOperators(sql))).pipe(Effect.withSpan("Operators.keys")),
        create: Effect.fn("Operators.create")((caller, name) => Effect.provideContext(create(sql, caller, name), crypto)),
        revoke: Effect.fn("Operators.revoke")((caller, id) =>
          Effect.andThen(whileGood(sql, caller, revoke(sql, id), store.lockOperators(sql)), apiKeys.forget)
        )
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

type Sql = SqlClient.SqlClient

const create = Effect.fnUntraced(function* (sql: Sql, caller: Caller, name: string) {
  const { organizationId } = caller
  const key = yield* newKey
  const keyHash = yield* hashOf(key)
  const plain = {
    role: "owner",
    scopes: undefined,
    expiresAt: undefined,
    userId: undefined,
    madeWith: undefined,
    isOperator: true
  } as const
  const inserted = store.insert(sql, { organizationId, name, keyPrefix: prefixOf(key), keyHash, ...plain })
  const [made] = yield* whileGood(sql, caller, counted(sql, organizationId, inserted))
  return made === undefined ? yield* Effect.die("An inserted key was not returned") : { made, key: Redacted.make(key) }
})

const revoke = Effect.fnUntraced(function* (sql: Sql, id: ApiKeyId) {
  const keys = yield* store.lockOperators(sql)
  const found = keys.find((key) => key.id === id)
  if (found === undefined) return yield* new ApiKeyNotFound()
  if (found.isActive && keys.filter(({ isActive }) => isActive).length === 1) return yield* new LastOperatorKey()
  yield* store.archiveOperator(sql, id)
})
