import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "./Caller.ts"
import type { Member } from "./Member.ts"
import type { Role } from "./Role.ts"

type Sql = SqlClient.SqlClient
const listLimit = 1000

const select = (sql: Sql) => sql`
  SELECT m.user_id, u.email, u.name, m.role, m.created_at FROM memberships m JOIN users u ON u.id = m.user_id`

export const list = (sql: Sql, organizationId: OrganizationId) => sql<Member>`
  ${select(sql)} WHERE m.organization_id = ${organizationId} ORDER BY m.created_at, m.user_id LIMIT ${listLimit}`

export const find = (sql: Sql, organizationId: OrganizationId, userId: UserId) =>
  sql<Member>`${select(sql)} WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`.pipe(Effect.map((rows) => rows[0]))

export const hasEmail = (sql: Sql, organizationId: OrganizationId, email: string) =>
  sql`
    SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = ${organizationId} AND u.email = ${email}`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** Until the transaction ends, nobody else can change the members: if two owners leave at the same time, one stays. */
export const lock = (sql: Sql, organizationId: OrganizationId) => sql`
  SELECT id FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`

export const hasOtherOwner = (sql: Sql, organizationId: OrganizationId, userId: UserId) =>
  sql`
    SELECT 1 FROM memberships WHERE organization_id = ${organizationId} AND role = 'owner' AND user_id <> ${userId} LIMIT 1`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** Returns false when the user is a member already. */
export const insert = (sql: Sql, organizationId: OrganizationId, userId: UserId, role: Role) =>
  sql`
    INSERT INTO memberships (organization_id, user_id, role) VALUES (${organizationId}, ${userId}, ${role})
    ON CONFLICT DO NOTHING RETURNING user_id`.pipe(Effect.map((rows) => rows.length > 0))

export const setRole = (sql: Sql, organizationId: OrganizationId, userId: UserId, role: Role) => sql`
  UPDATE memberships SET role = ${role} WHERE organization_id = ${organizationId} AND user_id = ${userId}`

export const remove = (sql: Sql, organizationId: OrganizationId, userId: UserId) => sql`
  DELETE FROM memberships WHERE organization_id = ${organizationId} AND user_id = ${userId}`
