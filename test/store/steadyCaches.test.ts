/** What services cache for a moment is not cached for longer when the wall clock is set back. */
import { Effect, Redacted } from "effect"
import t from "tap"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { Users } from "#core/organization/Users.ts"
import * as clocks from "#test/support/clocks.ts"
import { install, keyOf, tag } from "./services.ts"

const { run, sql, test } = await install(t)
const [keys, users] = await run(Effect.all([ApiKeys, Users]))
const HOUR_MILLIS = 3_600_000

test(t, "given a key and a login that were just used, when the clock is set back and they are revoked by another node", function* (t) {
  const { key } = yield* keys.create(yield* keyOf(), { name: "doomed", role: "admin" })
  const { token, user } = yield* users.signUp({ email: "ada@example.org", password: "correct horse" }, "192.0.2.1")
  t.equal((yield* keys.authenticate(Redacted.value(key))).role, "admin")
  t.equal((yield* users.authenticate(token)).role, "owner")
  yield* sql`UPDATE api_keys SET archived_at = now() WHERE name = 'doomed'`
  yield* sql`UPDATE memberships SET role = 'viewer' WHERE user_id = ${user.id}`
  clocks.step(-HOUR_MILLIS)
  yield* Effect.sleep("1100 millis")
  t.equal(yield* tag(keys.authenticate(Redacted.value(key))), "InvalidApiKey", "then the key is refused after a second")
  t.equal((yield* users.authenticate(token)).role, "viewer", "then the user has only the current permissions")
})
