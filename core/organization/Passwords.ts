/** Port: stores passwords so that they can be checked but not read. Both operations are slow on purpose: see PasswordTurns. */
import { Context, type Effect } from "effect"

export class Passwords extends Context.Service<
  Passwords,
  {
    /** Returns the hash to store. Two hashes of the same password differ. */
    readonly hash: (password: string) => Effect.Effect<string>
    /** An undefined hash, for a user who does not exist, costs the same work and yields false. */
    readonly verify: (password: string, hash: string | undefined) => Effect.Effect<boolean>
  }
>()("core/organization/Passwords") {}
