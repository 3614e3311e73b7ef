import { Effect } from "effect"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { CampaignId } from "#core/Id.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, completed, database, makeCampaign, makeRun, sql } = await openApi(t)

/** A campaign that is over: rows 2 and 3 have failed, and their last calls had these outcomes. */
const over = async (second: string, third = second) => {
  const { id } = await makeCampaign({ max_concurrency: 2 })
  await completed(id, second, third)
  return id
}
const rowsOf = async (id: number, query = "") => {
  const answer = await ask("GET", `/campaign/${id}/contacts${query}`)
  const { contacts } = answer.json as { contacts: ReadonlyArray<{ row_number: number }> } // This is an answer of ours.
  return contacts.map(({ row_number }) => row_number)
}
const mark = (id: number, rows: ReadonlyArray<number>, reached: boolean) =>
  ask("POST", `/campaign/${id}/contacts/mark`, { row_numbers: rows, reached })

t.test("given a campaign with calls of unknown outcome", async (t) => {
  t.test("when its contacts are listed, then each with what became of it", async (t) => {
    const id = await over("unknown", "busy")
    t.match((await ask("GET", `/campaign/${id}/contacts`)).json, {
      contacts: [
        { row_number: 2, phone_number: "+15550100001", state: "failed", last_outcome: "unknown", reached: null, run: null },
        { row_number: 3, state: "failed", last_outcome: "busy", reached: null }
      ]
    })
    t.strictSame(await rowsOf(id, "?outcome=unknown&reached=unsaid"), [2])
    t.strictSame(await rowsOf(id, "?outcome=busy"), [3])
    t.strictSame(await rowsOf(id, "?state=pending"), [])
    const first = await ask("GET", `/campaign/${id}/contacts?limit=1`)
    t.match(first.headers, { link: /contacts\?limit=1&after=2>; rel="next"/ })
    t.strictSame(await rowsOf(id, "?limit=1&after=2"), [3])
    t.equal((await ask("GET", `/campaign/${id}/contacts?outcome=lost`)).status, 422)
  })

  t.test("when a part of a number is looked for, then only its digits count, and three are needed", async (t) => {
    const id = await over("unknown", "busy")
    t.strictSame(await rowsOf(id, `?number=${encodeURIComponent("+1 (555) 010-0002")}`), [3])
    t.strictSame(await rowsOf(id, "?number=010-0001"), [2])
    t.strictSame(await rowsOf(id, "?number=5550100"), [2, 3])
    t.strictSame(await rowsOf(id, "?number=5550100&outcome=busy"), [3])
    t.strictSame(await rowsOf(id, "?number=999"), [])
    t.equal((await ask("GET", `/campaign/${id}/contacts?number=a1-2`)).status, 422)
  })

  t.test("when those that have opted out are wanted, then they are listed, and downloaded with the same filters as a table", async (t) => {
    const id = await over("unknown", "busy")
    await sql`UPDATE contacts SET stop_reason = 'opted_out', due_at = '2027-01-02T03:04:05Z' WHERE campaign_id = ${id} AND row_no = 3`
    await sql`UPDATE contacts SET reached = true WHERE campaign_id = ${id} AND row_no = 2`
    const download = async (query: string) => (await ask("GET", `/campaign/${id}/contacts/download${query}`)).text.split("\r\n")
    t.strictSame(await rowsOf(id, "?stop_reason=opted_out"), [3])
    const [header, ...lines] = await download("?stop_reason=opted_out")
    t.match(header, /^\ufeff?Row,Phone Number,State,Retries Used,Last Outcome,Stop Reason,Due At,Reached,Run ID$/)
    t.strictSame(lines, ["3,+15550100002,failed,0,busy,opted_out,2027-01-02T03:04:05.000Z,,", ""])
    t.strictSame((await download("")).slice(1, 2), ["2,+15550100001,failed,0,unknown,,,yes,"])
    t.equal((await download("")).length, 4)
    t.strictSame((await download("?outcome=busy&reached=yes")).slice(1), [""])
    const answer = await ask("GET", `/campaign/${id}/contacts/download`)
    t.match(answer, {
      status: 200,
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="campaign_${id}_contacts.csv"`
      }
    })
    t.equal((await ask("GET", `/campaign/${id}/contacts/download?stop_reason=bored`)).status, 422)
    t.equal((await askAsOther("GET", `/campaign/${id}/contacts/download`)).status, 404)
  })

  t.test("when more are downloaded than are read at a time, then all are there, once and in order", async (t) => {
    const { id } = await makeCampaign({})
    await sql`INSERT INTO contacts (campaign_id, organization_id, row_no, phone_number, context, stop_reason)
      SELECT campaign_id, organization_id, n, '+1999' || n, '{}', CASE WHEN n % 2 = 0 THEN 'opted_out' END
      FROM contacts, generate_series(10, 4009) n WHERE campaign_id = ${id} AND row_no = 2`
    const rowsIn = async (query: string) =>
      (await ask("GET", `/campaign/${id}/contacts/download${query}`)).text
        .split("\r\n")
        .slice(1, -1)
        .map((line) => parseInt(line, 10))
    const all = Array.from({ length: 4000 }, (_, n) => n + 10)
    t.strictSame(await rowsIn(""), [2, 3, ...all])
    t.strictSame(
      await rowsIn("?stop_reason=opted_out"),
      all.filter((row) => row % 2 === 0)
    )
  })

  t.test("when they are marked as reached, then they are completed, and the counters follow", async (t) => {
    const id = await over("unknown", "unknown")
    t.match(await mark(id, [2, 2], true), { status: 200, json: { completed: 1, failed: 1 } })
    t.match(await mark(id, [2], true), { status: 200, json: { completed: 1, failed: 1 } }, "once, however often it is said")
    t.match(await mark(id, [3], false), { status: 200, json: { completed: 1, failed: 1 } })
    t.strictSame(await rowsOf(id, "?reached=yes"), [2])
    t.strictSame(await rowsOf(id, "?reached=no"), [3])
    t.match(await mark(id, [2, 3], false), { status: 200, json: { completed: 0, failed: 2 } }, "the last word counts")
    const recount = CampaignOwnership.use((_) => _.recount(CampaignId.make(id))).pipe(Effect.provide(CampaignOwnership.layer))
    t.ok(await database.run(recount), "a recount finds the same")
    t.match((await ask("GET", `/campaign/${id}`)).json, {
      logs: [{}, {}, { event: "contacts_marked", details: { reached: true, contacts: 1, rows: [2] } }, {}, {}, { details: { contacts: 2 } }]
    })
  })

  t.test("when one of the rows has another outcome, then none is marked", async (t) => {
    const id = await over("unknown", "busy")
    t.match(await mark(id, [2, 3, 99], true), { status: 409, json: { detail: "No call of unknown outcome in rows: 3, 99" } })
    t.strictSame(await rowsOf(id, "?reached=unsaid"), [2, 3])
    t.equal((await mark(id, [], true)).status, 422)
  })

  t.test("when it is redialed for them, then those who were reached are left alone", async (t) => {
    const id = await over("unknown", "unknown")
    await mark(id, [2], true)
    const only = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false }
    t.equal((await ask("POST", `/campaign/${id}/redial`, only)).status, 422)
    const child = await ask("POST", `/campaign/${id}/redial`, { ...only, retry_on_unknown: true })
    t.match(child.json, { total_rows: 1 })
    t.strictSame(await rowsOf(Number(bodyOf(child)["id"])), [3])
  })

  t.test("when it is redialed without mentioning them, then they are not called again", async (t) => {
    const id = await over("unknown", "busy")
    const child = await ask("POST", `/campaign/${id}/redial`, {})
    t.strictSame(await rowsOf(Number(bodyOf(child)["id"])), [3])
  })
})

t.test("given a campaign that has not started, when its contacts are listed, then each waits for that", async (t) => {
  const { id } = await makeCampaign()
  t.match((await ask("GET", `/campaign/${id}/contacts`)).json, {
    contacts: [
      { row_number: 2, waiting_for: "campaign_not_running", window_opens_at: null },
      { row_number: 3, waiting_for: "campaign_not_running" }
    ]
  })
  await completed(id, "busy")
  t.match((await ask("GET", `/campaign/${id}/contacts`)).json, { contacts: [{ waiting_for: null }, { waiting_for: null }] })
})

t.test("given calls to a contact, when they are listed, then the newest first, each with its run, and nobody else's", async (t) => {
  const { id, workflow_id: agent } = await makeCampaign()
  const callId = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
  await sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, state, created_at, sent_at,
      answered_at, ended_at, outcome, hangup_cause)
    SELECT made.id::uuid, organization_id, ${id}::int, row_no, number, 1, 'n', made.state, '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z',
      CASE outcome WHEN 'answered' THEN '2026-01-01T00:00:02Z'::timestamptz END, '2026-01-01T00:00:03Z', outcome, cause
    FROM contacts JOIN (VALUES (${callId(1)}, 2, 1, 'ended', 'busy', 'user_busy'), (${callId(2)}, 2, 2, 'void', NULL, NULL),
      (${callId(3)}, 2, 3, 'ended', 'answered', 'normal_clearing'), (${callId(4)}, 3, 1, 'ended', 'busy', 'user_busy')
    ) AS made (id, row, number, state, outcome, cause) ON row = row_no WHERE campaign_id = ${id}`
  const run = await makeRun(Number(agent), { campaign_id: id, attempt_id: callId(3) })
  const answer = await ask("GET", `/campaign/${id}/contacts/2/attempts`)
  t.match(
    [answer.status, answer.json],
    [
      200,
      {
        attempts: [
          {
            ...{ call_id: callId(3), number: 3, state: "ended", outcome: "answered", hangup_cause: "normal_clearing" },
            ...{ sent_at: "2026-01-01T00:00:01.000Z", answered_at: "2026-01-01T00:00:02.000Z", ended_at: "2026-01-01T00:00:03.000Z" },
            run: { id: run, workflow_id: agent }
          },
          { call_id: callId(2), state: "void", outcome: null, hangup_cause: null, run: null },
          { call_id: callId(1), number: 1, outcome: "busy", hangup_cause: "user_busy", answered_at: null }
        ]
      }
    ]
  )
  t.equal(Object(answer.json).attempts.length, 3)
  const statuses = async (asked: typeof ask | typeof askAsOther, row: number) =>
    (await asked("GET", `/campaign/${id}/contacts/${row}/attempts`)).status
  t.strictSame([await statuses(ask, 99), await statuses(askAsOther, 2)], [404, 404])
})

const redial = async (id: number, body: object = {}) => {
  const answer = await ask("POST", `/campaign/${id}/redial`, body)
  return [answer.status, bodyOf(answer)["detail"]]
}

t.test("given a completed campaign", async (t) => {
  t.test("when it is redialed, then the new campaign is returned, and each names the other", async (t) => {
    const id = await over("busy")
    const answer = await ask("POST", `/campaign/${id}/redial`, { retry_config: { max_retries: 1 } })
    t.equal(answer.status, 200)
    const child = bodyOf(answer)
    t.match(child, {
      name: "Spring (Redial)",
      state: "draft",
      parent_campaign_id: id,
      redialed_campaign_id: null,
      max_concurrency: 2,
      total_rows: 2,
      total_queued_count: 2,
      retry_config: { enabled: true, max_retries: 1, retry_delay_seconds: 120 },
      logs: [{ event: "campaign_created", details: { parent_campaign_id: id } }, { event: "source_sync_completed" }]
    })
    t.match((await ask("GET", `/campaign/${id}`)).json, {
      state: "completed",
      redialed_campaign_id: child.id,
      logs: [{}, {}, { event: "redial_created", details: { campaign_id: child.id, contacts: 2 } }]
    })
    t.match((await ask("GET", `/campaign/${child.id}/progress`)).json, { total: 2, pending: 2, source_sync: { accepted: 2 } })
    t.strictSame(await redial(id), [400, "This campaign has already been redialed"])
  })

  t.test("when nobody in it matches, then 400", async (t) => {
    const id = await over("voicemail")
    t.strictSame(await redial(id, { retry_on_voicemail: false }), [400, "No subscribers match the selected redial criteria"])
    t.match(await ask("POST", `/campaign/${id}/redial`, { name: "Again", retry_on_busy: false }), { status: 200, json: { name: "Again" } })
  })

  t.test("when nothing is chosen, then 422 at the body", async (t) => {
    const none = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false }
    const answer = await ask("POST", `/campaign/${await over("busy")}/redial`, none)
    t.equal(answer.status, 422)
    t.match(answer.json, {
      detail: [
        {
          type: "value_error",
          loc: ["body"],
          msg: "Value error, At least one of retry_on_voicemail, retry_on_no_answer, retry_on_busy, retry_on_unknown must be true"
        }
      ]
    })
  })
})

t.test("given a campaign that is not completed, or unknown, when it is redialed, then the answer says so", async (t) => {
  const { id } = await makeCampaign()
  t.strictSame(await redial(id), [409, "Only completed campaigns can be redialed (current state: draft)"])
  t.strictSame(await redial(123_456), [404, "Campaign not found"])
})
