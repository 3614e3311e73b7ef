/** Which keys the secrets in the database are sealed with. Only the ids of the keys are stored. */
import type { SqlClient } from "effect/sql"

type Sql = SqlClient.SqlClient

export interface UsedKey {
  readonly id: string
  /** Whether every secret is sealed with this key. */
  readonly isSettled: boolean
}

export const all = (sql: Sql) => sql<UsedKey>`SELECT id, is_settled FROM secrets_keys ORDER BY id`

/** From now on, some secrets may be sealed with this key. */
export const begin = (sql: Sql, id: string) =>
  sql`INSERT INTO secrets_keys (id) VALUES (${id}) ON CONFLICT (id) DO UPDATE SET is_settled = false`

export const settle = (sql: Sql, id: string) => sql`UPDATE secrets_keys SET is_settled = true WHERE id = ${id}`

export const forgetOthers = (sql: Sql, id: string) => sql`DELETE FROM secrets_keys WHERE id <> ${id}`
