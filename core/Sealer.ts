/**
 * Port: secrets as they lie in the database. What is sealed can be opened only with the installation's key, and only in the place that it was
 * sealed for: copied into another row, or into the same row of another organization, it opens no more.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The row that a secret lies in, and what of that row it is. */
export interface Place {
  /** Table and, where it has more than one secret, column. */
  readonly of: string
  /** Undefined: the whole installation's. */
  readonly organizationId: number | undefined
  readonly id: number | string
}

export class Sealer extends Context.Service<
  Sealer,
  {
    /** Printable ASCII. Two seals of one text differ. */
    readonly seal: (place: Place, text: string) => string
    /** Throws when the key is another one, or the seal was made for another place or altered: a broken invariant, for nobody to act on. */
    readonly open: (place: Place, sealed: string) => string
    /** Whether `seal` made it, with whichever key. */
    readonly isSealed: (text: string) => boolean
  }
>()("core/Sealer") {}

export type Seals = Sealer["Service"]

/** JSON, for a column of JSON: a string, where the bare value would be an object or an array. */
export const sealedJson = (sealer: Seals, place: Place, value: unknown): string => JSON.stringify(sealer.seal(place, JSON.stringify(value)))

/** What `sealedJson` was given. An object or array has not been sealed yet. */
export const openedJson = <A>(sealer: Seals, place: Place, stored: A | string): A =>
  // Only what was an A is ever sealed in this place.
  typeof stored === "string" ? (JSON.parse(sealer.open(place, stored)) as A) : stored

/** A text that was stored before texts like it were sealed is as it was. */
export const openedText = (sealer: Seals, place: Place, stored: string): string =>
  sealer.isSealed(stored) ? sealer.open(place, stored) : stored

/** The id of a row that is about to be inserted, for what is sealed for that row. */
export const newRowId = (sql: SqlClient.SqlClient, table: string) =>
  sql<{ readonly id: number }>`SELECT nextval(pg_get_serial_sequence(${table}::text, 'id'))::int AS id`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("A sequence gave no number") : Effect.succeed(row.id)))
  )

export const newRowUuid = (sql: SqlClient.SqlClient) =>
  sql<{ readonly uuid: string }>`SELECT gen_random_uuid() AS uuid`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("No UUID was given") : Effect.succeed(row.uuid)))
  )
