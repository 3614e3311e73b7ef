/** Starting, pausing and resuming campaigns: which states allow it, which of several requests wins, what is logged and who is signalled. */
import { Effect, Layer } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import * as Stops from "#core/campaign/stops.ts"
import { conversationSlow } from "#core/conversation/SlowStages.ts"
import type { AgentId } from "#core/Id.ts"
import { Deafness } from "#core/model/Deafness.ts"
import { Signals, StopUnconfirmed } from "#core/Signals.ts"
import {
  column,
  contacts,
  definition,
  eventsOf,
  setDialed,
  started,
  tag,
  install,
  makeAgent,
  makeCampaign,
  makeConfig,
  ours,
  upload
} from "./services.ts"

const { heard, run, sql, test } = await install(t)
const [campaigns, agents] = await run(Effect.all([Campaigns, Agents]))
await run(makeConfig("main"))

test(t, "given a draft, when it is started, paused and resumed, then each is logged and signalled", function* (t) {
  heard.length = 0
  const first = yield* started()
  yield* campaigns.pause(ours, first.id)
  const last = yield* campaigns.start(ours, first.id)
  const id = first.id
  t.equal(first.state, "running")
  t.strictSame(last.startedAt, first.startedAt)
  t.strictSame((yield* eventsOf(first.id)).slice(2), ["campaign_started", "campaign_paused", "campaign_resumed"])
  t.strictSame(last.logs.find(({ event }) => event === "campaign_paused")?.details, { by: "user" })
  t.strictSame(heard, [`running ${id} 1`, `stopped ${id}`, `running ${id} 3`])
  const [row] = yield* sql`SELECT dial_epoch, breaker_epoch FROM campaigns WHERE id = ${id}`
  t.strictSame(row, { dialEpoch: 3, breakerEpoch: 2 })
})

test(t, "given a campaign's log, when a new owner asks, then it learns the last word about each thing, the newest first", function* (t) {
  const { id } = yield* started()
  const ownership = yield* Effect.provide(CampaignOwnership, CampaignOwnership.layer)
  const endpoint = (name: string) => Stops.endpointTrouble(name, "HTTP 503")
  const notes = [
    Stops.windowClosed(Date.UTC(2027, 0, 1)),
    Stops.waitingForMedia(4),
    Stops.windowClosed(Date.UTC(2027, 0, 2)),
    ...["a", "b", "a"].map(endpoint),
    Stops.waitingForMedia(5),
    Stops.waitingForDoubts(2),
    Stops.waitingForCapacity,
    Stops.queuedCallsWithdrawn(1)
  ]
  yield* Effect.forEach(notes, (note) => ownership.log(id, note))
  const words = yield* ownership.lastWords(id)
  const said = words.map(({ details, event }) => [event, details])
  t.match(said, [
    ["waiting_for_capacity", null],
    ["waiting_for_capacity", { calls_in_doubt: 2 }],
    ["waiting_for_capacity", { calls_with_audio: 5 }],
    ["telephony_suspect", { endpoint: "a" }],
    ["telephony_suspect", { endpoint: "b" }],
    ["schedule_window_closed", { next_open_at: "2027-01-02T00:00:00.000Z" }]
  ])
  t.ok(words.every(({ at }) => Math.abs(at - Date.now()) < 600_000))
})

test(t, "given an engine that starts again and again, when it refuses a carrier's requests, then the log has it once a day", function* (t) {
  const { id } = yield* started()
  const { log } = yield* Effect.provide(CampaignOwnership, CampaignOwnership.layer)
  yield* Effect.forEach(["callback", "callback", "media", "callback"] as const, (what) => log(id, Stops.carrierRefused(what)))
  const said = (yield* eventsOf(id)).filter((event) => event === "carrier_request_refused").length
  yield* sql`UPDATE campaign_log SET ts = ts - interval '2 days' WHERE campaign_id = ${id}`
  yield* log(id, Stops.carrierRefused("media"))
  const later = (yield* eventsOf(id)).filter((event) => event === "carrier_request_refused").length
  t.strictSame([said, later], [2, 3])
})

test(t, "given several engines that find the same stage slow, then the log names it once in five minutes", function* (t) {
  const { id } = yield* started()
  const { log } = yield* Effect.provide(CampaignOwnership, CampaignOwnership.layer)
  const numbers = { slow: 3, of: 4, slow_from_seconds: 1, p50_seconds: 1.2, p95_seconds: 2.4, worst_seconds: 2.4 }
  const slow = (model: string, of = 4) => log(id, conversationSlow({ ...numbers, of, stage: "first_token", provider: "acme", model }))
  yield* Effect.all([slow("brain"), slow("brain", 5), slow("other")])
  const said = (yield* eventsOf(id)).filter((event) => event === "conversation_slow").length
  yield* sql`UPDATE campaign_log SET ts = ts - interval '5 minutes' WHERE campaign_id = ${id}`
  yield* slow("brain", 6)
  const later = (yield* eventsOf(id)).filter((event) => event === "conversation_slow").length
  t.strictSame([said, later], [2, 3])
})

test(t, "every other change of state is refused, names the state and changes nothing", function* (t) {
  const { id } = yield* makeCampaign()
  const verbs = {
    start: campaigns.start,
    resume: campaigns.resume,
    pause: campaigns.pause,
    update: () => campaigns.update(ours, id, { name: "x" })
  }
  const refused = {
    draft: ["resume", "pause"],
    running: ["start", "resume", "update"],
    paused: ["pause"],
    completed: ["start", "resume", "pause", "update"],
    failed: ["start", "resume", "pause", "update"]
  } as const
  for (const [state, actions] of Object.entries(refused)) {
    yield* sql`UPDATE campaigns SET state = ${state} WHERE id = ${id}`
    for (const action of actions) {
      const tried: Effect.Effect<unknown, Effect.Error<ReturnType<(typeof verbs)[typeof action]>>> = verbs[action](ours, id)
      t.match(yield* Effect.flip(tried), { _tag: "CampaignStateConflict", action, state })
    }
  }
  t.equal((yield* eventsOf(id)).length, 2)
})

test(t, "given a pause that was not confirmed, when it is repeated after a restart, then it is confirmed, once", function* (t) {
  const { id } = yield* started()
  const unheard: Signals["Service"] = {
    ...(yield* Signals),
    campaignStopped: () => Effect.fail(new StopUnconfirmed({ retryAfterSeconds: 2 }))
  }
  /** The services of a new process. */
  const anew = <A, E extends { readonly _tag: string }>(
    use: (campaigns: Campaigns["Service"]) => Effect.Effect<A, E>,
    signals: Signals["Service"]
  ) => tag(Campaigns.use(use).pipe(Effect.provide(Layer.fresh(Campaigns.layer)), Effect.provideService(Signals, signals)))
  const pause = (campaigns: Campaigns["Service"]) => campaigns.pause(ours, id)
  const heard = yield* Signals
  const answers = [
    yield* anew(pause, unheard),
    yield* anew(pause, unheard),
    yield* anew(pause, heard),
    yield* anew(pause, heard),
    yield* anew((campaigns) => campaigns.resume(ours, id), heard),
    yield* anew(pause, unheard),
    yield* anew((campaigns) => campaigns.resume(ours, id), heard),
    yield* anew(pause, heard),
    yield* anew(pause, heard)
  ]
  t.strictSame(answers, [
    "StopUnconfirmed",
    "StopUnconfirmed",
    "none",
    "CampaignStateConflict",
    "none",
    "StopUnconfirmed",
    "none",
    "none",
    "CampaignStateConflict"
  ])
})

test(t, "of many simultaneous starts, exactly one wins", function* (t) {
  const { id } = yield* makeCampaign()
  const tags = yield* Effect.all(
    Array.from({ length: 8 }, () => tag(campaigns.start(ours, id))),
    { concurrency: 8 }
  )
  const outcomes = { tags: tags.sort(), events: yield* eventsOf(id) }
  t.strictSame(outcomes.tags, [...Array.from({ length: 7 }, () => "CampaignStateConflict"), "none"])
  t.strictSame(outcomes.events.slice(2), ["campaign_started"])
})

test(t, "simultaneous pauses and resumes: each applies to the state that the previous one left, so the log alternates", function* (t) {
  const { id } = yield* started()
  const tags = yield* Effect.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? tag(campaigns.pause(ours, id)) : tag(campaigns.resume(ours, id)))),
    { concurrency: 12 }
  )
  const wins = tags.filter((tag) => tag === "none").length
  const events = (yield* eventsOf(id)).slice(2)
  t.strictSame(
    events,
    Array.from(events, (_, i) => (i === 0 ? "campaign_started" : i % 2 === 1 ? "campaign_paused" : "campaign_resumed"))
  )
  t.equal(events.length, wins + 1)
})

test(
  t,
  "given an agent that asks questions and cannot hear, when its campaign starts, then the log says so before the first dial",
  function* (t) {
    const reason = "the model could not be fetched"
    const startedBy = (agentId: AgentId, why: string | undefined) =>
      Effect.gen(function* () {
        const { id } = yield* makeCampaign({ agentId })
        const { logs } = yield* Campaigns.use((anew) => anew.start(ours, id)).pipe(
          Effect.provide(Layer.fresh(Campaigns.layer)),
          Effect.provideService(Deafness, () => Effect.succeed(why))
        )
        return logs
      })
    const asking = yield* makeAgent()
    const told = yield* startedBy(asking.id, reason)
    t.match(told.at(-1), { event: "agent_cannot_hear", level: "warning", message: /cannot hear/, details: { reason } })
    const { nodes, ...rest } = definition()
    const silent = yield* agents.create(ours, { name: "Bob", definition: { ...rest, nodes: nodes.slice(0, 1), edges: [] } })
    const cases = [yield* startedBy(asking.id, undefined), yield* startedBy(silent.id, reason)]
    t.notOk(
      cases.flat().some(({ event }) => event === "agent_cannot_hear"),
      "but not of one that hears, or that asks nothing"
    )
  }
)

test(t, "given an agent being archived while its campaign starts, then the campaign never keeps running", function* (t) {
  const states = yield* Effect.forEach(Array.from({ length: 10 }), () =>
    Effect.gen(function* () {
      const agent = yield* makeAgent()
      const { id } = yield* makeCampaign({ agentId: agent.id })
      yield* Effect.all([tag(campaigns.start(ours, id)), agents.setStatus(ours, agent.id, "archived")], { concurrency: 2 })
      return (yield* campaigns.get(ours, id)).state
    })
  )
  t.notOk(states.includes("running"))
})

test(t, "when an agent is archived, its running campaigns are paused, logged and signalled", function* (t) {
  heard.length = 0
  const { agentId, id } = yield* started()
  yield* agents.setStatus(ours, agentId, "archived")
  const campaign = yield* campaigns.get(ours, id)
  t.equal(campaign.state, "paused")
  t.match(campaign.logs.at(-1), { event: "agent_archived", level: "warning" })
  t.equal(heard.at(-1), `stopped ${campaign.id}`)
  t.equal(yield* tag(campaigns.resume(ours, id)), "AgentArchived")
})

test(t, "when a later version needs variables that the contacts lack, then start is refused and the draft stays", function* (t) {
  const agent = yield* makeAgent()
  const sourceId = yield* upload("phone_number,first_name,city\n+14155550100,A,\n+14155550101,B,Rome\n")
  const { id } = yield* makeCampaign({ agentId: agent.id, sourceId })
  yield* agents.update(ours, agent.id, { definition: definition("Talk about {{zip}} and {{age}}.") })
  const missing = yield* Effect.flip(campaigns.start(ours, id))
  yield* agents.update(ours, agent.id, { definition: definition("Talk about {{city}}.") })
  const empty = yield* Effect.flip(campaigns.start(ours, id))
  yield* agents.update(ours, agent.id, { definition: definition("Talk about {{city | your town}}.") })
  t.match(missing, { _tag: "CampaignNotReady", reason: /missing from the source data: 'age', 'zip'\. Add the missing columns/ })
  t.match(empty, { _tag: "CampaignNotReady", reason: /empty in some rows: 'city'/ })
  t.equal((yield* campaigns.start(ours, id)).state, "running")
})

test(t, "when everything is done, then a start or resume completes at once and nobody dials", function* (t) {
  heard.length = 0
  const { id } = yield* started()
  yield* campaigns.pause(ours, id)
  yield* setDialed(id, [
    { row: 2, state: "completed" },
    { row: 3, state: "failed" },
    { row: 4, state: "completed" }
  ])
  const completed = yield* campaigns.resume(ours, id)
  t.equal(completed.state, "completed")
  t.type(completed.completedAt, Date)
  t.strictSame((yield* eventsOf(id)).slice(-2), ["campaign_resumed", "campaign_completed"])
  t.strictSame(completed.logs.at(-1)?.details, { total: 3, completed: 2, failed: 1, cancelled: 0, attempts: 3 })
  t.equal(heard.filter((line) => line.startsWith(`running ${completed.id}`)).length, 1, "the first start only")
})

test(t, "when the settings allow fewer retries, then waiting ones are judged again on resume, and the counters agree", function* (t) {
  const { id } = yield* started(5)
  yield* campaigns.pause(ours, id)
  yield* setDialed(id, [
    { row: 2, state: "retry_wait", retries: 2, reason: "busy" },
    { row: 3, state: "retry_wait", retries: 1, reason: "busy" },
    { row: 4, state: "retry_wait", retries: 1, reason: "no_answer" },
    { row: 5, state: "completed" }
  ])
  yield* campaigns.update(ours, id, { retry: { maxRetries: 1, retryOnNoAnswer: false } })
  const after = yield* campaigns.resume(ours, id)
  const [sum] = yield* sql<{ retries: number }>`SELECT sum(retries_used)::int AS retries FROM contacts WHERE campaign_id = ${id}`
  t.strictSame(column(yield* contacts(id), "state"), ["failed", "retry_wait", "failed", "completed", "pending"])
  t.match(after.counters, { completedRows: 1, failedRows: 2, processedRows: 4, retriesQueued: 2 })
  t.equal(sum?.retries, after.counters.retriesQueued)
  t.equal(after.state, "running")
})

test(t, "when the settings leave no waiting retry, then the campaign completes on resume", function* (t) {
  const { id } = yield* started(2)
  yield* campaigns.pause(ours, id)
  yield* setDialed(id, [
    { row: 2, state: "retry_wait", retries: 1, reason: "voicemail" },
    { row: 3, state: "retry_wait", retries: 1, reason: "busy" }
  ])
  yield* campaigns.update(ours, id, { retry: { enabled: false } })
  const after = yield* campaigns.resume(ours, id)
  t.match(after, { state: "completed", counters: { failedRows: 2, retriesQueued: 0 } })
  t.match(after.logs.at(-1), { event: "campaign_completed", details: { failed: 2, completed: 0, total: 2 } })
})

test(t, "without a default a campaign is created without a configuration, and one is found at its start", function* (t) {
  yield* makeConfig("second")
  const campaign = yield* makeCampaign()
  const none = yield* Effect.flip(campaigns.start(ours, campaign.id))
  yield* sql`INSERT INTO telephony_configurations (organization_id, name, provider, credentials) VALUES (1, 'gone', 'nosuch', '{}')`
  yield* sql`UPDATE telephony_configurations SET is_default_outbound = true WHERE name = 'gone'`
  const unknown = yield* Effect.flip(campaigns.start(ours, campaign.id))
  const chosen = yield* makeConfig("third", true)
  t.equal(campaign.telephonyConfigurationId, undefined)
  t.match(none, { _tag: "CampaignNotReady", reason: /No telephony configuration/ })
  t.match(unknown, { _tag: "TelephonyNotReady", reason: /'nosuch' is not installed/ })
  t.ok((yield* campaigns.start(ours, campaign.id)).telephonyConfigurationId === chosen.id)
})

test(t, "given an organization's limit and reserve, when its campaign gets an owner, then campaigns may use the difference", function* (t) {
  const ownership = yield* Effect.provide(CampaignOwnership, CampaignOwnership.layer)
  const { id } = yield* started()
  const shareOf = Effect.fnUntraced(function* (limit: number, reserve: number) {
    yield* sql`UPDATE organizations SET concurrency_limit = ${limit}, concurrency_reserve = ${reserve} WHERE id = ${ours}`
    return (yield* ownership.own(id))?.organizationShare
  })
  t.strictSame([yield* shareOf(5, 5), yield* shareOf(11, 1)], [0, 10])
})
