/** The tenants of this installation. The first one is created at the first start, with its first key. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { newKey, prefixOf } from "./ApiKey.ts"
import { firstOrganization } from "./InstallationStore.ts"
import { hashOf, newSecret } from "./Secret.ts"

const firstName = "First organization"
/** Only one node at a time creates the first organization. */
const bootstrapLock = 7_200_101

interface Bootstrap {
  readonly organizationId: OrganizationId
  /** Whether this call created the first organization. */
  readonly created: boolean
  /** The generated key, to be shown once; undefined when none was generated. */
  readonly key: Redacted.Redacted | undefined
}

export class Organizations extends Context.Service<
  Organizations,
  {
    /**
     * Ensures that there is an organization with a key. `firstKey`, if given, becomes its bootstrap key and replaces the previous one; if not, a
     * key is generated when there is no organization yet.
     */
    readonly bootstrap: (
      firstKey: Redacted.Redacted | undefined,
      /** The concurrency limit of an organization that is created here. */
      concurrencyLimit: number
    ) => Effect.Effect<Bootstrap>
    /** A new code that creates the first account, and voids the former one; undefined once anybody has an account. */
    readonly newSetUpCode: Effect.Effect<Redacted.Redacted | undefined>
  }
>()("core/organization/Organizations") {
  static readonly layer = Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const services = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      return Organizations.of({
        bootstrap: Effect.fn("Organizations.bootstrap")((firstKey, concurrencyLimit) =>
          bootstrap(sql, firstKey, concurrencyLimit).pipe(sql.withTransaction, Effect.orDie, Effect.provideContext(services))
        ),
        newSetUpCode: newSetUpCode(sql).pipe(Effect.orDie, Effect.provideContext(services))
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

type Sql = SqlClient.SqlClient

const bootstrap = Effect.fnUntraced(function* (sql: Sql, given: Redacted.Redacted | undefined, concurrencyLimit: number) {
  yield* sql`SELECT pg_advisory_xact_lock(${bootstrapLock})`
  const first = yield* firstOrganization(sql)
  if (first !== undefined) {
    if (given !== undefined) yield* setBootstrapKey(sql, first, Redacted.value(given))
    return { organizationId: first, created: false, key: undefined }
  }
  const organizationId = yield* create(sql, concurrencyLimit)
  const key = given === undefined ? yield* newKey : Redacted.value(given)
  yield* setBootstrapKey(sql, organizationId, key)
  return { organizationId, created: true, key: given === undefined ? Redacted.make(key) : undefined }
})

const newSetUpCode = (sql: Sql) =>
  Effect.gen(function* () {
    const code = yield* newSecret()
    const hash = yield* hashOf(code)
    const rows = yield* sql`UPDATE first_account SET code_hash = ${hash} WHERE claimed_at IS NULL RETURNING 1`
    return rows.length > 0 ? Redacted.make(code) : undefined
  })

const create = Effect.fnUntraced(function* (sql: Sql, concurrencyLimit: number) {
  const [row] = yield* sql<{ readonly id: OrganizationId }>`
    INSERT INTO organizations (name, concurrency_limit) VALUES (${firstName}, ${concurrencyLimit}) RETURNING id`
  return row === undefined ? yield* Effect.die("An inserted organization was not returned") : row.id
})

// A key that is stored already, under any name, stays as it is.
const setBootstrapKey = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, key: string) {
  const hash = yield* hashOf(key)
  const prefix = prefixOf(key)
  yield* sql`
    WITH rotated AS (
      UPDATE api_keys SET key_hash = ${hash}, key_prefix = ${prefix}, last_used_at = NULL, archived_at = NULL, is_operator = true
      WHERE organization_id = ${organizationId} AND is_bootstrap AND NOT EXISTS (SELECT 1 FROM api_keys WHERE key_hash = ${hash})
      RETURNING id
    )
    INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role, is_bootstrap, is_operator)
    SELECT ${organizationId}::int, 'bootstrap', ${prefix}, ${hash}, 'owner', true, true
    WHERE NOT EXISTS (SELECT 1 FROM rotated) AND NOT EXISTS (SELECT 1 FROM api_keys WHERE key_hash = ${hash})`
})
