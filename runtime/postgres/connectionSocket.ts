/**
 * The socket under a connection to Postgres. `@effect/sql-pg` can only close a connection gracefully, which has no effect on one that has gone
 * silent. Destroying the socket fails everything that waits for the connection at once, and a pool replaces it.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Socket } from "node:net"

const property = (value: unknown, name: string): unknown => (value instanceof Object ? Reflect.get(value, name) : undefined)

/** The underlying connection of a pinned one, or the connection itself. True of version 4.0.5, which is pinned; a test checks it. */
const baseOf = (connection: PgConnection.PgConnection): unknown => property(connection, "base") ?? connection

export const socketOf = (connection: PgConnection.PgConnection): Socket | undefined => {
  const socket = property(property(baseOf(connection), "session"), "socket")
  return socket instanceof Socket ? socket : undefined
}

/** Everything that waits for the connection fails with a connection error. */
export const destroy = (connection: PgConnection.PgConnection, why: string): void => {
  socketOf(connection)?.destroy(new Error(why))
}
