/**
 * The socket under a connection to Postgres. `@effect/sql-pg` can only close a connection politely, which a connection that has gone
 * silent does not hear; destroying its socket ends all that waits for it at once, and a pool replaces it.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Socket } from "node:net"

const property = (value: unknown, name: string): unknown => (value instanceof Object ? Reflect.get(value, name) : undefined)

/** What a pinned connection is a view of, or the connection itself. Of 4.0.5, which is pinned; a test holds us to it. */
const baseOf = (connection: PgConnection.PgConnection): unknown => property(connection, "base") ?? connection

export const socketOf = (connection: PgConnection.PgConnection): Socket | undefined => {
  const socket = property(property(baseOf(connection), "session"), "socket")
  return socket instanceof Socket ? socket : undefined
}

/** Whatever waits for it fails with a connection error. */
export const destroy = (connection: PgConnection.PgConnection, why: string): void => {
  socketOf(connection)?.destroy(new Error(why))
}
