/**
 * Engines remember permissions for a second, and forget them together. The second never passes here, so that what an engine notices, it was told.
 */
import { Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import t, { type Test } from "tap"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { Users } from "#core/organization/Users.ts"
import * as forgotten from "#runtime/redis/forgotten.ts"
import { accountsLayer, install, keyOf, tag } from "#test/store/services.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import { connectedEngine } from "#test/support/redisEngine.ts"
import { untilTrue } from "#test/support/until.ts"

const skip = (await redisUnavailable()) ?? false

type Installation = Awaited<ReturnType<typeof install>>
const stopped = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock): Clock.Clock => Object.create(clock, { monotonicTimeNanosUnsafe: { value: () => 0n } }))
)
/** The accounts of an engine that has this Redis, for which no time passes. */
const engineOf = async (t: Test, { run }: Installation, url: string) => {
  const { context } = await connectedEngine(t, url, forgotten.layer)
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const layer = Layer.fresh(accountsLayer).pipe(Layer.provide(stopped), Layer.provide(Layer.succeedContext(context)))
  const accounts = await run(Layer.buildWithScope(layer, scope))
  return { keys: Context.get(accounts, ApiKeys), users: Context.get(accounts, Users) }
}

t.test("given two engines that have just seen a key and a session", { skip }, async (t) => {
  const server = await startRedis(t)
  const installation = await install(t)
  const { run, sql } = installation
  const [one, other] = [await engineOf(t, installation, server.url), await engineOf(t, installation, server.url)]
  const owner = await run(keyOf())
  const { key, made } = await run(one.keys.create(owner, { name: "doomed", role: "admin" }))
  const { token, user } = await run(one.users.signUp({ email: "ada@example.org", password: "correct horse" }, "192.0.2.1"))
  const keyWorks = () => run(tag(other.keys.authenticate(Redacted.value(key))))
  const session = () => run(Effect.match(other.users.authenticate(token), { onFailure: ({ _tag }) => _tag, onSuccess: ({ role }) => role }))

  t.test("when something changes and nobody tells them, then they go by what they remember", async (t) => {
    t.strictSame([await keyWorks(), await session()], ["none", "owner"])
    await run(sql`UPDATE memberships SET role = 'admin' WHERE user_id = ${user.id}`)
    t.equal(await session(), "owner")
  })

  t.test("when one of them changes anything, then the other one looks again", async (t) => {
    await run(one.keys.archive(owner, made.id))
    t.ok(await untilTrue("refusal of the key", async () => (await keyWorks()) === "InvalidApiKey"))
    await untilTrue("the other role", async () => (await session()) === "admin")
  })

  t.test("when a session is ended, then the other one refuses it", async (t) => {
    await run(one.users.endSessions(user.id))
    t.ok(await untilTrue("refusal of the session", async () => (await session()) === "InvalidToken"))
  })
})
