/** Port: keep passwords so that they can be checked and not be read. Both take their time, on purpose: see PasswordTurns. */
import { Context, type Effect } from "effect"

export class Passwords extends Context.Service<
  Passwords,
  {
    /** What to keep of a password. Two hashes of one password differ. */
    readonly hash: (password: string) => Effect.Effect<string>
    /** Undefined, of a user who does not exist, costs as much work as a hash, and is false. */
    readonly verify: (password: string, hash: string | undefined) => Effect.Effect<boolean>
  }
>()("core/organization/Passwords") {}
