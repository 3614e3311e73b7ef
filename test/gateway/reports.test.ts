import t from "tap"
import { openApi } from "./apiTest.ts"

const { ask, askAsOther, makeCampaign, sql } = await openApi(t)

/** The campaign's two contacts: the first was busy and then answered, the second waits for its next dial. */
const dial = async (campaign: number) => {
  await sql`UPDATE contacts SET state = CASE row_no WHEN 2 THEN 'completed' ELSE 'retry_wait' END, retries_used = 1 WHERE campaign_id = ${campaign}`
  await sql`
        WITH dialed AS (
          INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, state, outcome)
          SELECT gen_random_uuid(), c.organization_id, c.campaign_id, n.row_no, n.number, 1, 'here', 'ended', n.outcome
          FROM contacts c JOIN (VALUES (2, 1, 'busy'), (2, 2, 'answered'), (3, 1, 'busy')) AS n (row_no, number, outcome) ON n.row_no = c.row_no
          WHERE c.campaign_id = ${campaign}
          RETURNING *
        )
        INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, is_completed, created_at,
          initial_context, gathered_context, usage_info, transcript_key)
        SELECT d.organization_id, a.id, a.current_definition_id, c.id, d.id, 'WR', 'ari', true,
          -- The API shows milliseconds; the database keeps more.
          '2026-03-01T10:00:00.000456Z'::timestamptz + (d.row_no * 10 + d.number) * interval '1 minute',
          jsonb_build_object('called_number', '+155501000' || d.row_no),
          jsonb_build_object('mapped_call_disposition', CASE d.outcome WHEN 'busy' THEN 'busy' ELSE 'user_hangup' END,
            'call_tags', jsonb_build_array('x', d.outcome),
            'extracted_variables', CASE d.outcome WHEN 'answered' THEN '{"wish":"=HYPERLINK(1)"}' ELSE '{}' END::jsonb),
          CASE d.outcome WHEN 'answered' THEN '{"call_duration_seconds":12.5}'::jsonb END,
          CASE d.outcome WHEN 'answered' THEN 'transcripts/1.txt' END
        FROM dialed d JOIN campaigns c ON c.id = d.campaign_id JOIN agents a ON a.id = c.agent_id`
}

const linesOf = (text: string) => text.split("\r\n").map((line) => line.split(","))
const withoutIds = (text: string) =>
  linesOf(text)
    .slice(1, -1)
    .map((cells) => cells.slice(4).map((cell) => (cell.startsWith("http") ? "url" : cell)))

t.test("given a campaign that has dialed", async (t) => {
  const campaign = await makeCampaign()
  await dial(campaign.id)
  const busy = (time: string, number: string, row: string) => [
    ...[time, number, "busy", "", "", '"x', ' busy"'],
    ...["", "", row, "1", "busy", "no", ""]
  ]
  const expected = [
    busy("2026-03-01T10:31:00.000Z", "+1555010003", "3"),
    [
      ...["2026-03-01T10:22:00.000Z", "+1555010002", "user_hangup", "12.5", "'=HYPERLINK(1)", '"x', ' answered"'],
      ...["url", "", "2", "2", "answered", "yes", ""]
    ],
    busy("2026-03-01T10:21:00.000Z", "+1555010002", "2")
  ]

  t.test("when its report is requested, then it has a line for every attempt, newest first", async (t) => {
    const answer = await ask("GET", `/campaign/${campaign.id}/report`)
    t.match(answer, {
      status: 200,
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="campaign_${campaign.id}_report.csv"`
      }
    })
    t.match(answer.text, /^\uFEFFRun ID,Campaign ID,.*,Call Duration \(s\),wish,Call Tags,Transcript URL,.*,From Number\r\n/)
    t.strictSame(withoutIds(answer.text), expected)
  })

  t.test("when it is limited to times that the API shows, then the bounds are inclusive", async (t) => {
    const narrowed = await ask("GET", `/campaign/${campaign.id}/report?start_date=2026-03-01T10:22:00Z&end_date=2026-03-01T10:31:00`)
    t.strictSame(withoutIds(narrowed.text), expected.slice(0, 2))
    const none = await ask("GET", `/campaign/${campaign.id}/report?end_date=2026-03-01T10:20:59.999Z`)
    t.equal(linesOf(none.text).length, 2, "the names of the columns, and nothing")
    t.match(await ask("GET", `/campaign/${campaign.id}/report?start_date=soon`), {
      status: 422,
      json: { detail: [{ loc: ["query", "start_date"] }] }
    })
  })

  t.test("when it is limited to a date, then that is the whole day in the organization's time zone", async (t) => {
    const calls = async (narrowing: string) => withoutIds((await ask("GET", `/campaign/${campaign.id}/report?${narrowing}`)).text).length
    t.equal(await calls("end_date=2026-03-01"), 3, "UTC, where none is chosen")
    t.equal(await calls("start_date=2026-03-01&end_date=2026-03-01"), 3)
    t.equal(await calls("end_date=2026-02-28"), 0)
    t.equal((await ask("PUT", "/organizations/preferences", { timezone: "Pacific/Kiritimati" })).status, 200)
    t.equal(
      await calls("start_date=2026-03-02&end_date=2026-03-02"),
      3,
      "ten o'clock by UTC is midnight in Kiritimati, fourteen hours ahead"
    )
    t.equal(await calls("end_date=2026-03-01"), 0)
    const listed = await ask("GET", "/organizations/usage/runs?start_date=2026-03-02&end_date=2026-03-02")
    t.match(listed.json, { total_count: 3 }, "and so in lists")
    t.equal((await ask("PUT", "/organizations/preferences", { timezone: "UTC" })).status, 200)
  })

  t.test("when the agent's and the organization's are requested, then they have the same lines", async (t) => {
    const ofAgent = await ask("GET", `/workflow/${campaign["workflow_id"]}/report`)
    t.strictSame(withoutIds(ofAgent.text), expected)
    t.match(ofAgent.headers, { "content-disposition": /"workflow_\d+_report.csv"$/ })
    const ofAll = await ask("GET", "/organizations/usage/runs/report?start_date=2026-03-01T10:22:00Z")
    t.strictSame(withoutIds(ofAll.text), expected.slice(0, 2))
    t.match(ofAll.headers, { "content-disposition": /"usage_runs_\d{8}_\d{6}.csv"$/ })
    t.match(await ask("GET", "/organizations/usage/runs/report?filters=x"), { status: 400, json: { detail: "Invalid filters format" } })
  })

  t.test("when it does not exist, or belongs to somebody else, then it is not found", async (t) => {
    t.match(await ask("GET", "/campaign/999999/report"), { status: 404, json: { detail: "Campaign 999999 not found" } })
    t.match(await ask("GET", "/workflow/999999/report"), { status: 404, json: { detail: "Workflow with id 999999 not found" } })
    t.equal(linesOf((await askAsOther("GET", "/organizations/usage/runs/report")).text).length, 2)
  })

  t.test("when a day is requested, then its calls, and their distribution", async (t) => {
    const day = "date=2026-03-01&timezone=Europe/Berlin"
    t.match(await ask("GET", `/organizations/reports/daily?${day}`), {
      json: {
        date: "2026-03-01",
        timezone: "Europe/Berlin",
        workflow_id: null,
        metrics: { total_runs: 3, xfer_count: 0 },
        disposition_distribution: [
          { disposition: "busy", count: 2, percentage: 66.67 },
          { disposition: "user_hangup", count: 1, percentage: 33.33 }
        ],
        call_duration_distribution: [
          { bucket: "0-10", range_start: 0, range_end: 10, count: 0, percentage: 0 },
          { bucket: "10-30", count: 1, percentage: 100 },
          { bucket: "30-60" },
          { bucket: "60-120" },
          { bucket: "120-180" },
          { bucket: ">180", range_start: 180, range_end: null }
        ]
      }
    })
    t.match(await ask("GET", `/organizations/reports/daily/runs?${day}&workflow_id=${campaign["workflow_id"]}`), {
      json: [{ phone_number: "+1555010003", disposition: "busy", duration_seconds: null, workflow_name: "Reminder" }, {}, {}]
    })
    t.strictSame((await askAsOther("GET", `/organizations/reports/daily/runs?${day}`)).json, [])
    t.match(await ask("GET", "/organizations/reports/daily?date=x&timezone=UTC"), {
      status: 400,
      json: { detail: "Invalid date format. Use YYYY-MM-DD" }
    })
    t.match(await ask("GET", "/organizations/reports/daily?date=2026-03-01&timezone=x"), {
      status: 400,
      json: { detail: "Invalid timezone: x" }
    })
    t.equal((await ask("GET", "/organizations/reports/daily")).status, 422)
    t.strictSame((await ask("GET", "/organizations/reports/workflows")).json, [{ id: campaign["workflow_id"], name: "Reminder" }])
  })
})
