/**
 * Things that are kept are counted exactly, however many are made at once, over however many connections. Before, an organization could make
 * any number of agents and keys, and keep any number of contacts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { within } from "#core/organization/QuotaStore.ts"
import { bodyOf, csv, graph, openApi } from "#test/gateway/apiTest.ts"
import { counts, full, quotasOf, times } from "./quotas.ts"

const api = await openApi(t)
const id = api.organizationId
const { operator, set, used } = await quotasOf(api)
const atOnce = (count: number, act: () => Promise<{ readonly status: number; readonly json?: unknown }>) => Promise.all(times(count, act))
const makeAgent = () => api.ask("POST", "/workflow/create/definition", { name: "One", workflow_definition: graph })
const makeKey = () => api.ask("POST", "/user/api-keys", { name: "one" })

/** Makes one as another engine on the same database would. */
const makeElsewhere = () =>
  api.database.run(
    SqlClient.SqlClient.use((sql) =>
      sql`INSERT INTO agents (organization_id, name) VALUES (${id}, 'elsewhere')`.pipe(
        Effect.andThen(within(sql, id, "agents", 1)),
        Effect.andThen(Effect.sleep("5 millis")),
        sql.withTransaction,
        Effect.as({ status: 200 }),
        Effect.catchTag("QuotaFull", () => Effect.succeed({ status: 409 }))
      )
    )
  )

t.test("given room for one agent more, when forty are made at once through two engines, then one is made", async (t) => {
  await makeAgent()
  await set({ agents: (await used("agents")) + 1 })
  const before = await used("agents")
  const answers = await Promise.all([atOnce(20, makeAgent), atOnce(20, makeElsewhere)])
  t.strictSame(counts(answers.flat()), { 200: 1, 409: 39 })
  t.equal(await used("agents"), before + 1)
  t.strictSame((await makeAgent()).json, full("agents", before + 1, before + 1))
  const [one] = (await api.ask("GET", "/workflow/fetch")).json as ReadonlyArray<{ readonly id: number }> // As documented.
  t.equal((await api.ask("POST", `/workflow/${one?.id}/duplicate`)).status, 409)
  t.equal(
    (await api.ask("POST", "/workflow/create/template", { call_type: "outbound", use_case: "x", activity_description: "y" })).status,
    409
  )
  await set({ agents: null })
})

t.test("given room for two keys more, when thirty are made at once, then two are made; archiving one makes room", async (t) => {
  const before = await used("keys")
  await set({ keys: before + 2 })
  const answers = await atOnce(30, makeKey)
  t.strictSame(counts(answers), { 200: 2, 409: 28 })
  t.equal(await used("keys"), before + 2)
  const made = answers.find(({ status }) => status === 200)
  const archived = `/user/api-keys/${bodyOf({ json: made?.json }).id}`
  t.equal((await api.ask("DELETE", archived)).status, 200)
  t.equal((await api.ask("DELETE", archived)).status, 200)
  t.equal(await used("keys"), before + 1)
  t.strictSame(counts(await atOnce(10, makeKey)), { 200: 1, 409: 9 })
  t.strictSame((await api.ask("PUT", `${archived}/reactivate`)).json, full("keys", before + 2, before + 2))
  t.equal(await used("keys"), before + 2)
  t.equal((await api.ask("POST", "/operator/keys", { name: "one more" }, { key: operator })).status, 409)
  await set({ keys: null })
})

t.test("given room for five contacts", async (t) => {
  const agent = bodyOf(await makeAgent())
  await set({ rows: 5 })
  const makeOf = async (list: string) =>
    api.ask("POST", "/campaign/create", { name: "Spring", workflow_id: agent.id, source_type: "csv", source_id: await api.upload(list) })

  t.test("when a list has more, then all of it is refused", async (t) => {
    const six = `phone_number,first_name\n${[1, 2, 3, 4, 5, 6].map((one) => `+1555010000${one},Ada`).join("\n")}\n`
    const answer = await makeOf(six)
    t.strictSame([answer.status, answer.json], [409, full("rows", 5, 0, 6)])
    t.equal(await used("rows"), 0)
    t.strictSame(bodyOf(await api.ask("GET", "/campaign/"))["campaigns"], [])
  })

  t.test("when eight lists of two are imported at once, then two are accepted", async (t) => {
    const answers = await atOnce(8, () => makeOf(csv))
    t.strictSame(counts(answers), { 200: 2, 409: 6 })
    t.equal(await used("rows"), 4)
  })

  t.test("when it is lowered below what exists, then that stays, and no more is accepted", async (t) => {
    await set({ rows: 3 })
    t.strictSame((await makeOf(csv)).json, full("rows", 3, 4))
    t.match(await api.ask("GET", "/campaign/"), { status: 200 })
    await set({ rows: null })
    t.equal((await makeOf(csv)).status, 200)
  })
})

t.test("given the role that requests run as, when it writes what an organization may use, then nothing changes", async (t) => {
  t.strictSame(
    await api.sql`SELECT 1 FROM pg_policies WHERE schemaname = current_schema() AND tablename = 'quotas' AND cmd <> 'SELECT'`,
    []
  )
})
