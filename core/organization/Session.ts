/** A log-in that has neither expired nor been ended. */
import { Schema } from "effect"

export const SessionId = Schema.String.pipe(Schema.brand("SessionId"))
/** A UUID. */
export type SessionId = typeof SessionId.Type

export interface OpenSession {
  readonly id: SessionId
  /** The network address that it was begun from. */
  readonly address: string
  readonly createdAt: Date
  /** Good to a minute. */
  readonly lastUsedAt: Date
  readonly expiresAt: Date
}

export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {}) {}
/** It is not the password that the user has now. */
export class PasswordWrong extends Schema.TaggedError<PasswordWrong>()("PasswordWrong", {}) {}
