import t from "tap"
import { rowsOf, workbookOf } from "#test/support/workbook.ts"
import { ari, bodyOf, csv, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, makeAgent, makeCampaign, upload } = api

t.test("given a list of contacts to upload", async (t) => {
  const request = () => ask("POST", "/s3/presigned-upload-url", { file_name: "a b.csv", file_size: 10 })

  t.test("when an address is requested, then the answer has the address, the key and the expiry", async (t) => {
    const answer = bodyOf(await request())
    t.match(answer, { expires_in: 900, file_key: /^campaigns\/\d+\/[0-9a-f-]{36}_a_b\.csv$/ })
    t.ok(String(answer["upload_url"]).startsWith(`http://127.0.0.1:${api.port}/api/v1/uploads/`))
    t.equal((await ask("POST", "/s3/presigned-upload-url", { file_name: "a.txt", file_size: 0 })).status, 422)
  })

  t.test("when it is a workbook, then a campaign can be created from it", async (t) => {
    const bytes = workbookOf({
      sheets: [
        rowsOf([
          ["phone_number", "first_name"],
          ["+15550100001", "Ada"]
        ])
      ]
    })
    const ticket = bodyOf(await ask("POST", "/s3/presigned-upload-url", { file_name: "list.xlsx", file_size: bytes.length }))
    const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    const sent = await fetch(String(ticket["upload_url"]), {
      method: "PUT",
      body: new Uint8Array(bytes),
      headers: { "content-type": type }
    })
    t.equal(sent.status, 200)
    t.match(await makeCampaign({ source_id: ticket["file_key"] }), { total_rows: 1 })
    t.match((await ask("GET", `/s3/file-metadata?key=${ticket["file_key"]}`)).json, { metadata: { content_type: type } })
  })

  t.test("when the bytes are sent as a form, then 405 says to use PUT", async (t) => {
    const form = new FormData()
    form.set("file", new Blob([csv], { type: "text/csv" }), "list.csv")
    const answer = await fetch(String(bodyOf(await request())["upload_url"]), { method: "POST", body: form })
    t.strictSame([answer.status, answer.headers.get("allow")], [405, "PUT"])
  })
})

t.test("given a campaign", async (t) => {
  t.test("when it is created with minimal settings, then the defaults show", async (t) => {
    const campaign = await makeCampaign()
    t.match(campaign, {
      state: "draft",
      workflow_name: "Reminder",
      source_type: "csv",
      total_rows: 2,
      processed_rows: 0,
      failed_rows: 0,
      started_at: null,
      max_concurrency: null,
      schedule_config: null,
      executed_count: 0,
      total_queued_count: 2,
      telephony_configuration_id: null,
      retry_config: {
        enabled: true,
        max_retries: 2,
        retry_delay_seconds: 120,
        retry_on_busy: true,
        retry_on_no_answer: true,
        retry_on_voicemail: true,
        retry_on_trunk_lost: false
      },
      circuit_breaker: { enabled: false, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 }
    })
    const { warnings, ...shown } = campaign
    t.strictSame(warnings, [])
    t.strictSame((await ask("GET", `/campaign/${campaign.id}`)).json, shown)
    const { campaigns } = bodyOf(await ask("GET", "/campaign/"))
    t.match(campaigns, [{ id: campaign.id }])
  })

  t.test("when all settings are given, then they come back, and a change replaces objects as a whole", async (t) => {
    const slots = [{ day_of_week: 0, start_time: "09:00", end_time: "17:00" }]
    const campaign = await makeCampaign({
      retry_config: { max_retries: 5, retry_delay_seconds: 30 },
      max_concurrency: 4,
      circuit_breaker: { failure_threshold: 0.9 },
      schedule_config: { timezone: "Europe/Berlin", slots }
    })
    t.match(campaign, {
      retry_config: { max_retries: 5, retry_delay_seconds: 30, retry_on_busy: true },
      max_concurrency: 4,
      schedule_config: { enabled: true, timezone: "Europe/Berlin", slots },
      circuit_breaker: { enabled: true, failure_threshold: 0.9, window_seconds: 120, min_calls_in_window: 5 }
    })
    const changed = await ask("PATCH", `/campaign/${campaign.id}`, { name: "New", retry_config: { enabled: false } })
    t.match(changed.json, { name: "New", retry_config: { enabled: false, max_retries: 2 }, max_concurrency: 4, schedule_config: { slots } })
    const kept = await ask("PATCH", `/campaign/${campaign.id}`, { name: null, retry_config: null, rate_limit: null })
    t.match(kept.json, { name: "New", retry_config: { enabled: false }, rate_limit: 1 }, "null leaves these as they are")
    const none = { max_concurrency: null, schedule_config: null, circuit_breaker: null }
    const cleared = await ask("PATCH", `/campaign/${campaign.id}`, none)
    t.match(cleared.json, { ...none, circuit_breaker: { enabled: false } }, "null clears these")
    const entry = { event: "settings_updated", details: { changed: ["max_concurrency", "schedule_config", "circuit_breaker"] } }
    t.match(bodyOf(cleared), { logs: [{}, {}, {}, entry] })
  })

  t.test("when it has its own rate, then it keeps it until it is changed", async (t) => {
    const campaign = await makeCampaign({ rate_limit: 1000 })
    t.equal(campaign["rate_limit"], 1000)
    t.match(await ask("PATCH", `/campaign/${campaign.id}`, { rate_limit: 7 }), { status: 200, json: { rate_limit: 7 } })
    t.match((await ask("GET", `/campaign/${campaign.id}/progress`)).json, { rate_limit: 7 })
    for (const rate_limit of [0, 1001]) t.equal((await ask("PATCH", `/campaign/${campaign.id}`, { rate_limit })).status, 422)
  })

  t.test("when it may have more calls up than its organization, then it is accepted, and a warning says what applies", async (t) => {
    const warning = "max_concurrency (11) is above the organization's limit (10): no more than 10 calls will be up at once."
    const campaign = await makeCampaign({ max_concurrency: 11 })
    t.strictSame(campaign["warnings"], [warning])
    t.match(await ask("PATCH", `/campaign/${campaign.id}`, { max_concurrency: 10 }), { status: 200, json: { warnings: [] } })
    t.match(await ask("PATCH", `/campaign/${campaign.id}`, { max_concurrency: 11 }), { status: 200, json: { warnings: [warning] } })
  })

  t.test("when settings are out of bounds, then 422 has each", async (t) => {
    const answer = await ask("POST", "/campaign/create", {
      name: "",
      workflow_id: 1,
      source_type: "xls",
      source_id: "x",
      max_concurrency: 101,
      retry_config: { max_retries: 11, retry_delay_seconds: 29 },
      circuit_breaker: { failure_threshold: 1.1, window_seconds: 29, min_calls_in_window: 0 },
      schedule_config: { slots: Array.from({ length: 51 }, () => ({})) }
    })
    t.equal(answer.status, 422)
    const { detail } = answer.json as { detail: ReadonlyArray<{ type: string; loc: ReadonlyArray<string> }> } // This is a 422 of ours.
    const violations = detail.map(({ loc, type }) => `${loc.slice(1).join(".")} ${type}`)
    t.strictSame(violations, [
      "name string_too_short",
      "source_type string_pattern_mismatch",
      "retry_config.max_retries less_than_equal",
      "retry_config.retry_delay_seconds greater_than_equal",
      "max_concurrency less_than_equal",
      "schedule_config.slots too_long",
      "circuit_breaker.failure_threshold less_than_equal",
      "circuit_breaker.window_seconds greater_than_equal",
      "circuit_breaker.min_calls_in_window greater_than_equal"
    ])
  })

  t.test("when the list has a bad row, then 400 names it and nothing is left behind", async (t) => {
    const { id } = await makeAgent()
    const source_id = await upload("phone_number,first_name\n5550100,Ada\n")
    const answer = await ask("POST", "/campaign/create", { name: "Bad", workflow_id: id, source_type: "csv", source_id })
    t.equal(answer.status, 400)
    t.match(answer.json, { detail: /^Invalid phone numbers in rows: 2\. / })
  })

  t.test("when its outcomes are asked for, then they are counted in buckets of the chosen size", async (t) => {
    const { id } = await makeCampaign()
    await api.sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, state, ended_at, outcome)
      SELECT gen_random_uuid(), organization_id, campaign_id, row_no, 1, 'n', 'ended', '2026-02-03T04:05:06Z', 'busy' FROM contacts
      WHERE campaign_id = ${id}`
    await api.sql`UPDATE campaigns SET started_at = '2026-02-01T00:00:00Z', completed_at = '2026-02-04T00:00:00Z' WHERE id = ${id}`
    const answer = await ask("GET", `/campaign/${id}/outcomes?bucket=day`)
    t.match(answer.json, {
      bucket: "day",
      since: "2026-02-01T00:00:00.000Z",
      calls: [{ at: "2026-02-03T00:00:00.000Z", outcomes: { answered: 0, busy: 2 } }],
      retries: { due: 0, ahead: [], later: 0 }
    })
    t.equal((await ask("GET", `/campaign/${id}/outcomes?bucket=week`)).status, 422)
  })

  t.test("when its list is checked first, then the answer has all faults, and the contacts as they would be dialed", async (t) => {
    const { id } = await makeAgent()
    const check = async (text: string) => ask("POST", "/campaign/check", { source_id: await upload(text), workflow_id: id })
    t.match(await check("phone_number,first_name,town\n+15550100001,Ada,Bern\n5550100,Bo,\n+15550100001,Cy,\n"), {
      status: 200,
      json: {
        is_accepted: false,
        refusal: /^Invalid phone numbers in rows: 3\. /,
        ...{ rows_in_file: 3, accepted: 1, skipped: 0, warnings: [], missing_variables: [], unused_columns: ["town"] },
        columns: ["phone_number", "first_name", "town"],
        refused: {
          total: 2,
          first: [
            { row_number: 3, column: "phone_number" },
            { row_number: 4, reason: "row 2 has the same number" }
          ]
        },
        duplicates: { total: 1, first: [{ phone_number: "+15550100001", row_numbers: [2, 4] }] },
        contacts: [{ row_number: 2, initial_context: { first_name: "Ada", town: "Bern" } }]
      }
    })
    t.match(await check("phone_number\n+15550100001\n"), { json: { is_accepted: false, missing_variables: ["first_name"] } })
    t.match(await check(csv), { json: { is_accepted: true, refusal: null, accepted: 2 } })
  })

  t.test("when something it needs does not exist, then the error says which", async (t) => {
    const source_id = await upload(csv)
    const create = async (more: object) => {
      const answer = await ask("POST", "/campaign/create", { name: "a", workflow_id: 1, source_type: "csv", source_id, ...more })
      return [answer.status, answer.json]
    }
    const { id } = await makeAgent()
    t.strictSame(await create({ workflow_id: 12345 }), [404, { detail: "Workflow not found" }])
    t.strictSame(await create({ workflow_id: id, source_id: "../../etc" }), [400, { detail: "Failed to access CSV file: ../../etc" }])
    t.strictSame(await create({ workflow_id: id, telephony_configuration_id: 777 }), [400, { detail: "telephony_configuration_not_found" }])
  })

  t.test("when it is started, paused and resumed, then each is only possible in its state", async (t) => {
    const { id, workflow_id: agentId } = await makeCampaign()
    t.match(await ask("POST", `/campaign/${id}/start`), { status: 400, json: { detail: /telephony/i } })
    await ask("POST", "/organizations/telephony-configs", { name: "pbx", is_default_outbound: true, config: ari })
    const step = async (action: string) => {
      const answer = await ask("POST", `/campaign/${id}/${action}`)
      return [answer.status, answer.status === 200 ? bodyOf(answer)["state"] : bodyOf(answer)["detail"]]
    }
    t.strictSame(await step("pause"), [409, "Campaign must be in 'running' state to pause, current state: draft"])
    t.strictSame(await step("start"), [200, "running"])
    t.strictSame(await step("start"), [409, "Campaign must be in 'draft' or 'paused' state to start, current state: running"])
    const update = await ask("PATCH", `/campaign/${id}`, { name: "x" })
    t.strictSame([update.status, update.json], [409, { detail: "Cannot update a running campaign" }])
    t.strictSame(await step("resume"), [409, "Campaign must be in 'paused' state to resume, current state: running"])
    api.health.isStopHeard = false
    const unconfirmed = await ask("POST", `/campaign/${id}/pause`)
    t.strictSame([unconfirmed.status, unconfirmed.headers["retry-after"]], [503, "2"])
    api.health.isStopHeard = true
    t.strictSame(await step("pause"), [200, "paused"])
    t.strictSame(await step("resume"), [200, "running"])

    const archive = () => ask("PUT", `/workflow/${agentId}/status`, { status: "archived" })
    api.health.isStopHeard = false
    for (const { headers, status } of [await archive(), await archive()]) t.strictSame([status, headers["retry-after"]], [503, "2"])
    api.health.isStopHeard = true
    t.equal((await archive()).status, 200, "nor is its agent archived before the campaign has stopped")
    t.match((await ask("GET", `/campaign/${id}`)).json, { state: "paused" })
  })

  t.test("when its progress is requested, then both sets of names agree", async (t) => {
    const { id } = await makeCampaign()
    t.match((await ask("GET", `/campaign/${id}/progress`)).json, {
      campaign_id: id,
      state: "draft",
      total_rows: 2,
      processed_rows: 0,
      failed_calls: 0,
      progress_percentage: 0,
      rate_limit: 1,
      started_at: null,
      source_sync: { status: "completed", accepted: 2, skipped: 0 },
      total: 2,
      completed: 0,
      failed: 0,
      pending: 2,
      processed: 0,
      completion_percentage: 0
    })
  })

  t.test("when its list is requested, then the address works without a key", async (t) => {
    const { id } = await makeCampaign()
    const answer = bodyOf(await ask("GET", `/campaign/${id}/source-download-url`))
    t.equal(answer["expires_in"], 3600)
    const file = await fetch(String(answer["download_url"]))
    t.strictSame([file.status, await file.text()], [200, csv])
    t.match(file.headers.get("content-disposition"), /my_list\.csv/)
  })
})

t.test("given a call of a campaign that has ended, when its runs are listed, then by page and the allowed attributes", async (t) => {
  const campaign = await makeCampaign()
  const run = await api.makeRun(Number(campaign["workflow_id"]), { campaign_id: campaign.id, is_completed: true })
  await api.sql`INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count) VALUES (${campaign.id}, 1, 1)`
  const path = `/campaign/${campaign.id}/runs`
  const page = { runs: [{ id: run }], total_count: 1, page: 1, limit: 1, total_pages: 1 }
  t.match((await ask("GET", `${path}?limit=1&sort_by=duration&sort_order=asc`)).json, page)
  const list = (filters: unknown) => ask("GET", `${path}?filters=${encodeURIComponent(JSON.stringify(filters))}`)
  t.match((await list([{ attribute: "status", type: "radio", value: { status: "in_progress" } }])).json, {
    total_count: 0,
    total_pages: 0
  })
  t.strictSame((await list([{ attribute: "runId", type: "number", value: { value: 1 } }])).json, { detail: "Invalid attribute 'runId'" })
  t.strictSame((await ask("GET", `${path}?filters=[`)).json, { detail: "Invalid filter format" })
  t.equal((await ask("GET", `${path}?limit=101&page=0`)).status, 422)
  t.equal((await ask("GET", `${path}?page=9007199254740991`)).status, 200)
  t.strictSame((await ask("GET", "/campaign/999999/runs")).json, { detail: "Campaign 999999 not found" })
})
