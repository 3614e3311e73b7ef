/** A login that has neither expired nor been ended. */
import { Schema } from "effect"

export const SessionId = Schema.String.pipe(Schema.brand("SessionId"))
/** The value is a UUID. */
export type SessionId = typeof SessionId.Type

export interface OpenSession {
  readonly id: SessionId
  /** The network address that the user logged in from. */
  readonly address: string
  readonly createdAt: Date
  /** Accurate to a minute. */
  readonly lastUsedAt: Date
  readonly expiresAt: Date
}

export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {}) {}
/** The given password is not the user's current one. */
export class PasswordWrong extends Schema.TaggedError<PasswordWrong>()("PasswordWrong", {}) {}
