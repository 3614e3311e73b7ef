/** Campaigns as they are created, changed and shown. */
import { Effect } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { fails, contacts, setDialed, started, tag, install, makeAgent, makeCampaign, makeConfig, ours, theirs, upload } from "./services.ts"

const { run, sql, test } = await install(t)
const [agents, campaigns] = await run(Effect.all([Agents, Campaigns]))
const config = await run(makeConfig("main"))

test(t, "given a valid list, when a campaign is created", function* (t) {
  const campaign = yield* makeCampaign()
  t.equal(campaign.state, "draft")
  t.equal(campaign.telephonyConfigurationId, config.id, "the only configuration is taken for good")
  t.equal(campaign.telephonyConfigurationName, "main")
  t.equal(campaign.agentName, "Ada")
  const entries = campaign.logs.map(({ event, level }) => `${event} ${level}`)
  t.strictSame(entries, ["campaign_created info", "source_sync_completed info"])
  t.match(campaign.logs[0]?.ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.strictSame((yield* contacts(campaign.id))[0], {
    rowNo: 2,
    phoneNumber: "+14155550000",
    context: { phone_number: "+14155550000", First_Name: "Name 0", first_name: "Name 0", city: "Town" },
    state: "pending"
  })
})

test(t, "everything that a campaign refers to must exist, belong to the organization, and be usable", function* (t) {
  const foreignAgent = yield* makeAgent(undefined, theirs)
  const foreignConfig = yield* makeConfig("foreign", false, theirs)
  const foreignList = yield* upload("phone_number,first_name\n+14155550100,A\n", theirs)
  const archived = yield* makeAgent()
  yield* agents.setStatus(ours, archived.id, "archived")
  yield* fails(t, [
    ["AgentNotFound", makeCampaign({ agentId: foreignAgent.id })],
    ["AgentArchived", makeCampaign({ agentId: archived.id })],
    ["SourceNotFound", makeCampaign({ sourceId: foreignList })],
    ["SourceNotFound", makeCampaign({ sourceId: "campaigns/1/../../etc/passwd" })],
    ["SourceNotFound", makeCampaign({ sourceId: "nul\0" })],
    ["TelephonyConfigNotFound", makeCampaign({ telephonyConfigurationId: foreignConfig.id })],
    ["TelephonyConfigNotFound", makeCampaign({ telephonyConfigurationId: TelephonyConfigId.make(999) })]
  ])
})

test(t, "other organizations' campaigns are not found by any operation", function* (t) {
  const { id } = yield* makeCampaign()
  const tags = yield* Effect.all([
    tag(campaigns.get(theirs, id)),
    tag(campaigns.progress(theirs, id)),
    tag(campaigns.start(theirs, id)),
    tag(campaigns.resume(theirs, id)),
    tag(campaigns.pause(theirs, id)),
    tag(campaigns.update(theirs, id, { name: "Stolen" })),
    tag(campaigns.get(ours, CampaignId.make(2_000_000_000)))
  ])
  t.strictSame(new Set(tags), new Set(["CampaignNotFound"]))
  t.strictSame(yield* Campaigns.use((campaigns) => campaigns.list(theirs)), [])
})

test(t, "an update changes the version of the settings, and one of nothing is not logged", function* (t) {
  const { id } = yield* makeCampaign()
  yield* campaigns.update(ours, id, { name: "Autumn" })
  const { logs } = yield* campaigns.update(ours, id, {})
  t.equal(logs.length, 3)
  t.strictSame(yield* sql`SELECT settings_version FROM campaigns WHERE id = ${id}`, [{ settingsVersion: 2 }])
})

test(t, "progress is reported under both sets of names", function* (t) {
  const { id } = yield* started()
  yield* setDialed(id, [
    { row: 2, state: "completed" },
    { row: 3, state: "failed" }
  ])
  t.match(yield* campaigns.progress(ours, id), {
    totalRows: 3,
    processedRows: 2,
    progressPercentage: 66.67,
    state: "running",
    total: 3,
    completed: 1,
    failed: 1,
    pending: 1,
    processed: 2,
    completionPercentage: 66.67
  })
})

test(t, "the log shows its newest entries, oldest first: a hundred with a campaign, ten in the list", function* (t) {
  const { id } = yield* makeCampaign()
  yield* sql`INSERT INTO campaign_log (organization_id, campaign_id, level, event, message)
      SELECT 1, ${id}, 'info', 'settings_updated', n::text FROM generate_series(1, 150) n`
  const whole = yield* campaigns.get(ours, id)
  const listed = yield* campaigns.list(ours)
  t.strictSame([whole.logs.length, whole.logs[0]?.message, whole.logs.at(-1)?.message], [100, "51", "150"])
  t.equal(listed[0]?.id, whole.id, "newest first")
  t.strictSame([listed[0]?.logs.length, listed[0]?.logs[0]?.message], [10, "141"])
})
