/** Lists of campaigns, the defaults for a new one, and creating one only once. */
import t from "tap"
import * as given from "#test/support/given.ts"
import { bodyOf, csv, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther, makeAgent, makeCampaign, sql, upload } = api

const idsOf = async (query: string) => {
  const answer = await ask("GET", `/campaign/?${query}`)
  const { campaigns } = answer.json as { campaigns: ReadonlyArray<{ id: number }> } // This is a list of ours.
  return campaigns.map(({ id }) => id)
}

t.test("given many campaigns", async (t) => {
  const { agentId } = await api.database.run(given.campaign({ organizationId: api.organizationId }))
  const names = ["alpha 1", "Alpha_2", "beta", "100% off"]
  const states = ["draft", "paused", "completed", "paused"]
  const rows = await sql<{ readonly id: number }>`
    INSERT INTO campaigns (organization_id, name, agent_id, state, source_type, source_id, source_hash, source_sync, rate_limit, retry_config,
      total_rows, created_at)
    SELECT ${api.organizationId}, n.name, ${agentId}, n.state, 'csv', 'x', '', source_sync, 1, retry_config, 0,
      now() - interval '1 minute' + n.at * interval '1 second'
    FROM (SELECT source_sync, retry_config FROM campaigns WHERE agent_id = ${agentId} LIMIT 1) AS c,
      unnest(${names}::text[], ${states}::text[]) WITH ORDINALITY AS n (name, state, at) ORDER BY n.at RETURNING id`
  await sql`UPDATE campaigns SET created_at = now() - interval '1 hour' WHERE name = 'Spring reminder'`
  const [alpha, alpha2, beta, off] = rows.map(({ id }) => id)

  t.test("when they are filtered by state or name, then the matching ones come, newest first", async (t) => {
    t.strictSame(await idsOf("state=paused,completed&limit=3"), [off, beta, alpha2])
    t.strictSame(await idsOf("state=paused&name=ALPHA"), [alpha2])
    t.strictSame(await idsOf("name=alpha"), [alpha2, alpha])
    t.strictSame(await idsOf("name=a_2"), [alpha2], "no wildcard")
    t.strictSame(await idsOf("name=100%25"), [off])
    t.strictSame(await idsOf("name=%25"), [off])
    t.strictSame(await idsOf("name=a%5C"), [])
  })

  t.test("when they are read in pages, then each comes once", async (t) => {
    t.strictSame(await idsOf("limit=2"), [off, beta])
    t.strictSame(await idsOf("limit=2&offset=1"), [beta, alpha2])
    t.strictSame(await idsOf(`limit=2&after=${beta}`), [alpha2, alpha])
    t.strictSame(await idsOf(`state=paused,draft&limit=1&offset=1&after=${off}`), [alpha])
    t.strictSame((await askAsOther("GET", `/campaign/?after=${beta}`)).json, { campaigns: [] })
    t.equal((await idsOf("after=99999999")).length, 0)
    t.ok((await idsOf("")).length > 4)
  })

  t.test("when the state is unknown or the page invalid, then 422", async (t) => {
    const answer = await ask("GET", "/campaign/?state=creating,")
    const allowed = "['draft', 'created', 'running', 'paused', 'completed', 'failed']"
    const detail = `Invalid campaign state filter: ['creating', '<empty>']. Allowed values: ${allowed}.`
    t.strictSame([answer.status, answer.json], [422, { detail }])
    for (const query of ["limit=0", "limit=1001", "offset=-1", "offset=99999999999", "after=x"]) {
      t.equal((await ask("GET", `/campaign/?${query}`)).status, 422, query)
    }
  })
})

t.test("given a request to create a campaign with a key", async (t) => {
  const { id } = await makeAgent()
  const body = { name: "Once", workflow_id: id, source_type: "csv", source_id: await upload(csv) }
  const create = (key: string, json: object = body) => ask("POST", "/campaign/create", json, { headers: { "idempotency-key": key } })

  t.test("when it is sent again, then the campaign is created once, and the answer is the same", async (t) => {
    const first = await create("c-1")
    const second = await create("c-1", Object.fromEntries(Object.entries(body).reverse()))
    t.equal(first.status, 200)
    t.strictSame([second.status, second.text], [200, first.text])
    t.strictSame([first.headers["idempotency-replayed"], second.headers["idempotency-replayed"]], [undefined, "true"])
    t.strictSame((await idsOf("name=Once")).length, 1)
  })

  t.test("when its process died after creating the campaign, then the next answer names that one", async (t) => {
    const first = bodyOf(await create("c-2"))
    await sql`UPDATE idempotency_keys SET status = NULL, body = NULL, leased_until = now() WHERE key = 'c-2'`
    t.equal(bodyOf(await create("c-2")).id, first.id)
  })
})

t.test("given the defaults for a new campaign, when they are requested, then they are those of the newest one", async (t) => {
  const slots = [{ day_of_week: 1, start_time: "08:00", end_time: "12:00" }]
  await makeCampaign({ max_concurrency: 5, schedule_config: { timezone: "UTC", slots } })
  const retry_config = {
    enabled: true,
    max_retries: 2,
    retry_delay_seconds: 120,
    retry_on_busy: true,
    retry_on_no_answer: true,
    retry_on_voicemail: true,
    retry_on_trunk_lost: false
  }
  const schedule_config = { enabled: true, timezone: "UTC", slots }
  t.strictSame((await ask("GET", "/organizations/campaign-defaults")).json, {
    concurrent_call_limit: 10,
    from_numbers_count: 0,
    default_retry_config: retry_config,
    last_campaign_settings: { retry_config, max_concurrency: 5, schedule_config, circuit_breaker: null }
  })
  t.match((await askAsOther("GET", "/organizations/campaign-defaults")).json, { last_campaign_settings: null })
})
