/** Keys inserted directly into the database: an operator's, and an owner's of any organization. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import type { TestApi } from "#test/gateway/apiTest.ts"

let made = 0

/** An owner's key, to be sent as `key`. */
export const ownerKey = async (
  api: Pick<TestApi, "database">,
  organizationId: number,
  { isOperator = false, role = "owner" }: { readonly isOperator?: boolean; readonly role?: string } = {}
): Promise<string> => {
  const key = `tlk_key_of_tests_${++made}_0123456789`
  const hash = createHash("sha256").update(key).digest("hex")
  await api.database.run(
    SqlClient.SqlClient.use(
      (sql) => sql`INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role, is_operator)
        VALUES (${organizationId}, 'of a test', 'tlk_key_', ${hash}, ${role}, ${isOperator})`
    ).pipe(Effect.orDie)
  )
  return key
}
