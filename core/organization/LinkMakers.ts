/**
 * What a link was created with: one to a file, or one that takes an upload. Anyone who has the link can use it, for as long as that key is good, or that
 * session is open and its user a member.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Caller } from "./Caller.ts"
import { uuidPattern } from "#core/Uuid.ts"
import { isGoodKey } from "./Standing.ts"

/** As it is written in the link: the organization, and the key, or the user and the session. */
export const makerOf = ({ apiKeyId, organizationId, sessionId, userId }: Caller): string =>
  apiKeyId === undefined ? `${organizationId}.u${userId}.${sessionId}` : `${organizationId}.k${apiKeyId}`

const makerText = new RegExp(`^(\\d{1,9})\\.(?:k(\\d{1,9})|u(\\d{1,9})\\.(${uuidPattern}))$`)

export class LinkMakers extends Context.Service<
  LinkMakers,
  {
    /** Whether the key is good, or the session is open and its user a member. */
    readonly isStillHere: (maker: string) => Effect.Effect<boolean>
  }
>()("core/organization/LinkMakers") {
  static readonly layer = Layer.effect(
    LinkMakers,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      isStillHere: Effect.fn("LinkMakers.isStillHere")((maker) => Effect.orDie(isStillHere(sql, maker)))
    }))
  )
}

export const isStillHere = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, maker: string) {
  const [, organization, key, user, session] = makerText.exec(maker) ?? []
  if (organization === undefined) return false
  const found =
    key === undefined
      ? yield* sql`SELECT 1 FROM memberships m JOIN sessions s ON s.user_id = m.user_id
          WHERE m.organization_id = ${Number(organization)} AND m.user_id = ${Number(user)} AND s.id = ${session ?? null}::uuid
            AND s.expires_at > now()`
      : yield* sql`SELECT 1 FROM api_keys k WHERE k.organization_id = ${Number(organization)} AND k.id = ${Number(key)} AND ${isGoodKey(sql, "k")}`
  return found.length > 0
})
