/**
 * What an organization may use is set by the operator. Before, an organization could set the number of its calls itself, even to 100,000, and
 * had no limit of contacts, agents, keys or files at all.
 */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { Organizations } from "#core/organization/Organizations.ts"
import { openApi } from "#test/gateway/apiTest.ts"
import { said } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t)
const operator = await api.makeKey({ is_operator: true })
const owner = await api.makeKey()
const other = api.otherId
const tenant = await api.makeKey({ organization_id: other })

const as = (key: string) => (method: string, path: string, json?: unknown) => api.ask(method, path, json, { key })
const asOperator = as(operator)
const asTenant = as(tenant)
const quotasOf = (id: number) => `/operator/organizations/${id}/quotas`
const notAllowed = (field: string, input: number, allowed: number) => {
  const text = `${field} must not be above ${allowed}, which the operator allows`
  return [422, { detail: [{ type: "value_error", loc: ["body", field], msg: `Value error, ${text}`, input, ctx: { error: {} } }] }]
}
/** The number of calls that an organization may have at once, as those who place them read it. */
const callsOf = async (id: number) => {
  const [found] = await api.sql<{ readonly limit: number }>`SELECT concurrency_limit AS "limit" FROM organizations WHERE id = ${id}`
  return found?.limit
}

t.test("given an owner who is not an operator", async (t) => {
  t.test("when they set their organization's calls to 100,000, then they are told what the operator allows", async (t) => {
    const asked = { concurrency_limit: 100_000, concurrency_reserve: 0 }
    t.match(said(await asTenant("PUT", "/organizations/settings", asked)), notAllowed("concurrency_limit", 100_000, 10))
    t.match(said(await asTenant("PUT", "/organizations/quotas", { calls: 100_000 })), notAllowed("calls", 100_000, 10))
    t.match(said(await asTenant("PUT", "/organizations/quotas", { rows: 9_000_000_000 })), notAllowed("rows", 9_000_000_000, 50_000_000))
    t.equal(await callsOf(other), 10)
  })

  t.test("when they make an operator's request, even in the first organization, then it is refused", async (t) => {
    const refused = [403, { detail: "Only an operator's key may do this" }]
    for (const key of [tenant, owner]) {
      t.strictSame(said(await as(key)("GET", "/operator/organizations")), refused)
      t.strictSame(said(await as(key)("GET", quotasOf(other))), refused)
      t.strictSame(said(await as(key)("PUT", quotasOf(other), { calls: 100_000 })), refused)
      t.strictSame(said(await as(key)("GET", "/operator/keys")), refused)
      t.strictSame(said(await as(key)("POST", "/operator/keys", { name: "mine" })), refused)
    }
  })

  t.test("when they lower a limit and raise it again, then up to what the operator allows", async (t) => {
    t.equal((await asTenant("PUT", "/organizations/quotas", { calls: 3 })).status, 200)
    t.equal(await callsOf(other), 3)
    t.match((await asTenant("PUT", "/organizations/quotas", { calls: 10 })).json, { calls: { limit: 10, allowed: 10 } })
    t.equal((await asTenant("PUT", "/organizations/settings", { concurrency_limit: 4, concurrency_reserve: 1 })).status, 200)
    t.match((await asTenant("GET", "/organizations/quotas")).json, { calls: { limit: 4, allowed: 10, own: 4, used: 0 } })
    t.match((await asTenant("PUT", "/organizations/quotas", { calls: null })).json, { calls: { limit: 10, allowed: 10, own: null } })
    t.equal(await callsOf(other), 10)
  })
})

t.test("given the operator", async (t) => {
  t.test("when they set what an organization may use, then it holds at once, and is in both audit logs", async (t) => {
    t.match(said(await asOperator("PUT", quotasOf(other), { calls: 25, agents: 7 })), [
      200,
      { id: other, name: "Other", quotas: { calls: { limit: 25 }, agents: { limit: 7, allowed: 7 }, keys: { limit: 1000 } } }
    ])
    t.equal(await callsOf(other), 25)
    const theirs = await asTenant("GET", "/organizations/audit-log")
    t.match(theirs.json, { entries: [{ action: "setOrganizationQuotas", resource_id: String(other), api_key_id: null, address: null }] })
    t.match((await as(owner)("GET", "/organizations/audit-log")).json, { entries: [{ action: "setOrganizationQuotas" }] })
  })

  t.test("when they lower it below the organization's own limit, then it holds, and lifting both restores the default", async (t) => {
    await asTenant("PUT", "/organizations/quotas", { calls: 20 })
    await asOperator("PUT", quotasOf(other), { calls: 5 })
    t.match((await asTenant("GET", "/organizations/quotas")).json, { calls: { limit: 5, allowed: 5, own: 20 } })
    t.equal(await callsOf(other), 5)
    await asOperator("PUT", quotasOf(other), { calls: null, agents: null })
    t.match((await asTenant("PUT", "/organizations/quotas", { calls: null })).json, { calls: { limit: 10 }, agents: { limit: 10_000 } })
  })

  t.test("when they raise the limit of their own organization in its settings, then it is allowed", async (t) => {
    t.equal((await asOperator("PUT", "/organizations/settings", { concurrency_limit: 500, concurrency_reserve: 0 })).status, 200)
    t.match((await as(owner)("GET", "/organizations/quotas")).json, { calls: { limit: 500, allowed: 500 } })
  })

  t.test("when they list organizations, then they get pages, with what each uses", async (t) => {
    const page = await asOperator("GET", "/operator/organizations?limit=1")
    t.match(page.json, { organizations: [{ name: "Ours", quotas: { keys: { used: 3 }, rows: { used: 0 }, followers: { used: 0 } } }] })
    t.match((await asOperator("GET", `/operator/organizations?after=${api.organizationId}`)).json, { organizations: [{ id: other }] })
  })

  t.test("when there is no such organization, then 404", async (t) => {
    t.strictSame(said(await asOperator("GET", quotasOf(999_999))), [404, { detail: "Organization not found" }])
    t.strictSame(said(await asOperator("PUT", quotasOf(999_999), { calls: 1 })), [404, { detail: "Organization not found" }])
  })
})

t.test("given the operator's keys", async (t) => {
  const make = async () => (await asOperator("POST", "/operator/keys", { name: "second" })).json as { id: number; api_key: string } // As documented.

  t.test("when they make another, then it is an operator's until it is revoked", async (t) => {
    const second = await make()
    t.equal((await as(second.api_key)("GET", "/operator/organizations")).status, 200)
    t.equal((await asOperator("DELETE", `/operator/keys/${second.id}`)).status, 200)
    t.equal((await as(second.api_key)("GET", "/operator/organizations")).status, 401)
    t.match((await asOperator("GET", "/operator/keys")).json, [
      { is_operator: true, is_active: true },
      { id: second.id, is_active: false }
    ])
  })

  t.test("when an owner archives one or brings back a revoked one, then it is refused", async (t) => {
    const second = await make()
    const tooLow = [403, { detail: "Your role does not allow this" }]
    t.strictSame(said(await as(owner)("DELETE", `/user/api-keys/${second.id}`)), tooLow)
    await asOperator("DELETE", `/operator/keys/${second.id}`)
    t.strictSame(said(await as(owner)("PUT", `/user/api-keys/${second.id}/reactivate`)), tooLow)
  })

  t.test("when an operator makes an ordinary key, then it is not an operator's", async (t) => {
    const { api_key } = (await asOperator("POST", "/user/api-keys", { name: "plain", role: "owner" })).json as { api_key: string } // As documented.
    t.equal((await as(api_key)("GET", "/operator/organizations")).status, 403)
  })

  t.test("when several revoke the last two at once, then one of them stays", async (t) => {
    const keys = [operator, (await make()).api_key]
    const listed = (await asOperator("GET", "/operator/keys")).json as ReadonlyArray<{ id: number; is_active: boolean }> // As documented.
    const active = listed.filter(({ is_active }) => is_active).map(({ id }) => id)
    t.equal(active.length, 2)
    const answers = await Promise.all(active.map((id, at) => as(keys[at] ?? "")("DELETE", `/operator/keys/${id}`)))
    t.strictSame(answers.map(({ status }) => status).sort(), [200, 409])
  })

  t.test("when a key has scopes or an expiry, or is a user's, then the database does not let it be an operator's", async (t) => {
    for (const change of ["scopes = ARRAY['admin']", "expires_at = now() + interval '1 day'", "role = 'admin'"]) {
      const tried = api.database.run(
        SqlClient.SqlClient.use(
          (sql) =>
            sql`UPDATE api_keys SET is_operator = true, ${sql.literal(change)} WHERE organization_id = ${other} AND name = 'of a test'`
        )
      )
      await t.rejects(tried, change)
    }
  })
})

t.test("given starts with API_KEY, when it is set and then changed, then the key is the operator's, and never a tenant's", async (t) => {
  const start = (key: string) =>
    api.database.run(Organizations.use((_) => _.bootstrap(Redacted.make(key), 10)).pipe(Effect.provide(Organizations.layer)))
  const statusOf = async (key: string) => (await as(key)("GET", "/operator/organizations")).status
  await start("the-first-key-of-the-operator")
  t.equal(await statusOf("the-first-key-of-the-operator"), 200)
  await start("another-key-of-the-operator")
  t.equal(await statusOf("another-key-of-the-operator"), 200)
  // A key that somebody already has does not become an operator's.
  await start(tenant)
  t.equal(await statusOf(tenant), 403)
})
