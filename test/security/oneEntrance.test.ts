/** One invitation, and the one set-up code, brought by many at once through as many connections as there are: exactly one gets in. */
import { Effect, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import t from "tap"
import * as invitations from "#core/organization/InvitationStore.ts"
import { Invitations } from "#core/organization/Invitations.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import { hashOf } from "#core/organization/Secret.ts"
import * as users from "#core/organization/UserStore.ts"
import { install, ours } from "#test/store/services.ts"

const { run } = await install(t)
const many = Array.from({ length: 48 })

/** Each in a transaction of its own, as a sign-up does it; what came of them. */
const atOnce = <A>(enter: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.forEach(many, () => Effect.orDie(sql.withTransaction(enter(sql))), { concurrency: "unbounded" })
  })

t.test("given an invitation, when its token is brought by many at once, then it is good once", async (t) => {
  const places = await run(
    Effect.gen(function* () {
      const { token } = yield* Invitations.use((_) =>
        _.invite({ organizationId: ours, role: "owner" }, { email: "many@example.org", role: "viewer", days: 1 })
      )
      const hash = yield* hashOf(Redacted.value(token)).pipe(Effect.provide(Digest.layerWebCrypto))
      return yield* atOnce((sql) => invitations.redeem(sql, hash, "many@example.org"))
    })
  )
  t.equal(places.filter((place) => place !== undefined).length, 1)
})

t.test("given the set-up code, when it is brought by many at once, then one is the first", async (t) => {
  const first = await run(
    Effect.gen(function* () {
      const code = yield* Organizations.use((_) => _.setUpCode)
      const hash = yield* hashOf(code === undefined ? "" : Redacted.value(code)).pipe(Effect.provide(Digest.layerWebCrypto))
      return yield* atOnce((sql) => users.claimFirst(sql, hash))
    })
  )
  t.equal(first.filter((isFirst) => isFirst).length, 1)
})
