/** A user's sessions and password. */
import Type, { type Static } from "typebox"
import type { Caller } from "#core/organization/Caller.ts"
import type { OrganizationId } from "#core/Id.ts"
import { scopes } from "#core/organization/Scope.ts"
import type { OpenSession, SessionId } from "#core/organization/Session.ts"
import type { User } from "#core/organization/User.ts"
import { Password, RoleWire } from "./Account.ts"
import { id, instant, nullable, orNull } from "#gateway/request/Field.ts"

const Id = Type.Unsafe<SessionId>(Type.String({ format: "uuid" }))

export const SessionPath = Type.Object({ session_id: Type.Unsafe<SessionId>(Type.String()) })

const OpenSessionWire = Type.Object(
  {
    id: Id,
    is_current: Type.Boolean({ description: "Whether this session makes the request." }),
    address: Type.String({ description: "The network address that it was started from." }),
    created_at: instant(),
    last_used_at: instant(),
    expires_at: instant()
  },
  { title: "OpenSession" }
)
export const SessionList = Type.Object({ sessions: Type.Array(OpenSessionWire) }, { title: "SessionList" })

export const openSessionWire =
  ({ sessionId }: Caller) =>
  (session: OpenSession): Static<typeof OpenSessionWire> => ({
    id: session.id,
    is_current: session.id === sessionId,
    address: session.address,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString()
  })

export const ChangePassword = Type.Object(
  { current_password: Type.String({ format: "password", maxLength: 256 }), new_password: Password },
  { title: "ChangePassword" }
)

export const CallerWire = Type.Object(
  {
    email: nullable(Type.String({ description: "Null for a key that belongs to no user, such as the first one." })),
    organization_id: id<OrganizationId>(),
    role: RoleWire,
    scopes: nullable(Type.Array(Type.Enum([...scopes]), { description: "What the key may be used for. Null: whatever the role allows." })),
    timezone: nullable(Type.String({ description: "The organization's, an IANA name; null if none is set." }))
  },
  { title: "Caller" }
)

export const callerWire = (
  { organizationId, role, scopes: granted }: Caller,
  user: User | undefined,
  timezone: string | null
): Static<typeof CallerWire> => ({
  email: orNull(user?.email),
  organization_id: organizationId,
  role,
  scopes: granted === undefined ? null : [...granted],
  timezone
})
