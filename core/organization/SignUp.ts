/**
 * How people get an account. The policy says who may sign up: `on`, everybody, each with an organization of their own; `invite`, the first user,
 * who owns the first organization, and people who were invited; `off`, nobody. A refusal does not reveal whether the address has an account.
 */
import { Context, Effect, Schema } from "effect"
import type { Digest } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as invitations from "./InvitationStore.ts"
import * as members from "./MemberStore.ts"
import type { Account, PasswordChecks } from "./PasswordChecks.ts"
import { hashOf } from "./Secret.ts"
import { isStill } from "./Standing.ts"
import { SignupDisabled, SignupRefused } from "./User.ts"
import * as store from "./UserStore.ts"

export const SignupMode = Schema.Literals(["invite", "on", "off"])
export type SignupMode = typeof SignupMode.Type

/** Who may sign up, and the concurrency limit of an organization that a sign-up creates. */
export const SignupPolicy = Context.Reference<{ readonly mode: SignupMode; readonly concurrencyLimit: number }>(
  "core/organization/SignupPolicy",
  { defaultValue: () => ({ mode: "on", concurrencyLimit: 10 }) }
)

export interface NewUser {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  readonly invitationToken?: string | undefined
  /** The code that a start prints while nobody has an account. */
  readonly setUpCode?: string | undefined
}

type Entrance =
  | { readonly _tag: "Invited"; readonly tokenHash: string }
  | { readonly _tag: "First"; readonly codeHash: string }
  | { readonly _tag: "Open" }

interface Ports {
  readonly sql: SqlClient.SqlClient
  readonly checks: PasswordChecks["Service"]
  readonly policy: typeof SignupPolicy.Service
}

/** `address`: the client's network address. It never decides who may sign up: behind a proxy on this machine, every client has the proxy's. */
export const signUp = Effect.fnUntraced(function* (ports: Ports, user: NewUser, address: string) {
  const { checks, policy, sql } = ports
  if (policy.mode === "off") return yield* new SignupDisabled()
  const email = user.email.toLowerCase()
  yield* checks.signUp(address)
  const entrance = yield* entranceOf(policy.mode, user)
  if (!(yield* Effect.orDie(isPassable(sql, entrance, email)))) return yield* new SignupRefused()
  const found = yield* checks
    .accountOrHash({ email, password: user.password, address })
    .pipe(Effect.catchTag("LoginRefused", () => Effect.fail(new SignupRefused())))
  const made = { email, name: user.name, found }
  const account = yield* entered(ports, entrance, made).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
  // A new organization has no other members who would read its audit log.
  if (entrance._tag !== "Open") yield* checks.noted("signUp", account, address)
  yield* checks.arrived(account, address)
  return account
})

const entranceOf = (mode: SignupMode, user: NewUser): Effect.Effect<Entrance, SignupRefused, Digest.Digest> => {
  const { invitationToken, setUpCode } = user
  if (invitationToken !== undefined) {
    return Effect.map(hashOf(invitationToken), (tokenHash) => ({ _tag: "Invited", tokenHash }))
  }
  if (setUpCode !== undefined) return Effect.map(hashOf(setUpCode), (codeHash) => ({ _tag: "First", codeHash }))
  return mode === "on" ? Effect.succeed({ _tag: "Open" }) : Effect.fail(new SignupRefused())
}

/** Checked before a password is hashed, and again when the account is created. */
const isPassable = (sql: SqlClient.SqlClient, entrance: Entrance, email: string) => {
  if (entrance._tag === "Open") return Effect.succeed(true)
  return entrance._tag === "First" ? store.isUnclaimed(sql, entrance.codeHash) : invitations.isWelcome(sql, entrance.tokenHash, email)
}

/** `found`: an existing account whose password was right, or the hash of a new one's. */
const entered = Effect.fnUntraced(function* (
  { policy, sql }: Ports,
  entrance: Entrance,
  user: { readonly email: string; readonly name: string | undefined; readonly found: Account | string }
) {
  const { email, found, name } = user
  if (entrance._tag !== "First") yield* store.voidSetUpCode(sql)
  else if (!(yield* store.claimFirst(sql, entrance.codeHash))) return yield* new SignupRefused()
  const place =
    entrance._tag === "Invited"
      ? ((yield* invitations.redeem(sql, entrance.tokenHash, email)) ?? (yield* new SignupRefused()))
      : entrance._tag === "First"
        ? yield* store.firstPlace(sql)
        : undefined
  if (typeof found !== "string") {
    if (!(yield* isStill(sql, found.id, found.passwordHash))) return yield* new SignupRefused()
  } else {
    const made = { email, name, passwordHash: found }
    const inserted = place === undefined ? store.insert(sql, made, policy.concurrencyLimit) : store.insertMember(sql, made)
    if ((yield* inserted) === undefined) return yield* new SignupRefused()
  }
  const account = (yield* store.findByEmail(sql, email)) ?? (yield* new SignupRefused())
  if (place === undefined) return account
  yield* members.insert(sql, place.organizationId, account.id, place.role)
  yield* store.select(sql, account.id, place.organizationId)
  return { ...account, organizationId: place.organizationId }
})
