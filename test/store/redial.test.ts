/** Campaigns for the contacts that another campaign did not reach. */
import { Effect } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import * as optOuts from "#core/contact/OptOutStore.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import type { NewRedial } from "#core/campaign/Redial.ts"
import { type CampaignId, TelephonyConfigId } from "#core/Id.ts"
import {
  column,
  contacts,
  eventsOf,
  install,
  makeAgent,
  makeCampaign,
  makeConfig,
  ours,
  people,
  setDialed,
  tag,
  theirs,
  upload
} from "./services.ts"

const { run, sql, test } = await install(t)
const [campaigns, agents] = await run(Effect.all([Campaigns, Agents]))
const config = await run(makeConfig("main", true))
const all: NewRedial = { name: undefined, reasons: ["voicemail", "no_answer", "busy"], retry: undefined }

const said = { source: "api", runId: undefined } as const

/** Makes the last call of each contact end with these outcomes, in the order of the list. */
const complete = Effect.fnUntraced(function* (id: CampaignId, outcomes: ReadonlyArray<Outcome>) {
  const states = outcomes.map((outcome, index) => ({ row: index + 2, state: outcome === "answered" ? "completed" : "failed" }))
  yield* setDialed(id, states)
  for (const [index, outcome] of outcomes.entries()) {
    yield* sql`UPDATE contacts SET last_outcome = ${outcome}, retries_used = 1 WHERE campaign_id = ${id} AND row_no = ${index + 2}`
  }
  yield* sql`UPDATE campaigns SET state = 'completed', completed_at = now() WHERE id = ${id}`
})

const completed = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>, settings: Parameters<typeof makeCampaign>[0] = {}) {
  const { id } = yield* makeCampaign(settings, outcomes.length)
  yield* complete(id, outcomes)
  return id
})

t.test("given a completed campaign", async (t) => {
  test(t, "when it is redialed, then a draft has the contacts that were not reached, as in the list", function* (t) {
    const id = yield* completed(["answered", "busy", "no_answer", "voicemail", "failed", "unknown"], {
      maxConcurrency: 3,
      retry: { maxRetries: 4 },
      breaker: { windowSeconds: 60 }
    })
    const child = yield* campaigns.redial(ours, id, all)
    const parent = yield* campaigns.get(ours, id)
    const copied = yield* contacts(child.id)
    t.match(child, {
      name: "Spring (Redial)",
      state: "draft",
      parentCampaignId: parent.id,
      redialedCampaignId: undefined,
      agentId: parent.agentId,
      telephonyConfigurationId: TelephonyConfigId.make(config.id),
      sourceId: parent.sourceId,
      maxConcurrency: 3,
      retry: { maxRetries: 4 },
      breaker: { windowSeconds: 60 },
      sourceSync: { status: "completed", rowsInFile: 3, accepted: 3, skipped: 0, warnings: [] },
      counters: { totalRows: 3, processedRows: 0, failedRows: 0, executedCount: 0, retriesQueued: 0 }
    })
    t.equal(parent.redialedCampaignId, child.id)
    const rows = copied.map(({ rowNo, state }) => [rowNo, state])
    t.strictSame(rows, [
      [3, "pending"],
      [4, "pending"],
      [5, "pending"]
    ])
    t.strictSame(copied[0]?.context, { phone_number: "+14155550001", First_Name: "Name 1", first_name: "Name 1", city: "Town" })
    t.strictSame(
      [yield* eventsOf(id), yield* eventsOf(child.id)],
      [
        ["campaign_created", "source_sync_completed", "redial_created"],
        ["campaign_created", "source_sync_completed"]
      ]
    )
    t.strictSame(parent.logs.at(-1)?.details, { campaign_id: child.id, contacts: 3 })
  })

  test(t, "when some of the contacts have opted out since, then the draft is without them, and the log says so", function* (t) {
    const id = yield* completed(["busy", "busy", "busy", "busy"])
    const numbers = column(yield* contacts(id), "phoneNumber")
    yield* optOuts.add(sql, ours, numbers.slice(0, 2), said)
    yield* optOuts.add(sql, theirs, numbers.slice(2, 3), said)
    const child = yield* campaigns.redial(ours, id, all)
    t.strictSame(column(yield* contacts(child.id), "phoneNumber"), numbers.slice(2))
    t.equal(child.counters.totalRows, 2)
    t.strictSame((yield* campaigns.get(ours, id)).logs.at(-1)?.details, { campaign_id: child.id, contacts: 2, opted_out: 2 })
    yield* sql`UPDATE contacts SET state = 'failed', last_outcome = 'busy' WHERE campaign_id = ${child.id}`
    yield* sql`UPDATE campaigns SET state = 'completed' WHERE id = ${child.id}`
    yield* optOuts.add(sql, ours, numbers, said)
    t.match(yield* Effect.flip(campaigns.redial(ours, child.id, all)), { _tag: "RedialRefused", reason: "all_opted_out" })
    t.equal((yield* campaigns.get(ours, child.id)).redialedCampaignId, undefined, "then it can still be redialed")
    yield* sql`DELETE FROM opt_outs`
  })

  test(t, "when some reasons, a name and other retries are chosen, then these apply", function* (t) {
    const id = yield* completed(["busy", "no_answer", "voicemail"])
    const retry = {
      enabled: false,
      maxRetries: 0,
      retryDelaySeconds: 30,
      retryOnBusy: true,
      retryOnNoAnswer: true,
      retryOnVoicemail: true
    }
    const child = yield* campaigns.redial(ours, id, { name: "Again", reasons: ["voicemail"], retry })
    t.match(child, { name: "Again", retry: { enabled: false, maxRetries: 0, retryDelaySeconds: 30 } })
    t.strictSame(column(yield* contacts(child.id), "rowNo"), [4])
  })

  test(t, "when its name has the maximum length, then the new name is not longer", function* (t) {
    const id = yield* completed(["busy"], { name: "x".repeat(255) })
    const name = (yield* Campaigns.use((_) => _.redial(ours, id, all))).name
    t.equal(name.length, 255)
  })

  test(t, "when it is redialed twice at the same time, then one wins", function* (t) {
    const id = yield* completed(["busy"])
    const redials = [campaigns.redial(ours, id, all), campaigns.redial(ours, id, all)].map(tag)
    t.strictSame((yield* Effect.all(redials, { concurrency: 2 })).toSorted(), ["RedialRefused", "none"])
    t.equal((yield* sql`SELECT id FROM campaigns WHERE parent_campaign_id = ${id}`).length, 1)
  })

  test(t, "when the new one is completed, then it can be redialed in turn", function* (t) {
    const child = yield* campaigns.redial(ours, yield* completed(["busy", "busy"]), all)
    yield* sql`UPDATE contacts SET state = 'failed', last_outcome = 'no_answer' WHERE campaign_id = ${child.id}`
    yield* sql`UPDATE campaigns SET state = 'completed' WHERE id = ${child.id}`
    const grandchild = yield* campaigns.redial(ours, child.id, all)
    t.equal(grandchild.name, "Spring (Redial) (Redial)")
    t.equal(grandchild.counters.totalRows, 2)
  })

  test(t, "when the new one is started, then only variables that its own contacts lack keep it from running", function* (t) {
    const rows = "phone_number,first_name,city\n+14155550201,A,Town\n+14155550202,B,\n"
    const agent = yield* makeAgent()
    const startAfter = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>) {
      const { id } = yield* makeCampaign({ agentId: agent.id, sourceId: yield* upload(rows) })
      yield* complete(id, outcomes)
      const child = yield* campaigns.redial(ours, id, all)
      const { definition } = yield* makeAgent("You call from {{city}}.")
      yield* agents.update(ours, agent.id, { definition })
      const result = yield* tag(campaigns.start(ours, child.id))
      yield* agents.update(ours, agent.id, { definition: agent.definition })
      return result
    })
    t.strictSame([yield* startAfter(["busy", "answered"]), yield* startAfter(["answered", "busy"])], ["none", "CampaignNotReady"])
  })
})

test(t, "given a campaign that cannot be redialed, when that is requested, then nothing is created", function* (t) {
  const draft = yield* makeCampaign()
  const reached = yield* completed(["answered", "failed"])
  const foreign = yield* completed(["busy"])
  const agent = yield* makeAgent()
  const archived = yield* completed(["busy"], { agentId: agent.id })
  yield* agents.setStatus(ours, agent.id, "archived")
  const before = yield* sql`SELECT id FROM campaigns`
  const tags = [
    yield* tag(campaigns.redial(ours, draft.id, all)),
    yield* tag(campaigns.redial(ours, reached, all)),
    yield* tag(campaigns.redial(theirs, foreign, all)),
    yield* tag(campaigns.redial(ours, archived, all))
  ]
  t.strictSame(tags, ["CampaignStateConflict", "RedialRefused", "CampaignNotFound", "AgentArchived"])
  t.equal((yield* sql`SELECT id FROM campaigns`).length - before.length, 0)
})

test(t, "given a hundred thousand contacts, when they are redialed, then each is there once", function* (t) {
  const { id } = yield* makeCampaign({ sourceId: yield* upload(people(100_000)) })
  yield* sql`UPDATE contacts SET state = 'failed', last_outcome = 'busy' WHERE campaign_id = ${id}`
  yield* sql`UPDATE campaigns SET state = 'completed' WHERE id = ${id}`
  const child = yield* campaigns.redial(ours, id, all)
  const [first] = yield* sql<{ readonly contacts: number }>`
        SELECT count(DISTINCT phone_number)::int AS contacts FROM contacts WHERE campaign_id = ${child.id}`
  t.equal(child.counters.totalRows, 100_000)
  t.equal(first?.contacts, 100_000)
})
