/** Who created a public link. Anyone who has the link can use it, but only while its creator is a member and logged in, or its key is valid. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Caller } from "./Caller.ts"
import { uuidPattern } from "#core/Uuid.ts"

/** The creator as written in the link: the organization, and either the user, with the session if there is one, or a key that no user created. */
export const makerOf = ({ apiKeyId, organizationId, sessionId, userId }: Caller): string => {
  if (userId === undefined) return `${organizationId}.k${apiKeyId}`
  return `${organizationId}.u${userId}${sessionId === undefined ? "" : `.${sessionId}`}`
}

const makerText = new RegExp(`^(\\d{1,9})\\.([uk])(\\d{1,9})(?:\\.(${uuidPattern}))?$`)

export class LinkMakers extends Context.Service<
  LinkMakers,
  {
    /** Whether the user is still a member and the session is open, or the key is valid. */
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

const isStillHere = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, maker: string) {
  const [, organization, kind, id, session] = makerText.exec(maker) ?? []
  if (organization === undefined || id === undefined) return false
  const found =
    kind === "u"
      ? yield* sql`SELECT 1 FROM memberships WHERE organization_id = ${Number(organization)} AND user_id = ${Number(id)}
          AND (${session ?? null}::uuid IS NULL
            OR EXISTS (SELECT 1 FROM sessions WHERE id = ${session ?? null}::uuid AND user_id = ${Number(id)} AND expires_at > now()))`
      : yield* sql`SELECT 1 FROM api_keys WHERE organization_id = ${Number(organization)} AND id = ${Number(id)} AND archived_at IS NULL
          AND (expires_at IS NULL OR expires_at > now())`
  return found.length > 0
})
