/** The server for clients and carriers. */
import { Context, type Effect } from "effect"
import type { ListenFailed } from "./listening.ts"

export class Gateway extends Context.Service<
  Gateway,
  {
    readonly host: string
    readonly port: number
    /** Listens on the wanted port as well, if another process has that. Returns the port at which clients find the API now. */
    readonly arrive: Effect.Effect<number>
    /** Moves to another port and only serves calls that are up. Returns the new port; the previous one is free then. */
    readonly leave: Effect.Effect<number, ListenFailed>
  }
>()("gateway/http/Gateway") {}
