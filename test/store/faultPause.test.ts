/** A campaign that was paused because its owner kept failing: when the engine may resume it, and what its log says. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { type AutomaticStop, CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { type FaultPause, FaultPauses } from "#core/campaign/FaultPause.ts"
import type { CampaignId } from "#core/Id.ts"
import { eventsOf, install, makeAgent, makeCampaign, makeConfig, ours, setDialed } from "./services.ts"

const { run } = await install(t)
await run(makeConfig("main", true))

const broke: AutomaticStop = { event: "campaign_paused", level: "error", message: "Paused: it failed." }
const engine = Layer.merge(FaultPauses.layer, CampaignOwnership.layer)
const running = Effect.fnUntraced(function* (contacts = 3) {
  const { agentId, id } = yield* makeCampaign({}, contacts)
  yield* Campaigns.use((_) => _.start(ours, id))
  return { agentId, id }
})
const stateOf = (id: CampaignId) =>
  Effect.map(
    Campaigns.use((_) => _.get(ours, id)),
    ({ state }) => state
  )
/** The entries in the log since the campaign was started. */
const said = (id: CampaignId) => Effect.map(eventsOf(id), (events) => events.slice(3))
const missing: FaultPause = { dialEpoch: 0, tries: -1 }

t.test("given an owner that fails, then only too many failures pause its campaign, with one entry", async (t) => {
  const { events, first, once, repeated } = await run(
    Effect.gen(function* () {
      const faults = yield* FaultPauses
      const { id } = yield* running()
      yield* faults.failed(id, false, broke)
      const once = yield* stateOf(id)
      yield* faults.failed(id, true, broke)
      const first = yield* faults.find(id)
      yield* faults.failed(id, true, broke)
      return { events: yield* said(id), first, once, repeated: yield* faults.find(id) }
    }).pipe(Effect.provide(engine))
  )
  t.equal(once, "running")
  t.match(first, { tries: 0 })
  t.strictSame(repeated, first)
  t.strictSame(events, ["campaign_paused"])
})

t.test("given such a pause, when it is tried again", async (t) => {
  t.test("then another failure pauses it at once, without a log entry", async (t) => {
    const { events, first, pause, tried } = await run(
      Effect.gen(function* () {
        const faults = yield* FaultPauses
        const { id } = yield* running()
        yield* faults.failed(id, true, broke)
        const first = (yield* faults.find(id)) ?? missing
        const tried = [yield* faults.tryAgain(id, first), yield* faults.tryAgain(id, first)]
        yield* faults.failed(id, false, broke)
        return { events: yield* said(id), first, pause: yield* faults.find(id), tried }
      }).pipe(Effect.provide(engine))
    )
    t.strictSame(tried, [true, false], "then only once for each pause")
    t.strictSame(pause, { dialEpoch: first.dialEpoch + 2, tries: 1 })
    t.strictSame(events, ["campaign_paused"])
  })
  t.test("and it runs well, then the log says so once, and it takes many failures to pause it again", async (t) => {
    const { events, logs, state } = await run(
      Effect.gen(function* () {
        const faults = yield* FaultPauses
        const { id } = yield* running()
        yield* faults.failed(id, true, broke)
        yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
        yield* faults.proved(id)
        yield* faults.proved(id)
        yield* faults.failed(id, false, broke)
        const { logs, state } = yield* Campaigns.use((_) => _.get(ours, id))
        return { events: yield* said(id), logs, state }
      }).pipe(Effect.provide(engine))
    )
    t.strictSame(events, ["campaign_paused", "campaign_resumed"])
    t.match(logs.at(-1), { details: { by: "engine" } })
    t.equal(state, "running")
  })
  t.test("and no contact is left, then it completes", async (t) => {
    const { events, runs, state } = await run(
      Effect.gen(function* () {
        const faults = yield* FaultPauses
        const { id } = yield* running(1)
        yield* faults.failed(id, true, broke)
        yield* setDialed(id, [{ row: 2, state: "completed" }])
        const runs = yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
        return { events: yield* said(id), runs, state: yield* stateOf(id) }
      }).pipe(Effect.provide(engine))
    )
    t.equal(runs, false)
    t.equal(state, "completed")
    t.strictSame(events, ["campaign_paused", "campaign_completed"])
  })
  t.test("and it stops for another reason, then the pause has that reason", async (t) => {
    const { events, pause } = await run(
      Effect.gen(function* () {
        const faults = yield* FaultPauses
        const { id } = yield* running()
        yield* faults.failed(id, true, broke)
        yield* faults.tryAgain(id, (yield* faults.find(id)) ?? missing)
        yield* (yield* CampaignOwnership).stop(id, { event: "quota_exhausted", level: "warning", message: "Paused." })
        return { events: yield* said(id), pause: yield* faults.find(id) }
      }).pipe(Effect.provide(engine))
    )
    t.equal(pause, undefined)
    t.strictSame(events, ["campaign_paused", "quota_exhausted"])
  })
})

t.test("given such a pause, when a person acts before it is tried again, then the engine does not resume it", async (t) => {
  const campaigns = <A, E>(use: (campaigns: Campaigns["Service"]) => Effect.Effect<A, E>) => Effect.orDie(Campaigns.use(use))
  const check = async (
    name: string,
    act: (id: CampaignId, agentId: number) => Effect.Effect<unknown, never, Agents | Campaigns | SqlClient.SqlClient>,
    events: ReadonlyArray<string>,
    state = "paused"
  ) => {
    const after = await run(
      Effect.gen(function* () {
        const faults = yield* FaultPauses
        const { agentId, id } = yield* running()
        yield* faults.failed(id, true, broke)
        const pause = (yield* faults.find(id)) ?? missing
        yield* act(id, agentId)
        const { dialEpoch } = { ...pause, ...(yield* faults.find(id)) }
        const tried = [yield* faults.tryAgain(id, pause), yield* faults.tryAgain(id, { ...pause, dialEpoch })]
        return { events: yield* said(id), pause: yield* faults.find(id), state: yield* stateOf(id), tried }
      }).pipe(Effect.provide(engine))
    )
    t.strictSame(after, { events: ["campaign_paused", ...events], pause: undefined, state, tried: [false, false] }, name)
  }
  await check("pauses it", (id) => campaigns((_) => _.pause(ours, id)), ["campaign_paused"])
  await check("changes it", (id) => campaigns((_) => _.update(ours, id, { name: "Autumn" })), ["settings_updated"])
  await check("resumes it", (id) => campaigns((_) => _.resume(ours, id)), ["campaign_resumed"], "running")
  await check(
    "marks contacts",
    (id) =>
      Effect.orDie(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* setDialed(id, [{ row: 2, state: "failed" }])
          yield* sql`UPDATE contacts SET last_outcome = 'unknown' WHERE campaign_id = ${id} AND row_no = 2`
          yield* Campaigns.use((_) => _.markContacts(ours, id, { reached: false, rowNumbers: [2] }))
        })
      ),
    ["contacts_marked"]
  )
  const agent = await run(makeAgent())
  await check(
    "archives its agent",
    (id) =>
      Effect.orDie(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE campaigns SET agent_id = ${agent.id} WHERE id = ${id}`
          yield* Agents.use((_) => _.setStatus(ours, agent.id, "archived"))
        })
      ),
    ["agent_archived"]
  )
})

t.test("of a try and a pause at the same time, the pause always wins", async (t) => {
  const states = await run(
    Effect.forEach(
      Array.from({ length: 20 }, (_, i) => i),
      Effect.fnUntraced(function* () {
        const faults = yield* FaultPauses
        const { id } = yield* running()
        yield* faults.failed(id, true, broke)
        const pause = (yield* faults.find(id)) ?? missing
        yield* Effect.all([faults.tryAgain(id, pause), Campaigns.use((_) => _.pause(ours, id))], { concurrency: 2 })
        yield* faults.tryAgain(id, (yield* faults.find(id)) ?? pause)
        return yield* stateOf(id)
      })
    ).pipe(Effect.provide(engine))
  )
  t.ok(
    states.every((state) => state === "paused"),
    `${states}`
  )
})
