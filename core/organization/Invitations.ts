/**
 * How people join an organization: an admin invites an e-mail address and gets a token to pass on, which is shown once. The engine never
 * reveals whether an account with that address exists.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Caller, UserId } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import { type Invitation, type InvitationId, InvitationNotFound, InvitationRefused, TooManyInvitations } from "./Invitation.ts"
import * as store from "./InvitationStore.ts"
import { AlreadyMember } from "./Member.ts"
import * as members from "./MemberStore.ts"
import { includes, type Role, RoleTooLow } from "./Role.ts"
import { hasScope, ScopeMissing, scopes } from "./Scope.ts"
import { hashOf, newSecret } from "./Secret.ts"
import { whileGood } from "./Standing.ts"
import { UserNotFound } from "./User.ts"
import { Users } from "./Users.ts"
import * as users from "./UserStore.ts"

const tokenMark = "tli_"
/** Pending invitations per organization. */
const mostPending = 1000

export interface NewInvitation {
  readonly email: string
  readonly role: Role
  readonly days: number
}

export class Invitations extends Context.Service<
  Invitations,
  {
    /** `token` is available only now. */
    readonly invite: (
      caller: Caller,
      invitation: NewInvitation
    ) => Effect.Effect<
      { readonly made: Invitation; readonly token: Redacted.Redacted },
      AlreadyMember | RoleTooLow | ScopeMissing | TooManyInvitations
    >
    /** Newest first. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<Invitation>>
    /** Revoking an invitation again succeeds. */
    readonly revoke: (caller: Caller, id: InvitationId) => Effect.Effect<void, InvitationNotFound | RoleTooLow>
    /** The user joins and switches to that organization. An existing member keeps their role. */
    readonly redeem: (id: UserId, token: string) => Effect.Effect<void, InvitationRefused | UserNotFound>
  }
>()("core/organization/Invitations") {
  static readonly layer = Layer.effect(
    Invitations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const services = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom | Users>()
      return Invitations.of({
        invite: Effect.fn("Invitations.invite")((caller, invitation) => Effect.provideContext(invite(sql, caller, invitation), services)),
        list: Effect.fn("Invitations.list")((organizationId) => Effect.orDie(store.list(sql, organizationId))),
        revoke: Effect.fn("Invitations.revoke")((caller, id) => revoke(sql, caller, id)),
        redeem: Effect.fn("Invitations.redeem")((id, token) => Effect.provideContext(redeem(sql, id, token), services))
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

type Sql = SqlClient.SqlClient

const invite = Effect.fnUntraced(function* (sql: Sql, caller: Caller, { days, email: given, role }: NewInvitation) {
  if (!includes(caller.role, role)) return yield* new RoleTooLow()
  // Members have every scope, so a key with fewer must not create one.
  const beyond = scopes.find((scope) => !hasScope(caller, scope))
  if (beyond !== undefined) return yield* new ScopeMissing({ scope: beyond })
  const email = given.toLowerCase()
  const token = tokenMark + (yield* newSecret())
  const tokenHash = yield* hashOf(token)
  const invited = Effect.gen(function* () {
    if (yield* members.hasEmail(sql, caller.organizationId, email)) return yield* new AlreadyMember()
    return yield* store.insert(sql, caller, { days, email, role, tokenHash, limit: mostPending })
  })
  const made = yield* whileGood(sql, caller, invited, members.lock(sql, caller.organizationId))
  return made === undefined ? yield* new TooManyInvitations({ limit: mostPending }) : { made, token: Redacted.make(token) }
})

const revoke = Effect.fnUntraced(function* (sql: Sql, caller: Caller, id: InvitationId) {
  const role = yield* Effect.orDie(store.roleOf(sql, caller.organizationId, id))
  if (role === undefined) return yield* new InvitationNotFound()
  if (!includes(caller.role, role)) return yield* new RoleTooLow()
  yield* Effect.orDie(store.revoke(sql, caller.organizationId, id))
})

const redeem = Effect.fnUntraced(function* (sql: Sql, id: UserId, token: string) {
  const tokenHash = yield* hashOf(token)
  yield* Effect.gen(function* () {
    const user = (yield* users.find(sql, id)) ?? (yield* new UserNotFound())
    const place = (yield* store.redeem(sql, tokenHash, user.email)) ?? (yield* new InvitationRefused())
    yield* members.insert(sql, place.organizationId, id, place.role)
    yield* users.select(sql, id, place.organizationId)
  }).pipe(sql.withTransaction, acrossTenants, Effect.catchTag("SqlError", Effect.die))
  yield* Users.use(({ forget }) => forget)
})
