import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, makeCampaign } = api

const completed = async (outcome = "busy") => {
  const { id } = await makeCampaign({ max_concurrency: 2 })
  await api.completed(id, outcome)
  return id
}
const redial = async (id: number, body: object = {}) => {
  const answer = await ask("POST", `/campaign/${id}/redial`, body)
  return [answer.status, bodyOf(answer)["detail"]]
}

t.test("given a completed campaign", async (t) => {
  t.test("when it is redialed, then the new campaign is returned, and each names the other", async (t) => {
    const id = await completed()
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
    const id = await completed("voicemail")
    t.strictSame(await redial(id, { retry_on_voicemail: false }), [400, "No subscribers match the selected redial criteria"])
    t.match(await ask("POST", `/campaign/${id}/redial`, { name: "Again", retry_on_busy: false }), { status: 200, json: { name: "Again" } })
  })

  t.test("when nothing is chosen, then 422 at the body", async (t) => {
    const none = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false }
    const answer = await ask("POST", `/campaign/${await completed()}/redial`, none)
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
