import t from "tap"
import { shippedPrices } from "#core/usage/shippedPrices.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, makeAgent, sql } = await openApi(t)
const query = (fields: Readonly<Record<string, string>>) => `?${new URLSearchParams(fields)}`

/** Two calls of today, of 30 and 60.4 seconds, whose services cost 10 and 20 cents, and one from last year. */
const insertRuns = (agent: number) => sql`
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context, gathered_context, usage_info,
        is_completed, created_at, recording_key, cost_info)
      SELECT organization_id, id, current_definition_id, gen_random_uuid(), 'WR-API-' || n, 'ari',
        jsonb_build_object('called_number', '+1555010000' || n, 'caller_number', '+15550199'), '{"mapped_call_disposition":"busy"}',
        jsonb_build_object('call_duration_seconds', seconds), true, at, CASE n WHEN 1 THEN 'recordings/1.wav' END,
        CASE n WHEN 3 THEN NULL ELSE jsonb_build_object('total_cost_usd', n * 0.1) END
      FROM agents, (VALUES (1, 30, now()), (2, 60.4, now()), (3, 7, now() - interval '400 days')) AS given (n, seconds, at)
      WHERE agents.id = ${agent}`

t.test("given calls of an organization", async (t) => {
  const agent = await makeAgent()
  await insertRuns(agent.id)
  const runs = (fields: Readonly<Record<string, string>>) => ask("GET", `/organizations/usage/runs${query(fields)}`)

  t.test("when they are listed, then with agent, numbers and the totals of the page", async (t) => {
    const answer = await runs({ sort_by: "duration", limit: "2" })
    t.match(answer.json, { total_count: 3, total_pages: 2, total_duration_seconds: 90, total_dograh_tokens: 30 })
    const first = {
      workflow_id: agent.id,
      workflow_name: "Reminder",
      name: "WR-API-2",
      call_duration_seconds: 60,
      called_number: "+15550100002",
      caller_number: "+15550199",
      phone_number: "+15550100002",
      disposition: "busy",
      charge_usd: 0.2,
      public_access_token: null
    }
    const recording_public_url = /\/public\/download\/workflow\/[0-9a-f-]{36}\/recording$/
    t.match(bodyOf(answer)["runs"], [first, { recording_url: "recordings/1.wav", recording_public_url }])
  })

  t.test("when they are filtered, then by dates and attributes", async (t) => {
    const filters = JSON.stringify([{ attribute: "calledNumber", type: "text", value: { value: "00003" } }, { attribute: "status" }])
    t.match(await runs({ filters }), { json: { total_count: 1, runs: [{ name: "WR-API-3" }] } })
    t.match(await runs({ filters, start_date: "2026-01-01T00:00:00Z" }), { json: { total_count: 0, runs: [], total_pages: 0 } })
    t.match(await runs({ end_date: "0001-01-01" }), { json: { total_count: 0 } })
  })

  t.test("when the query is invalid, then the answer says why", async (t) => {
    t.match(await runs({ filters: "{" }), { status: 400, json: { detail: "Invalid filters format" } })
    t.match(await runs({ start_date: "x" }), { status: 400, json: { detail: "Invalid date format" } })
    t.equal((await runs({ sort_order: "up" })).status, 422)
  })

  t.test("when the month and the last days are requested, then calls and seconds agree with the table", async (t) => {
    const month = bodyOf(await ask("GET", "/organizations/usage/current-period"))
    t.match(month, { total_duration_seconds: 90, used_amount_usd: 0.3, currency: "USD", period_start: /-01T00:00:00.000Z$/ })
    const days = bodyOf(await ask("GET", "/organizations/usage/daily-breakdown?days=3"))
    t.match(days, {
      breakdown: [{ call_count: 2, minutes: 1.51, cost_usd: 0.3 }, { call_count: 0, minutes: 0, cost_usd: null }, { call_count: 0 }],
      total_minutes: 1.51,
      total_cost_usd: 0.3,
      currency: "USD"
    })
    t.equal((await ask("GET", "/organizations/usage/daily-breakdown?days=31")).status, 422)
  })

  t.test("when somebody else requests them, then there is nothing", async (t) => {
    t.match(await askAsOther("GET", "/organizations/usage/runs"), { json: { runs: [], total_count: 0 } })
    t.match(await askAsOther("GET", "/organizations/usage/current-period"), { json: { total_duration_seconds: 0 } })
    t.match(await askAsOther("GET", "/organizations/usage/daily-breakdown"), { json: { total_minutes: 0, breakdown: { length: 7 } } })
  })
})

t.test("given prices of services", async (t) => {
  const voice = { kind: "tts", provider: "elevenlabs", model: "*", per_million_characters: 50, date: "2026-11-30" }
  const read = async () => bodyOf(await ask("GET", "/organizations/service-prices"))

  t.test("when nobody has set any, then those that ship apply", async (t) => {
    t.strictSame((await read())["prices"], [])
    t.match((await read())["others"], shippedPrices)
  })

  t.test("when an organization sets its own, then they are kept for it alone, and an empty list removes them", async (t) => {
    t.match(await ask("PUT", "/organizations/service-prices", { prices: [voice] }), { status: 200, json: { prices: [voice] } })
    t.strictSame((await read())["prices"], [voice])
    t.strictSame(bodyOf(await askAsOther("GET", "/organizations/service-prices"))["prices"], [])
    t.match(await ask("PUT", "/organizations/service-prices", { prices: [] }), { status: 200, json: { prices: [] } })
    t.strictSame((await read())["prices"], [])
  })

  t.test("when a price is unusable or there twice, then none is taken", async (t) => {
    for (const prices of [
      [voice, { ...voice, per_million_characters: 1 }],
      [{ ...voice, per_million_characters: -1 }],
      [{ ...voice, kind: "stt" }]
    ])
      t.equal((await ask("PUT", "/organizations/service-prices", { prices })).status, 422)
    t.strictSame((await read())["prices"], [])
  })
})
