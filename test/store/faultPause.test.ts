/** A campaign that was paused because its owner kept failing: when the engine may resume it, and what its log says. */
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { type AutomaticStop, CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { type FaultPause, FaultPauses } from "#core/campaign/FaultPause.ts"
import type { CampaignId } from "#core/Id.ts"
import { eventsOf, install, makeAgent, makeCampaign, makeConfig, ours, setDialed } from "./services.ts"

const { run, sql, test } = await install(t)
await run(makeConfig("main", true))
const campaigns = await run(Campaigns)
const [faults, ownership] = await run(
  Effect.provide(Effect.all([FaultPauses, CampaignOwnership]), Layer.merge(FaultPauses.layer, CampaignOwnership.layer))
)

const broke: AutomaticStop = { event: "campaign_paused", level: "error", message: "Paused: it failed." }
const running = Effect.fnUntraced(function* (contacts = 3) {
  const { agentId, id } = yield* makeCampaign({}, contacts)
  yield* campaigns.start(ours, id)
  return { agentId, id }
})
const stateOf = (id: CampaignId) => Effect.map(campaigns.get(ours, id), ({ state }) => state)
/** The entries in the log since the campaign was started. */
const said = (id: CampaignId) => Effect.map(eventsOf(id), (events) => events.slice(3))
const missing: FaultPause = { dialEpoch: 0, tries: -1 }

test(t, "given an owner that fails, then only too many failures pause its campaign, with one entry", function* (t) {
  const { id } = yield* running()
  yield* faults.failed(id, false, broke)
  const once = yield* stateOf(id)
  yield* faults.failed(id, true, broke)
  const first = yield* faults.find(id)
  yield* faults.failed(id, true, broke)
  const events = yield* said(id)
  t.equal(once, "running")
  t.match(first, { tries: 0 })
  t.strictSame(yield* faults.find(id), first)
  t.strictSame(events, ["campaign_paused"])
})

t.test("given such a pause, when it is tried again", async (t) => {
  test(t, "then another failure pauses it at once, without a log entry", function* (t) {
    const { id } = yield* running()
    yield* faults.failed(id, true, broke)
    const first = (yield* faults.find(id)) ?? missing
    const tried = [yield* faults.tryAgain(id, first), yield* faults.tryAgain(id, first)]
    yield* faults.failed(id, false, broke)
    const events = yield* said(id)
    t.strictSame(tried, [true, false], "then only once for each pause")
    t.strictSame(yield* faults.find(id), { dialEpoch: first.dialEpoch + 2, tries: 1 })
    t.strictSame(events, ["campaign_paused"])
  })
  test(t, "and it runs well, then the log says so once, and it takes many failures to pause it again", function* (t) {
    const { id } = yield* running()
    yield* faults.failed(id, true, broke)
    yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
    yield* faults.proved(id)
    yield* faults.proved(id)
    yield* faults.failed(id, false, broke)
    const { logs, state } = yield* campaigns.get(ours, id)
    t.strictSame(yield* said(id), ["campaign_paused", "campaign_resumed"])
    t.match(logs.at(-1), { details: { by: "engine" } })
    t.equal(state, "running")
  })
  test(t, "and no contact is left, then it completes", function* (t) {
    const { id } = yield* running(1)
    yield* faults.failed(id, true, broke)
    yield* setDialed(id, [{ row: 2, state: "completed" }])
    const runs = yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
    const events = yield* said(id)
    t.equal(runs, false)
    t.equal(yield* stateOf(id), "completed")
    t.strictSame(events, ["campaign_paused", "campaign_completed"])
  })
  test(t, "and it stops for another reason, then the pause has that reason", function* (t) {
    const { id } = yield* running()
    yield* faults.failed(id, true, broke)
    yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
    yield* ownership.stop(id, { event: "quota_exhausted", level: "warning", message: "Paused." })
    const events = yield* said(id)
    t.equal(yield* faults.find(id), undefined)
    t.strictSame(events, ["campaign_paused", "quota_exhausted"])
  })
})

t.test("given such a pause, when a person acts before it is tried again, then the engine does not resume it", async (t) => {
  const check = (
    title: string,
    act: (id: CampaignId) => Effect.Effect<unknown, unknown, Agents | SqlClient.SqlClient>,
    event: string,
    state = "paused"
  ) =>
    test(t, title, function* (t) {
      const { id } = yield* running()
      yield* faults.failed(id, true, broke)
      const pause = (yield* faults.find(id)) ?? missing
      yield* act(id)
      const { dialEpoch } = { ...pause, ...(yield* faults.find(id)) }
      const tried = [yield* faults.tryAgain(id, pause), yield* faults.tryAgain(id, { ...pause, dialEpoch })]
      const after = { events: yield* said(id), pause: yield* faults.find(id), state: yield* stateOf(id), tried }
      t.strictSame(after, { events: ["campaign_paused", event], pause: undefined, state, tried: [false, false] })
    })
  check("pauses it", (id) => campaigns.pause(ours, id), "campaign_paused")
  check("changes it", (id) => campaigns.update(ours, id, { name: "Autumn" }), "settings_updated")
  check("resumes it", (id) => campaigns.resume(ours, id), "campaign_resumed", "running")
  const mark = Effect.fnUntraced(function* (id: CampaignId) {
    yield* setDialed(id, [{ row: 2, state: "failed" }])
    yield* sql`UPDATE contacts SET last_outcome = 'unknown' WHERE campaign_id = ${id} AND row_no = 2`
    yield* campaigns.markContacts(ours, id, { reached: false, rowNumbers: [2] })
  })
  check("marks contacts", mark, "contacts_marked")
  const archive = Effect.fnUntraced(function* (id: CampaignId) {
    const agent = yield* makeAgent()
    yield* sql`UPDATE campaigns SET agent_id = ${agent.id} WHERE id = ${id}`
    yield* Agents.use((_) => _.setStatus(ours, agent.id, "archived"))
  })
  check("archives its agent", archive, "agent_archived")
})

test(t, "of a try and a pause at the same time, the pause always wins", function* (t) {
  const states = yield* Effect.forEach(
    Array.from({ length: 20 }, (_, i) => i),
    Effect.fnUntraced(function* () {
      const { id } = yield* running()
      yield* faults.failed(id, true, broke)
      const pause = (yield* faults.find(id)) ?? missing
      yield* Effect.all([faults.tryAgain(id, pause), campaigns.pause(ours, id)], { concurrency: 2 })
      yield* faults.tryAgain(id, (yield* faults.find(id)) ?? pause)
      return yield* stateOf(id)
    })
  )
  const arePaused = states.every((state) => state === "paused")
  t.ok(arePaused, `${states}`)
})
