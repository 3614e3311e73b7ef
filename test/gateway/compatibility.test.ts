/** What the API returns and allows if the operator has set `COMPATIBILITY=dograh`: on every route, and only then. */
import { Layer } from "effect"
import t, { type Test } from "tap"
import { Compatibility } from "#core/Compatibility.ts"
import { until } from "#test/support/until.ts"
import { ari, bodyOf, openApi, type TestApi } from "./apiTest.ts"
import { type Follower, followersOf } from "./followers.ts"

/** The state of a draft in each place where it is shown. */
const toldStates = async (t: Test, api: TestApi) => {
  const { ask, makeCampaign } = api
  const { socket, stream } = followersOf(api, "dgr_ours_0000000000")
  const [webSocket, serverSent] = [socket(t), stream(t)]
  await webSocket.opened
  await until("the stream", () => serverSent.state.status === 200 || undefined)
  const created = await makeCampaign()
  const { id } = created
  const states = async (filter: string) => {
    const { campaigns } = (await ask("GET", `/campaign/?state=${filter}`)).json as { campaigns: ReadonlyArray<{ state: string }> } // This is an answer of ours.
    return campaigns.map(({ state }) => state)
  }
  const event = await until("the campaign's event", async () => {
    const { events } = (await ask("GET", "/events")).json as { events: ReadonlyArray<{ subject: string; data: { state: string } }> } // This is an answer of ours.
    return events.find(({ subject }) => subject === `campaigns/${id}`)
  })
  const followed = (follower: Follower) =>
    until("the campaign's event", () => follower.messages.find(({ subject }) => subject === `campaigns/${id}`)?.data["state"])
  const again = await makeCampaign()
  await api.completed(again.id, "busy")
  const redialed = bodyOf(await ask("POST", `/campaign/${again.id}/redial`, {}))
  await api.sql`UPDATE campaigns SET state = 'failed' WHERE id = ${redialed.id}`
  return {
    id,
    told: {
      redialed: redialed["state"],
      byWebSocket: await followed(webSocket),
      byStream: await followed(serverSent),
      create: created["state"],
      one: bodyOf(await ask("GET", `/campaign/${id}`))["state"],
      changed: bodyOf(await ask("PATCH", `/campaign/${id}`, { name: "x" }))["state"],
      progress: bodyOf(await ask("GET", `/campaign/${id}/progress`))["state"],
      byDraft: await states("draft"),
      byCreated: await states("created"),
      byBoth: await states("created,draft"),
      event: event.data.state,
      refusal: bodyOf(await ask("POST", `/campaign/${id}/pause`))["detail"]
    }
  }
}

const places = ["redialed", "byWebSocket", "byStream", "create", "one", "changed", "progress", "event"]
const expected = (draft: string) => ({
  ...Object.fromEntries(places.map((place) => [place, draft])),
  ...Object.fromEntries(["byDraft", "byCreated", "byBoth"].map((filter) => [filter, [draft]])),
  refusal: `Campaign must be in 'running' state to pause, current state: ${draft}`
})

const started = async (api: TestApi, id: number) => {
  await api.ask("POST", "/organizations/telephony-configs", { name: "pbx", is_default_outbound: true, config: ari })
  return await api.ask("POST", `/campaign/${id}/start`)
}

const changes = {
  name: "New",
  retry_config: { max_retries: 5 },
  max_concurrency: 2,
  schedule_config: { timezone: "UTC", slots: [{ day_of_week: 0, start_time: "09:00", end_time: "17:00" }] },
  circuit_breaker: { enabled: true, window_seconds: 60 }
}

t.test("given an installation that serves the existing product's web interface", async (t: Test) => {
  const api = await openApi(t, Layer.succeed(Compatibility, "dograh"))
  const { id, told } = await toldStates(t, api)
  t.strictSame(told, expected("created"), "then a draft is `created`, wherever it is shown")

  t.match(await started(api, id), { status: 200, json: { state: "running" } })
  t.match((await api.ask("POST", `/campaign/${id}/start`)).json, {
    detail: "Campaign must be in 'created' or 'paused' state to start, current state: running"
  })

  await t.test("when a running campaign is changed, then the change applies at once, and its log says so", async (t) => {
    const answer = await api.ask("PATCH", `/campaign/${id}`, changes)
    t.match(answer, { status: 200, json: { state: "running", ...changes } })
    const { logs } = answer.json as { logs: ReadonlyArray<object> } // This is an answer of ours.
    t.match(logs.at(-1), { event: "settings_updated", details: { changed: Object.keys(changes) } })
  })

  await t.test("when its rate is changed, by which calls are already reserved, then 409", async (t) => {
    t.match(await api.ask("PATCH", `/campaign/${id}`, { rate_limit: 5 }), { status: 409 })
    t.match((await api.ask("GET", `/campaign/${id}`)).json, { rate_limit: 1, name: "New" })
  })

  await t.test("when it is not confirmed that nothing leaves under the old settings, then 503, and the change stays", async (t) => {
    api.health.isStopHeard = false
    t.match(await api.ask("PATCH", `/campaign/${id}`, { name: "Newer" }), { status: 503, headers: { "retry-after": "2" } })
    api.health.isStopHeard = true
    t.match(await api.ask("PATCH", `/campaign/${id}`, { name: "Newer" }), { status: 200, json: { name: "Newer" } })
  })

  await t.test("when it is over, then it can no longer be changed", async (t) => {
    await api.sql`UPDATE campaigns SET state = 'completed' WHERE id = ${id}`
    t.match(await api.ask("PATCH", `/campaign/${id}`, { name: "x" }), {
      status: 409,
      json: { detail: "Cannot update a completed campaign" }
    })
  })
})

t.test("given an installation without it", async (t: Test) => {
  const api = await openApi(t)
  const { id, told } = await toldStates(t, api)
  t.strictSame(told, expected("draft"), "then a draft is `draft`, whatever the filter says")
  t.match(await started(api, id), { status: 200, json: { state: "running" } })
  t.match(await api.ask("PATCH", `/campaign/${id}`, { name: "x" }), { status: 409, json: { detail: "Cannot update a running campaign" } })
})
