/** An invitation, or the set-up code, sent many times at once over as many connections: exactly one gets in. */
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

/** Enters several times at once, each in its own transaction, as sign-ups do; returns the results. */
const atOnce = <A>(enter: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.forEach(many, () => Effect.orDie(sql.withTransaction(enter(sql))), { concurrency: "unbounded" })
  })

t.test("given an invitation, when its token is sent many times at once, then it works once", async (t) => {
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

t.test("given the set-up code, when it is sent many times at once, then one becomes the first owner", async (t) => {
  const [first, second] = await run(
    Effect.gen(function* () {
      const code = yield* Organizations.use((_) => _.setUpCode)
      const second = yield* Organizations.use((_) => _.setUpCode)
      const hash = yield* hashOf(code === undefined ? "" : Redacted.value(code)).pipe(Effect.provide(Digest.layerWebCrypto))
      return [yield* atOnce((sql) => users.claimFirst(sql, hash)), second] as const
    })
  )
  t.equal(second, undefined, "the code is shown once")
  t.equal(first.filter((isFirst) => isFirst).length, 1)
})
