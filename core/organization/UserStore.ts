import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "./Caller.ts"
import type { SetAllowance } from "./Quota.ts"
import { setAllowance } from "./QuotaStore.ts"
import type { Role } from "./Role.ts"
import type { SessionId } from "./Session.ts"
import type { Onboarding, User, UserOrganization } from "./User.ts"

type Sql = SqlClient.SqlClient
const listLimit = 1000

const columns = (sql: Sql) => sql.literal("u.id, u.email, u.name, u.provider_id")
/** The membership that a user acts under: the selected organization, or else the first one joined. */
const current = (sql: Sql) => sql`
  LEFT JOIN LATERAL (
    SELECT m.organization_id, m.role FROM memberships m WHERE m.user_id = u.id
    ORDER BY m.organization_id IS NOT DISTINCT FROM u.selected_organization_id DESC, m.created_at, m.organization_id LIMIT 1
  ) m ON true`

interface Membership {
  readonly organizationId: OrganizationId | null
  readonly role: Role | null
}

/** Returns no row when the address is taken. The user gets an organization and owns it. */
export const insert = (
  sql: Sql,
  user: { readonly email: string; readonly name: string | undefined; readonly passwordHash: string },
  concurrencyLimit: number
) =>
  sql<User & { readonly organizationId: OrganizationId }>`
    WITH u AS (
      INSERT INTO users (email, name, password_hash) VALUES (${user.email}, ${user.name ?? null}, ${user.passwordHash})
      ON CONFLICT (email) DO NOTHING RETURNING id, email, name, provider_id
    ), o AS (
      INSERT INTO organizations (name, provider_id, concurrency_limit)
      SELECT coalesce(name, email), 'org_' || provider_id, ${concurrencyLimit}::int FROM u RETURNING id
    ), m AS (
      INSERT INTO memberships (organization_id, user_id, role) SELECT o.id, u.id, 'owner' FROM o, u
    )
    SELECT ${columns(sql)}, o.id AS organization_id FROM u, o`.pipe(Effect.map((rows) => rows[0]))

/** Returns no row when the address is taken. */
export const insertMember = (
  sql: Sql,
  user: { readonly email: string; readonly name: string | undefined; readonly passwordHash: string }
) =>
  sql<{ readonly id: UserId }>`
    INSERT INTO users (email, name, password_hash) VALUES (${user.email}, ${user.name ?? null}, ${user.passwordHash})
    ON CONFLICT (email) DO NOTHING RETURNING id`.pipe(Effect.map((rows) => rows[0]))

/** Whether there is no account yet, and this is the hash of the set-up code. */
export const isUnclaimed = (sql: Sql, codeHash: string) =>
  sql`SELECT 1 FROM first_account WHERE claimed_at IS NULL AND code_hash = ${codeHash}`.pipe(Effect.map((rows) => rows.length > 0))

/** Returns true for the first account, if this is the hash of the set-up code. Concurrent sign-ups wait for one another here. */
export const claimFirst = (sql: Sql, codeHash: string) =>
  sql`UPDATE first_account SET claimed_at = now() WHERE claimed_at IS NULL AND code_hash = ${codeHash} RETURNING 1`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** For an account that was made without the set-up code: from now on nobody needs the code. */
export const voidSetUpCode = (sql: Sql) => sql`UPDATE first_account SET claimed_at = now() WHERE claimed_at IS NULL`

/** The place of the owner of the first organization. */
export const firstPlace = (sql: Sql) =>
  sql<{ readonly organizationId: OrganizationId; readonly role: Role }>`
    SELECT id AS organization_id, 'owner' AS role FROM organizations ORDER BY id LIMIT 1`.pipe(Effect.map((rows) => rows[0]))

export type Account = User & Membership & { readonly passwordHash: string }

/** Includes the password hash. */
export const findByEmail = (sql: Sql, email: string) =>
  sql<Account>`
    SELECT ${columns(sql)}, u.password_hash, m.organization_id, m.role FROM users u ${current(sql)} WHERE u.email = ${email}`.pipe(
    Effect.map((rows) => rows[0])
  )

export const find = (sql: Sql, id: UserId) =>
  sql<User>`SELECT ${columns(sql)} FROM users u WHERE u.id = ${id}`.pipe(Effect.map((rows) => rows[0]))

/** The user's current membership, and whether the session is open. */
export const membership = (sql: Sql, id: UserId, session: SessionId | undefined) =>
  sql<Membership & { readonly isOpen: boolean; readonly allowance: SetAllowance }>`
    WITH used AS (
      UPDATE sessions SET last_used_at = now()
      WHERE id = ${session ?? null}::uuid AND user_id = ${id} AND last_used_at < now() - interval '1 minute'
    )
    SELECT m.organization_id, m.role, EXISTS (
      SELECT 1 FROM sessions s WHERE s.id = ${session ?? null}::uuid AND s.user_id = u.id AND s.expires_at > now()) AS is_open,
      ${setAllowance(sql, "m.organization_id")}
    FROM users u ${current(sql)} WHERE u.id = ${id}`.pipe(Effect.map((rows) => rows[0]))

/** Returns false when the password has changed since it was checked. */
export const setPassword = (sql: Sql, id: UserId, from: string, to: string) =>
  sql`UPDATE users SET password_hash = ${to} WHERE id = ${id} AND password_hash = ${from} RETURNING 1`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const organizations = (sql: Sql, id: UserId) =>
  sql<UserOrganization>`
    SELECT o.id, o.name, m.role, o.id IS NOT DISTINCT FROM c.organization_id AS is_selected
    FROM memberships m JOIN organizations o ON o.id = m.organization_id
    CROSS JOIN (SELECT m.organization_id FROM users u ${current(sql)} WHERE u.id = ${id}) c
    WHERE m.user_id = ${id} ORDER BY m.created_at, o.id LIMIT ${listLimit}`

/** Returns false when the user is not a member. */
export const select = (sql: Sql, id: UserId, organizationId: OrganizationId) =>
  sql`
    UPDATE users u SET selected_organization_id = m.organization_id FROM memberships m
    WHERE u.id = ${id} AND m.user_id = u.id AND m.organization_id = ${organizationId} RETURNING u.id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const onboarding = (sql: Sql, id: UserId) =>
  sql<{ readonly onboarding: Onboarding }>`SELECT onboarding FROM users WHERE id = ${id}`.pipe(Effect.map((rows) => rows[0]?.onboarding))

/** Until the transaction ends, nobody else can change it. */
export const lockOnboarding = (sql: Sql, id: UserId) =>
  sql<{ readonly onboarding: Onboarding }>`SELECT onboarding FROM users WHERE id = ${id} FOR NO KEY UPDATE`.pipe(
    Effect.map((rows) => rows[0]?.onboarding)
  )

export const setOnboarding = (sql: Sql, id: UserId, onboarding: Onboarding) => sql`
  UPDATE users SET onboarding = ${JSON.stringify(onboarding)}::text::jsonb WHERE id = ${id}`
