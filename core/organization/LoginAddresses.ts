/** The addresses that people have logged in from: in memory, so that a flood of logins costs the database nothing, and stored for the next start. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { UserId } from "./Caller.ts"
import type { Standing } from "./LoginLimit.ts"

/** The most recent pairs of account and address. */
const remembered = 10_000
const keptOfUser = 20

export class LoginAddresses extends Context.Service<
  LoginAddresses,
  {
    readonly standingOf: (email: string, subscriber: string) => Standing
    readonly loggedIn: (user: { readonly id: UserId; readonly email: string }, subscriber: string) => Effect.Effect<void>
  }
>()("core/organization/LoginAddresses") {
  static readonly layer = Layer.effect(
    LoginAddresses,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const memory = new Memory()
      for (const { email, subscriber } of yield* Effect.orDie(latest(sql))) memory.add(email, subscriber)
      return {
        standingOf: (email, subscriber) => memory.standingOf(email, subscriber),
        loggedIn: Effect.fn("LoginAddresses.loggedIn")(({ email, id }, subscriber) => {
          memory.add(email, subscriber)
          return Effect.orDie(keep(sql, id, subscriber))
        })
      }
    })
  )
}

class Memory {
  private readonly pairs = new Set<string>()
  /** The number of accounts per address. */
  private readonly accounts = new Map<string, number>()

  add(email: string, subscriber: string): void {
    const pair = `${subscriber} ${email}`
    if (this.pairs.delete(pair)) {
      this.pairs.add(pair)
      return
    }
    this.pairs.add(pair)
    this.accounts.set(subscriber, (this.accounts.get(subscriber) ?? 0) + 1)
    const [oldest] = this.pairs
    if (this.pairs.size > remembered && oldest !== undefined) this.forget(oldest)
  }

  standingOf(email: string, subscriber: string): Standing {
    if (this.pairs.has(`${subscriber} ${email}`)) return "sameAccount"
    return this.accounts.has(subscriber) ? "otherAccount" : "noAccount"
  }

  private forget(pair: string): void {
    this.pairs.delete(pair)
    const subscriber = pair.slice(0, pair.indexOf(" "))
    const left = (this.accounts.get(subscriber) ?? 1) - 1
    if (left > 0) this.accounts.set(subscriber, left)
    else this.accounts.delete(subscriber)
  }
}

type Sql = SqlClient.SqlClient

/** Reads the latest pairs, oldest first, the order in which the memory forgets. */
const latest = (sql: Sql) => sql<{ readonly email: string; readonly subscriber: string }>`
  SELECT * FROM (
    SELECT u.email, a.subscriber, a.last_login_at FROM login_addresses a JOIN users u ON u.id = a.user_id
    ORDER BY a.last_login_at DESC LIMIT ${remembered}::int
  ) newest ORDER BY last_login_at`

/** Keeps only the most recent addresses of a user. */
const keep = (sql: Sql, id: UserId, subscriber: string) => sql`
  WITH kept AS (
    INSERT INTO login_addresses (user_id, subscriber) VALUES (${id}, ${subscriber})
    ON CONFLICT (user_id, subscriber) DO UPDATE SET last_login_at = now()
  )
  DELETE FROM login_addresses WHERE user_id = ${id} AND subscriber IN (
    SELECT subscriber FROM login_addresses WHERE user_id = ${id} ORDER BY last_login_at DESC OFFSET ${keptOfUser}::int
  )`
