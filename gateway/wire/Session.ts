/** A user's sessions and password. */
import Type, { type Static } from "typebox"
import type { Caller } from "#core/organization/Caller.ts"
import type { OpenSession, SessionId } from "#core/organization/Session.ts"
import { Password } from "./Account.ts"
import { instant } from "#gateway/request/Field.ts"

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
