/** Port: the operator's TURN servers, through which browsers behind firewalls reach the engine. */
import { Context } from "effect"

export interface TurnCredentials {
  readonly username: string
  readonly password: string
  readonly ttlSeconds: number
  /** `turn:` or `turns:` URLs. */
  readonly urls: ReadonlyArray<string>
}

export const TurnServers = Context.Reference<{
  readonly isSet: boolean
  /** Undefined if there is no server. `user` appears in the server's log; `now` is in epoch milliseconds. */
  readonly credentials: (user: string, now: number) => TurnCredentials | undefined
}>("core/call/TurnServers", { defaultValue: () => ({ isSet: false, credentials: () => undefined }) })
