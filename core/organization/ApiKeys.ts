/** The keys that requests carry. Every request authenticates, so a key that was found is cached for a second. */
import { Clock, Context, Effect, Exit, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type ApiKey, ApiKeyExpired, ApiKeyNotFound, InvalidApiKey, newKey, prefixOf } from "./ApiKey.ts"
import * as store from "./ApiKeyStore.ts"
import type { ApiKeyId, Caller } from "./Caller.ts"
import { allowanceOf, type QuotaFull } from "./Quota.ts"
import { within } from "./QuotaStore.ts"
import { includes, lesser, type Role, RoleTooLow } from "./Role.ts"
import { hasScope, type Scope, scopes as allScopes, ScopeMissing } from "./Scope.ts"
import { everywhere } from "./ForgottenEverywhere.ts"
import { hashOf } from "./Secret.ts"
import { whileGood } from "./Standing.ts"
import { type TooManyWrongKeys, WrongCredentials } from "./WrongKeys.ts"

export { InvalidApiKey } from "./ApiKey.ts"

const rememberedMillis = 1000
const rememberedKeys = 10_000
const longestKey = 256

export interface NewApiKey {
  readonly name: string
  /** Undefined: the caller's role, but at most `admin`. */
  readonly role: Role | undefined
  /** Undefined: the caller's scopes. */
  readonly scopes?: ReadonlyArray<Scope> | undefined
  /** Undefined: never, unless the key it is created with expires. */
  readonly expiresAt?: Date | undefined
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /**
     * Returns the caller that the key belongs to. Unless it `isFresh`, that may be what was true a second ago. Unknown keys count against
     * `subscriber`.
     */
    readonly authenticate: (
      rawKey: string,
      subscriber?: string,
      isFresh?: boolean
    ) => Effect.Effect<Caller, InvalidApiKey | TooManyWrongKeys>
    /** Returns at once, and only for a key that was looked up within the last second; otherwise undefined. */
    readonly remembered: (rawKey: string) => Caller | undefined
    /** Makes all engines read permissions from the database again. */
    readonly forget: Effect.Effect<void>
    /** Oldest first. */
    readonly list: (organizationId: OrganizationId, withArchived: boolean) => Effect.Effect<ReadonlyArray<ApiKey>>
    /** `key` is available only now. It never exceeds the permissions of the user or key that creates it, nor outlives that key. */
    readonly create: (
      caller: Caller,
      key: NewApiKey
    ) => Effect.Effect<{ readonly made: ApiKey; readonly key: Redacted.Redacted }, ApiKeyExpired | QuotaFull | RoleTooLow | ScopeMissing>
    /** Fails for a key with more rights than the caller. Archiving a key again succeeds. */
    readonly archive: (caller: Caller, id: ApiKeyId) => Effect.Effect<void, ApiKeyNotFound | RoleTooLow>
    /** Also fails for a key that has more scopes than the caller's key, or that expires later. */
    readonly reactivate: (caller: Caller, id: ApiKeyId) => Effect.Effect<void, ApiKeyNotFound | QuotaFull | RoleTooLow>
  }
>()("core/organization/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      const clock = yield* Clock.Clock
      let latest = new Map<string, { readonly caller: Caller; readonly until: number }>()
      const lookedUp = Effect.fnUntraced(function* (rawKey: string) {
        const found = latest
        const until = SteadyTime.nowOf(clock) + rememberedMillis
        const caller = yield* Effect.provideContext(lookup(sql, rawKey), crypto)
        if (found.size >= rememberedKeys) found.clear()
        // `found` was taken before the lookup: a result that arrives after `forget` goes into the discarded map.
        found.set(rawKey, { caller, until })
        return caller
      })
      // Refusals are not cached: invented keys would push out the real ones.
      const callers = yield* SteadyCache.make(lookedUp, {
        capacity: rememberedKeys,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberedMillis : 0)
      })
      const forget = yield* everywhere(
        Effect.suspend(() => {
          latest = new Map()
          return callers.forgetAll
        })
      )
      const change =
        <E>(
          write: (sql: SqlClient.SqlClient, caller: Caller, id: ApiKeyId) => Effect.Effect<unknown, E>,
          isMore: (caller: Caller, key: store.Reach) => boolean
        ) =>
        (caller: Caller, id: ApiKeyId) =>
          Effect.gen(function* () {
            const key = yield* Effect.orDie(store.reachOf(sql, caller, id))
            if (key === undefined) return yield* new ApiKeyNotFound()
            if (isMore(caller, key)) return yield* new RoleTooLow()
            yield* write(sql, caller, id)
            yield* forget
          })
      const wrongKeys = yield* WrongCredentials
      const found = (rawKey: string, isFresh: boolean) => {
        if (rawKey === "" || rawKey.length > longestKey) return Effect.fail(new InvalidApiKey())
        return isFresh ? callers.getAfresh(rawKey) : callers.get(rawKey)
      }
      return ApiKeys.of({
        authenticate: (rawKey, subscriber, isFresh = false) =>
          subscriber === undefined ? found(rawKey, isFresh) : wrongKeys.within(subscriber, rawKey, found(rawKey, isFresh)),
        remembered: (rawKey) => {
          const found = latest.get(rawKey)
          return found !== undefined && SteadyTime.nowOf(clock) < found.until ? found.caller : undefined
        },
        forget,
        list: Effect.fn("ApiKeys.list")((organizationId, withArchived) => Effect.orDie(store.list(sql, organizationId, withArchived))),
        create: Effect.fn("ApiKeys.create")((caller, key) => Effect.provideContext(create(sql, caller, key), crypto)),
        archive: Effect.fn("ApiKeys.archive")(change(archived, hasMoreRights)),
        reactivate: Effect.fn("ApiKeys.reactivate")(change(reactivated, reachesFurther))
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto, WrongCredentials.layer]))
}

/** Without this check, an owner who is not an operator could reactivate a key that the operator revoked. */
const hasMoreRights = (caller: Caller, { isOperator, role }: store.Reach): boolean =>
  !includes(caller.role, role) || (isOperator && caller.isOperator !== true)
/** Reactivating a key needs the same rights as creating it. */
const reachesFurther = (caller: Caller, key: store.Reach): boolean =>
  hasMoreRights(caller, key) || key.lastsLonger || (key.scopes ?? allScopes).some((scope) => !hasScope(caller, scope))

const lookup = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, rawKey: string) {
  const found = yield* Effect.orDie(store.use(sql, yield* hashOf(rawKey)))
  return found === undefined ? yield* new InvalidApiKey() : callerOf(found)
})

const callerOf = ({ allowance, apiKeyId, isOperator, organizationId, role, scopes, userId, userRole }: store.FoundKey): Caller => ({
  organizationId,
  apiKeyId,
  allowance: allowanceOf(allowance),
  ...(isOperator ? { isOperator } : {}),
  role: userRole === null ? role : lesser(role, userRole),
  ...(userId === null ? {} : { userId }),
  ...(scopes === null ? {} : { scopes })
})

/** For writes that add at most one row; checks the quota of keys if a row was added. */
export const counted = <Row>(
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  made: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
) =>
  made.pipe(
    Effect.tap(({ length }) => (length === 0 ? Effect.void : within(sql, organizationId, "keys", length))),
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

const archived = (sql: SqlClient.SqlClient, { organizationId }: Caller, id: ApiKeyId) =>
  Effect.orDie(store.archive(sql, organizationId, id))
const reactivated = (sql: SqlClient.SqlClient, caller: Caller, id: ApiKeyId) =>
  whileGood(sql, caller, counted(sql, caller.organizationId, store.reactivate(sql, caller.organizationId, id)))

const create = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  caller: Caller,
  { expiresAt, name, role, scopes = caller.scopes }: NewApiKey
) {
  const given = role ?? lesser(caller.role, "admin")
  if (!includes(caller.role, given)) return yield* new RoleTooLow()
  const beyond = (scopes ?? allScopes).find((scope) => !hasScope(caller, scope))
  if (beyond !== undefined) return yield* new ScopeMissing({ scope: beyond })
  const now = yield* Clock.currentTimeMillis
  // The negated comparison also refuses an invalid date.
  if (expiresAt !== undefined && !(expiresAt.getTime() > now)) return yield* new ApiKeyExpired()
  const key = yield* newKey
  const { apiKeyId: madeWith, organizationId, userId } = caller
  const row = {
    organizationId,
    name,
    keyPrefix: prefixOf(key),
    keyHash: yield* hashOf(key),
    role: given,
    scopes,
    expiresAt,
    userId,
    madeWith,
    isOperator: false
  }
  const [made] = yield* whileGood(sql, caller, counted(sql, organizationId, store.insert(sql, row)))
  return made === undefined ? yield* Effect.die("An inserted key was not returned") : { made, key: Redacted.make(key) }
})
