/** Who belongs to an organization, and in which role. Nobody grants or takes away a role above their own, and the last owner stays one. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { ApiKeys } from "./ApiKeys.ts"
import type { Caller, UserId } from "./Caller.ts"
import { LastOwner, type Member, MemberNotFound } from "./Member.ts"
import * as store from "./MemberStore.ts"
import { includes, type Role, RoleTooLow } from "./Role.ts"
import { whileGood } from "./Standing.ts"
import { Users } from "./Users.ts"

export class Members extends Context.Service<
  Members,
  {
    /** Sorted by when they joined. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<Member>>
    readonly setRole: (caller: Caller, userId: UserId, role: Role) => Effect.Effect<Member, MemberNotFound | RoleTooLow | LastOwner>
    /** The keys that the member created become invalid. */
    readonly remove: (caller: Caller, userId: UserId) => Effect.Effect<void, MemberNotFound | RoleTooLow | LastOwner>
  }
>()("core/organization/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const forgetAll = Effect.andThen(
        ApiKeys.use(({ forget }) => forget),
        Users.use(({ forget }) => forget)
      )
      const services = yield* Effect.context<ApiKeys | Users>()
      const changing = <A, E>(caller: Caller, change: Effect.Effect<A, E>) =>
        whileGood(sql, caller, change, store.lock(sql, caller.organizationId)).pipe(
          Effect.tap(() => forgetAll),
          Effect.provideContext(services)
        )
      return Members.of({
        list: Effect.fn("Members.list")((organizationId) => Effect.orDie(store.list(sql, organizationId))),
        setRole: Effect.fn("Members.setRole")((caller, userId, role) => changing(caller, setRole(sql, caller, userId, role))),
        remove: Effect.fn("Members.remove")((caller, userId) => changing(caller, remove(sql, caller, userId)))
      })
    })
  )
}

type Sql = SqlClient.SqlClient

const find = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, userId: UserId) {
  return (yield* Effect.orDie(store.find(sql, organizationId, userId))) ?? (yield* new MemberNotFound())
})

/** Finds the member, and fails if they have a higher role than the caller. */
const subject = Effect.fnUntraced(function* (sql: Sql, caller: Caller, userId: UserId) {
  const member = yield* find(sql, caller.organizationId, userId)
  return includes(caller.role, member.role) ? member : yield* new RoleTooLow()
})

const anotherOwner = Effect.fnUntraced(function* (sql: Sql, { organizationId }: Caller, { role, userId }: Member) {
  if (role === "owner" && !(yield* Effect.orDie(store.hasOtherOwner(sql, organizationId, userId)))) yield* new LastOwner()
})

const setRole = Effect.fnUntraced(function* (sql: Sql, caller: Caller, userId: UserId, role: Role) {
  const before = yield* subject(sql, caller, userId)
  if (!includes(caller.role, role)) return yield* new RoleTooLow()
  if (role !== "owner") yield* anotherOwner(sql, caller, before)
  yield* Effect.orDie(store.setRole(sql, caller.organizationId, userId, role))
  return { ...before, role }
})

const remove = Effect.fnUntraced(function* (sql: Sql, caller: Caller, userId: UserId) {
  yield* anotherOwner(sql, caller, yield* subject(sql, caller, userId))
  yield* Effect.orDie(store.remove(sql, caller.organizationId, userId))
})
