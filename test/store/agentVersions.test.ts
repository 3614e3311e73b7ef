/** Versions that calls use are cached; failures to read them are not. */
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import * as given from "#test/support/given.ts"
import { openDatabase } from "#test/support/postgres.ts"

const database = await openDatabase(t)

const withVersions = <A>(work: (versions: AgentVersions["Service"], sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  database.run(
    Effect.gen(function* () {
      return yield* work(yield* AgentVersions, yield* SqlClient.SqlClient)
    }).pipe(Effect.provide(Layer.fresh(AgentVersions.layer)), Effect.orDie)
  )

t.test("given a lookup that fails, when the version is read again, then it is found", async (t) => {
  const { definitionId } = await database.run(given.campaign({ contacts: 1 }))
  const [first, second] = await withVersions((versions, sql) =>
    Effect.gen(function* () {
      yield* sql`ALTER TABLE agent_definitions RENAME TO out_of_reach`
      const failed = yield* Effect.exit(versions.get(definitionId))
      yield* sql`ALTER TABLE out_of_reach RENAME TO agent_definitions`
      return [failed, yield* Effect.exit(versions.get(definitionId))] as const
    })
  )
  t.ok(Exit.isFailure(first))
  t.ok(Exit.isSuccess(second), "a cut connection does not disable the agent")
})
