/** What users do with their sessions: list them, end them, and change their password. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isUuid } from "#core/Uuid.ts"
import type { UserId } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import type { PasswordChecks } from "./PasswordChecks.ts"
import { type OpenSession, PasswordWrong, type SessionId, SessionNotFound } from "./Session.ts"
import * as store from "./SessionStore.ts"
import { UserNotFound } from "./User.ts"
import * as users from "./UserStore.ts"

export interface PasswordChange {
  readonly current: string
  readonly next: string
  /** The user's network address. */
  readonly address: string
}

type Sql = SqlClient.SqlClient

/** `forget` makes all engines look up tokens again. */
export const sessionsOf = (sql: Sql, checks: PasswordChecks["Service"], forget: Effect.Effect<void>) => ({
  sessions: (id: UserId): Effect.Effect<ReadonlyArray<OpenSession>> => acrossTenants(Effect.orDie(store.list(sql, id))),
  endSession: Effect.fn("Users.endSession")(function* (id: UserId, session: SessionId) {
    if (!isUuid(session) || !(yield* acrossTenants(Effect.orDie(store.end(sql, id, session))))) return yield* new SessionNotFound()
    yield* forget
  }),
  endSessions: Effect.fn("Users.endSessions")((id: UserId) =>
    Effect.andThen(acrossTenants(Effect.orDie(store.endAll(sql, id, undefined))), forget)
  ),
  changePassword: Effect.fn("Users.changePassword")(function* (id: UserId, session: SessionId | undefined, change: PasswordChange) {
    const { address, current, next } = change
    const { email } = (yield* Effect.orDie(users.find(sql, id))) ?? (yield* new UserNotFound())
    const account = yield* checks
      .account({ email, password: current, address })
      .pipe(Effect.catchTag("LoginRefused", () => Effect.fail(new PasswordWrong())))
    const passwordHash = yield* checks.hash(next, { email, address })
    yield* Effect.gen(function* () {
      // The password changed since it was checked: whoever changed it knew the old one as well.
      if (!(yield* users.setPassword(sql, id, account.passwordHash, passwordHash))) return yield* new PasswordWrong()
      yield* store.endAll(sql, id, session)
    }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
    yield* forget
  }, acrossTenants)
})
