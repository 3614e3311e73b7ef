/** The only path to a password check: rate-limited per client, one at a time, and as expensive for an account that does not exist. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { subscriberOf } from "#core/egress/Network.ts"
import { AuditLog } from "./AuditLog.ts"
import { LoginAddresses } from "./LoginAddresses.ts"
import { LoginLimit, type TooManyAttempts } from "./LoginLimit.ts"
import { Passwords } from "./Passwords.ts"
import { type PasswordsBusy, PasswordTurns, type Who } from "./PasswordTurns.ts"
import { LoginRefused } from "./User.ts"
import * as store from "./UserStore.ts"

/** The client has tried too often, or too many requests are waiting. */
export type Waits = TooManyAttempts | PasswordsBusy
export type Account = store.Account

export interface Shown {
  readonly email: string
  readonly password: string
  /** The client's network address. */
  readonly address: string
}

export class PasswordChecks extends Context.Service<
  PasswordChecks,
  {
    /** Returns the account if the password is right. */
    readonly account: (shown: Shown) => Effect.Effect<Account, LoginRefused | Waits>
    /** Returns the account if the password is right, or a hash to store if there is no such account. */
    readonly accountOrHash: (shown: Shown) => Effect.Effect<Account | string, LoginRefused | Waits>
    /** Hashes the password of a new account, or a changed password. */
    readonly hash: (password: string, who: Pick<Shown, "email" | "address">) => Effect.Effect<string, Waits>
    /** Writes to the audit log of the organization that the user works for. */
    readonly noted: (action: "logIn" | "signUp" | "logInRefused", account: Account, address: string) => Effect.Effect<void>
    /** Remembers that this account has logged in from this address. */
    readonly arrived: (account: Pick<Account, "id" | "email">, address: string) => Effect.Effect<void>
    readonly signUp: (address: string) => Effect.Effect<void, TooManyAttempts>
  }
>()("core/organization/PasswordChecks") {
  static readonly layer = Layer.effect(
    PasswordChecks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const addresses = yield* LoginAddresses
      const limit = yield* LoginLimit
      const passwords = yield* Passwords
      const turns = yield* PasswordTurns

      const noted: PasswordChecks["Service"]["noted"] = (action, { id, organizationId }, address) =>
        organizationId === null
          ? Effect.void
          : audit.record({ caller: { organizationId, userId: id }, action, resourceKind: "accounts", resourceId: String(id), address })
      const attemptOf = (email: string, address: string) => {
        const subscriber = subscriberOf(address)
        return { email, subscriber, standing: addresses.standingOf(email, subscriber) }
      }
      const whoOf = ({ email, standing, subscriber }: ReturnType<typeof attemptOf>): Who => ({
        standing,
        key: standing === "sameAccount" ? `${subscriber} ${email}` : subscriber
      })
      const checked = Effect.fnUntraced(function* <A>(
        { address, email: given, password }: Shown,
        absent: (password: string) => Effect.Effect<A, LoginRefused>
      ) {
        const email = given.toLowerCase()
        const attempt = attemptOf(email, address)
        yield* limit.attempt(attempt)
        const check = Effect.gen(function* () {
          const account = yield* Effect.orDie(store.findByEmail(sql, email))
          if (account === undefined) return yield* absent(password)
          if (yield* passwords.verify(password, account.passwordHash)) return account
          yield* noted("logInRefused", account, address)
          return yield* new LoginRefused()
        })
        const result = yield* turns
          .take(whoOf(attempt), check)
          .pipe(Effect.tapError(({ _tag }) => (_tag === "LoginRefused" ? Effect.void : limit.withdrawn(attempt))))
        yield* limit.succeeded(attempt)
        return result
      })
      const refused = (password: string) => Effect.andThen(passwords.verify(password, undefined), Effect.fail(new LoginRefused()))

      return PasswordChecks.of({
        account: (shown) => checked<Account>(shown, refused),
        accountOrHash: (shown) => checked<Account | string>(shown, passwords.hash),
        hash: (password, { address, email }) => turns.take(whoOf(attemptOf(email, address)), passwords.hash(password)),
        arrived: (account, address) => addresses.loggedIn(account, subscriberOf(address)),
        noted,
        signUp: (address) => limit.signUp(subscriberOf(address))
      })
    })
  ).pipe(Layer.provide([LoginAddresses.layer, LoginLimit.layer, PasswordTurns.layer]))
}
