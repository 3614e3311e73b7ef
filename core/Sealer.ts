/**
 * Port: seals the secrets that are stored in the database. A seal can be opened only with the installation's key, and only in the place that it
 * was made for: copied into another row, or to another organization, it no longer opens.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Where a secret is stored: the row, and which secret of that row. */
export interface Place {
  /** Table and, where it has more than one secret, column. */
  readonly of: string
  /** Undefined if the secret belongs to the whole installation. */
  readonly organizationId: number | undefined
  readonly id: number | string
}

export class Sealer extends Context.Service<
  Sealer,
  {
    /** Returns printable ASCII. Two seals of the same text differ. */
    readonly seal: (place: Place, text: string) => string
    /** Throws if the seal was made with another key, for another place, or was altered: a broken invariant that no caller can act on. */
    readonly open: (place: Place, sealed: string) => string
    /** Whether the text is a seal, made with any key. */
    readonly isSealed: (text: string) => boolean
  }
>()("core/Sealer") {}

export type Seals = Sealer["Service"]

/** A seal for a JSON column. It is a JSON string, so it can be told from a value that is not sealed: an object or an array. */
export const sealedJson = (sealer: Seals, place: Place, value: unknown): string => JSON.stringify(sealer.seal(place, JSON.stringify(value)))

/** The value that `sealedJson` was given. An object or array is returned as it is: it has not been sealed yet. */
export const openedJson = <A>(sealer: Seals, place: Place, stored: A | string): A =>
  // The cast holds because only values of type A are ever sealed in this place.
  typeof stored === "string" ? (JSON.parse(sealer.open(place, stored)) as A) : stored

/** The text that was sealed. A text that was stored before such texts were sealed is returned as it is. */
export const openedText = (sealer: Seals, place: Place, stored: string): string =>
  sealer.isSealed(stored) ? sealer.open(place, stored) : stored

/** The id for a row that is about to be inserted, because a seal in that row is bound to its id. */
export const newRowId = (sql: SqlClient.SqlClient, table: string) =>
  sql<{ readonly id: number }>`SELECT nextval(pg_get_serial_sequence(${table}::text, 'id'))::int AS id`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("A sequence gave no number") : Effect.succeed(row.id)))
  )

export const newRowUuid = (sql: SqlClient.SqlClient) =>
  sql<{ readonly uuid: string }>`SELECT gen_random_uuid() AS uuid`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("No UUID was given") : Effect.succeed(row.uuid)))
  )
