/** The quotas and usage of organizations: shown to their users, set by the operator, lowered by their admins. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { Signals } from "#core/Signals.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import { running } from "./OrganizationSettingsStore.ts"
import {
  defaultQuotas,
  eachOf,
  type Quota,
  type QuotaDefaults,
  type QuotaName,
  quotaDeclarations,
  QuotaNotAllowed,
  quotaNames,
  quotaOf
} from "./Quota.ts"
import * as store from "./QuotaStore.ts"
import { SignupPolicy } from "./SignUp.ts"
import { OrganizationNotFound } from "./User.ts"
import { Users } from "./Users.ts"

type QuotaUse = Quota & {
  /** Undefined for quotas whose usage is counted elsewhere, or not kept. */
  readonly used: number | undefined
}
export interface OrganizationQuotas extends store.NamedOrganization {
  readonly quotas: Readonly<Record<QuotaName, QuotaUse>>
}

export class Quotas extends Context.Service<
  Quotas,
  {
    readonly get: (id: OrganizationId) => Effect.Effect<OrganizationQuotas, OrganizationNotFound>
    /** Sorted by id, starting after `after`. */
    readonly list: (after: number, limit: number) => Effect.Effect<ReadonlyArray<OrganizationQuotas>>
    /** For the operator. Null restores the default; undefined leaves a quota unchanged. Running campaigns follow at once, and live calls continue. */
    readonly set: (id: OrganizationId, changes: store.Changes) => Effect.Effect<OrganizationQuotas, OrganizationNotFound>
    /** For the organization itself. Null restores what the operator allows. */
    readonly setOwn: (
      id: OrganizationId,
      changes: store.Changes
    ) => Effect.Effect<OrganizationQuotas, OrganizationNotFound | QuotaNotAllowed>
  }
>()("core/organization/Quotas") {
  static readonly layer = Layer.effect(
    Quotas,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const keys = yield* ApiKeys
      const users = yield* Users
      const defaults = defaultsOf(yield* SignupPolicy)
      /** Drops cached callers, who carry the old allowance, and signals running campaigns. */
      const signalChange = Effect.fnUntraced(function* (id: OrganizationId) {
        yield* Effect.andThen(keys.forget, users.forget)
        const campaigns = yield* Effect.orDie(running(sql, id))
        yield* Effect.forEach(campaigns, (campaign) => signals.campaignChanged(campaign.id), { discard: true, concurrency: "unbounded" })
      })
      const get = Effect.fnUntraced(function* (id: OrganizationId) {
        const found = yield* Effect.orDie(store.organization(sql, id))
        if (found === undefined) return yield* new OrganizationNotFound()
        const [shown] = yield* Effect.orDie(withUse(sql, defaults, [found]))
        return shown ?? (yield* new OrganizationNotFound())
      })
      const changed = <E>(id: OrganizationId, change: Effect.Effect<void, E>) =>
        // Uninterruptible: if the client disconnects, running campaigns must still be signalled.
        acrossTenants(Effect.andThen(Effect.uninterruptible(Effect.andThen(change, signalChange(id))), get(id)))
      return Quotas.of({
        get: Effect.fn("Quotas.get")((id) => acrossTenants(get(id))),
        list: Effect.fn("Quotas.list")((after, limit) =>
          acrossTenants(Effect.orDie(Effect.flatMap(store.organizations(sql, after, limit), (found) => withUse(sql, defaults, found))))
        ),
        set: Effect.fn("Quotas.set")((id, changes) => changed(id, set(sql, defaults, id, changes))),
        setOwn: Effect.fn("Quotas.setOwn")((id, changes) => changed(id, setOwn(sql, defaults, id, changes)))
      })
    })
  )
}

type Sql = SqlClient.SqlClient

export const defaultsOf = ({ concurrencyLimit }: typeof SignupPolicy.Service): QuotaDefaults => ({
  ...defaultQuotas,
  calls: concurrencyLimit
})

const withUse = Effect.fnUntraced(function* (sql: Sql, defaults: QuotaDefaults, organizations: ReadonlyArray<store.NamedOrganization>) {
  const ids = organizations.map(({ id }) => id)
  const rows = yield* store.list(sql, ids)
  const calls = new Map((yield* store.callsUp(sql, ids)).map((row) => [row.organizationId, row.calls]))
  return organizations.map((organization): OrganizationQuotas => {
    const own = new Map(rows.filter(({ organizationId }) => organizationId === organization.id).map((row) => [row.name, row]))
    const usedOf = (name: QuotaName): number | undefined => {
      const { counted } = quotaDeclarations[name]
      if (counted === "calls") return calls.get(organization.id) ?? 0
      return counted === "triggers" ? (own.get(name)?.used ?? 0) : undefined
    }
    return { ...organization, quotas: eachOf(quotaNames, (name) => ({ ...quotaOf(name, own.get(name), defaults), used: usedOf(name) })) }
  })
})

/** Must be called in the transaction that holds the organization's lock. */
export const setOf = (sql: Sql, id: OrganizationId) =>
  Effect.map(store.list(sql, [id]), (rows) => (name: QuotaName) => rows.find((row) => row.name === name))

/** Holds the lock until the transaction ends. */
const locked = Effect.fnUntraced(function* (sql: Sql, id: OrganizationId) {
  if (!(yield* store.lock(sql, id))) return yield* new OrganizationNotFound()
})

const set = Effect.fnUntraced(
  function* (sql: Sql, defaults: QuotaDefaults, id: OrganizationId, changes: store.Changes) {
    yield* locked(sql, id)
    yield* store.set(sql, id, "allowed", changes)
    yield* settleCalls(sql, defaults, id)
  },
  (set, sql) => Effect.catchTag(sql.withTransaction(set), "SqlError", Effect.die)
)

const setOwn = Effect.fnUntraced(
  function* (sql: Sql, defaults: QuotaDefaults, id: OrganizationId, changes: store.Changes) {
    yield* locked(sql, id)
    const stored = yield* setOf(sql, id)
    for (const name of quotaNames) {
      const asked = changes[name] ?? 0
      const { allowed } = quotaOf(name, stored(name), defaults)
      if (asked > allowed) return yield* new QuotaNotAllowed({ quota: name, field: name, allowed, asked })
    }
    yield* store.set(sql, id, "own", changes)
    yield* settleCalls(sql, defaults, id)
  },
  (set, sql) => Effect.catchTag(sql.withTransaction(set), "SqlError", Effect.die)
)

const settleCalls = Effect.fnUntraced(function* (sql: Sql, defaults: QuotaDefaults, id: OrganizationId) {
  const stored = yield* setOf(sql, id)
  yield* store.setCalls(sql, id, quotaOf("calls", stored("calls"), defaults).limit)
})
