import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Caller } from "./Caller.ts"
import type { Invitation, InvitationId, Place } from "./Invitation.ts"
import type { Role } from "./Role.ts"
import { isGoodKey, rank } from "./Standing.ts"

type Sql = SqlClient.SqlClient
const listLimit = 1000

const columns = (sql: Sql) =>
  sql.literal(`id, email, role, created_at, expires_at,
  CASE WHEN redeemed_at IS NOT NULL THEN 'redeemed' WHEN revoked_at IS NOT NULL THEN 'revoked'
    WHEN expires_at <= now() THEN 'expired' ELSE 'pending' END AS status`)

/** Returns no row when `limit` invitations are pending already. */
export const insert = (
  sql: Sql,
  { apiKeyId, organizationId, userId }: Caller,
  invitation: { readonly email: string; readonly role: Role; readonly days: number; readonly tokenHash: string; readonly limit: number }
) =>
  sql<Invitation>`
    WITH i AS (
      INSERT INTO invitations (organization_id, email, role, invited_by_user_id, invited_by_key_id, expires_at)
      SELECT ${organizationId}::int, ${invitation.email}, ${invitation.role}, ${userId ?? null}::int, ${apiKeyId ?? null}::int,
        now() + make_interval(days => ${invitation.days}::int)
      WHERE ${invitation.limit}::int > (
        SELECT count(*) FROM invitations WHERE organization_id = ${organizationId}::int
          AND redeemed_at IS NULL AND revoked_at IS NULL AND expires_at > now())
      RETURNING *
    ), t AS (
      INSERT INTO invitation_tokens (invitation_id, token_hash) SELECT id, ${invitation.tokenHash} FROM i
    )
    SELECT ${columns(sql)} FROM i`.pipe(Effect.map((rows) => rows[0]))

export const list = (sql: Sql, organizationId: OrganizationId) => sql<Invitation>`
  SELECT ${columns(sql)} FROM invitations WHERE organization_id = ${organizationId} ORDER BY id DESC LIMIT ${listLimit}`

export const roleOf = (sql: Sql, organizationId: OrganizationId, id: InvitationId) =>
  sql<{ readonly role: Role }>`SELECT role FROM invitations WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
    Effect.map((rows) => rows[0]?.role)
  )

export const revoke = (sql: Sql, organizationId: OrganizationId, id: InvitationId) => sql`
  UPDATE invitations SET revoked_at = coalesce(revoked_at, now())
  WHERE organization_id = ${organizationId} AND id = ${id} AND redeemed_at IS NULL`

/** The invitation is valid for this e-mail address, and its inviter may still grant that role. */
const isGood = (sql: Sql, tokenHash: string, email: string) => sql`
  i.id = (SELECT invitation_id FROM invitation_tokens WHERE token_hash = ${tokenHash}) AND i.email = ${email}
  AND i.redeemed_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
  AND (i.invited_by_user_id IS NULL OR EXISTS (
    SELECT 1 FROM memberships m WHERE m.organization_id = i.organization_id AND m.user_id = i.invited_by_user_id
      AND ${rank(sql, "m.role")} >= ${rank(sql, "i.role")}))
  AND (i.invited_by_key_id IS NULL OR EXISTS (
    SELECT 1 FROM api_keys k WHERE k.id = i.invited_by_key_id AND k.scopes IS NULL AND ${isGoodKey(sql, "k")}))`

export const isWelcome = (sql: Sql, tokenHash: string, email: string) =>
  sql`SELECT 1 FROM invitations i WHERE ${isGood(sql, tokenHash, email)}`.pipe(Effect.map((rows) => rows.length > 0))

/** Redeems at most once: if a token is used twice at the same time, the second statement waits for the first, and then finds it redeemed. */
export const redeem = (sql: Sql, tokenHash: string, email: string) =>
  sql<Place>`
    UPDATE invitations i SET redeemed_at = now() WHERE ${isGood(sql, tokenHash, email)}
    RETURNING i.id AS invitation_id, i.organization_id, i.role`.pipe(Effect.map((rows) => rows[0]))
