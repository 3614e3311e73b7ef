/** Telephony configurations that are changed and deleted, and their phone numbers, on a real database. */
import { Effect, Fiber } from "effect"
import t from "tap"
import type { Agent } from "#core/agent/Agent.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { AgentId, CallId, PhoneNumberId, type TelephonyConfigId } from "#core/Id.ts"
import { PhoneNumbers, type NewPhoneNumber } from "#core/telephony/PhoneNumbers.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { beginCall, install, makeAgent, makeCampaign, makeConfig, ours, tag, theirs } from "./services.ts"

const { heard, run, sql, test } = await install(t)
const [configs, numbers, settings] = await run(Effect.all([TelephonyConfigs, PhoneNumbers, TrunkSettings]))

const numberOf = (address: string, more: Partial<NewPhoneNumber> = {}): NewPhoneNumber => ({
  address,
  isActive: true,
  isDefaultCallerId: false,
  extraMetadata: {},
  ...more
})

t.test("given a configuration, when it is changed", async (t) => {
  const changed = (changes: Parameters<TelephonyConfigs["Service"]["update"]>[2], name: string) =>
    run(function* () {
      const { id } = yield* makeConfig(name)
      const after = yield* configs.update(ours, id, changes)
      const setting = yield* settings.find(id)
      return { after, id, setting }
    })
  t.test("with its secret masked, then the secret stays and the rest is changed", async (t) => {
    const credentials = { account: "AC2", token: "*******9876" }
    const { after, id, setting } = await changed({ name: "b1", config: { provider: "fake", credentials }, maxConcurrentCalls: 7 }, "a1")
    t.match(after, { name: "b1", credentials, maxConcurrentCalls: 7 })
    t.match(setting, { credentials: { account: "AC2", token: "secret-9876" }, maxConcurrentCalls: 7 })
    t.equal(heard.at(-1), `configuration ${id}`)
  })
  t.test("with another secret, then that is stored", async (t) => {
    const { setting } = await changed({ config: { provider: "fake", credentials: { account: "AC1", token: "other-1234" } } }, "a2")
    t.match(setting, { credentials: { token: "other-1234" } })
  })
  t.test("in nothing, then it is unchanged", async (t) => {
    const { after } = await changed({}, "a3")
    t.match(after, { name: "a3", maxConcurrentCalls: undefined, credentials: { account: "AC1" } })
  })
  test(t, "after a call has proven it, then only other credentials are unproven again", function* (t) {
    const { id } = yield* makeConfig("proven")
    const isProven = Effect.map(settings.find(id), (setting) => setting?.isProven)
    const first = (yield* settings.find(id))?.version ?? ""
    const before = yield* isProven
    yield* settings.prove(id, first)
    yield* configs.update(ours, id, { name: "still proven", maxConcurrentCalls: 3 })
    const renamed = yield* isProven
    yield* configs.update(ours, id, { config: { provider: "fake", credentials: { account: "AC3", token: "other-5678" } } })
    // A call that was placed with the credentials before proves nothing about these.
    yield* settings.prove(id, first)
    t.strictSame([before, renamed, yield* isProven], [false, true, false])
  })
  test(t, "to another provider, to a name that is taken, or as somebody else, then nothing changes", function* (t) {
    yield* makeConfig("taken")
    const { id } = yield* makeConfig("a4")
    const before = heard.length
    const failures = [
      yield* tag(configs.update(ours, id, { config: { provider: "other", credentials: {} } })),
      yield* tag(configs.update(ours, id, { name: "taken", maxConcurrentCalls: 1 })),
      yield* tag(configs.update(theirs, id, { name: "mine" })),
      yield* tag(configs.setDefault(theirs, id)),
      yield* tag(configs.remove(theirs, id))
    ]
    const { maxConcurrentCalls, name } = yield* configs.get(ours, id)
    const gone = "TelephonyConfigNotFound"
    t.strictSame(failures, ["TelephonyProviderFixed", "TelephonyConfigNameTaken", gone, gone, gone])
    t.strictSame([name, maxConcurrentCalls, heard.length - before], ["a4", undefined, 0])
  })
  test(t, "to be the default, by many at the same time, then there is one default", function* (t) {
    const made = yield* Effect.forEach(["d1", "d2", "d3", "d4"], (name) => makeConfig(name))
    yield* Effect.forEach(made, ({ id }) => configs.setDefault(ours, id), { concurrency: 4 })
    t.equal((yield* configs.list(ours)).filter(({ isDefaultOutbound }) => isDefaultOutbound).length, 1)
  })
})

t.test("given a configuration, when it is deleted", async (t) => {
  test(t, "while it is unused, then it is gone with its numbers, and its trunk is signalled", function* (t) {
    const { id } = yield* makeConfig("x1")
    yield* numbers.create(ours, id, numberOf("+15550109999"))
    yield* configs.remove(ours, id)
    t.strictSame(yield* sql`SELECT id FROM phone_numbers WHERE telephony_configuration_id = ${id}`, [])
    t.equal(yield* tag(configs.get(ours, id)), "TelephonyConfigNotFound")
    t.equal(heard.at(-1), `configuration ${id}`)
  })
  test(t, "while a campaign refers to it, whatever its state, then it stays", function* (t) {
    const { id } = yield* makeConfig("x2")
    const campaign = yield* makeCampaign({ telephonyConfigurationId: id })
    yield* sql`UPDATE campaigns SET state = 'completed' WHERE id = ${campaign.id}`
    t.match(yield* Effect.flip(configs.remove(ours, id)), { _tag: "TelephonyConfigInUse", by: "campaigns" })
  })
  test(t, "while a single call is up, then it stays until that is over", function* (t) {
    const { id } = yield* makeConfig("x3")
    const callId = CallId.make("01890000-0000-7000-8000-0000000000a1")
    yield* begun(id, callId)
    const during = yield* Effect.flip(configs.remove(ours, id))
    yield* AttemptStore.use((store) => store.undo(callId, { at: 0, breakerEntry: false }))
    t.match(during, { _tag: "TelephonyConfigInUse", by: "calls" })
    t.equal(yield* tag(configs.remove(ours, id)), "none")
  })
  test(t, "while calls start, then no call is left without a configuration", function* (t) {
    const agent = yield* makeAgent()
    for (let round = 0; round < 10; round++) {
      const { id } = yield* makeConfig(`race ${round}`)
      const calls = Array.from({ length: 4 }, (_, i) => CallId.make(`01890000-0000-7000-8000-0000000${round}000${i}`))
      const deletion = yield* Effect.forkChild(tag(configs.remove(ours, id)))
      yield* Effect.forEach(calls, (callId) => tag(begun(id, callId, agent)), { concurrency: 4 })
      yield* Fiber.join(deletion)
    }
    const orphans = yield* sql`
          SELECT id FROM attempts a WHERE NOT EXISTS (SELECT 1 FROM telephony_configurations WHERE id = a.telephony_configuration_id)
            AND state IN ('intent', 'sent', 'answered')`
    t.strictSame(orphans, [])
  })
})

const begun = (id: TelephonyConfigId, callId: CallId, by?: Agent) =>
  Effect.flatMap(by === undefined ? makeAgent() : Effect.succeed(by), (agent) => beginCall(callId, agent, id))

t.test("given phone numbers", async (t) => {
  test(t, "when another one becomes the default, then the trunk shows that one", function* (t) {
    const { id } = yield* makeConfig("n1")
    yield* numbers.create(ours, id, numberOf("+15550200001", { isDefaultCallerId: true }))
    const second = yield* numbers.create(ours, id, numberOf("+15550200002", { maxConcurrent: 2 }))
    yield* numbers.create(ours, id, numberOf("+15550200003", { isActive: false }))
    yield* numbers.create(ours, id, numberOf("sip:a@example.com"))
    const first = (yield* settings.find(id))?.callerIds
    yield* numbers.setDefaultCaller(ours, id, second.id)
    const told = heard.at(-1) === `numbers ${id}`
    const unusable = { inactive: 1, refused: 0, other: 1 }
    t.strictSame(first, {
      preferred: "+15550200001",
      all: ["+15550200001", "+15550200002"],
      limits: new Map([["+15550200002", 2]]),
      unusable
    })
    t.strictSame([(yield* settings.find(id))?.callerIds.preferred, told], ["+15550200002", true])
  })
  test(t, "when the provider refuses one, then the trunk shows the others until it is turned on again", function* (t) {
    const { id } = yield* makeConfig("refused")
    const [one] = yield* Effect.forEach(["+15550200051", "+15550200052"], (address) => numbers.create(ours, id, numberOf(address)))
    const all = Effect.map(settings.find(id), (setting) => setting?.callerIds.all)
    const reason = Effect.map(numbers.list(ours, id), (list) => list.map(({ refusedReason }) => refusedReason))
    const before = yield* all
    yield* settings.refuseCaller(id, "+15550200051", "21210 not verified")
    yield* settings.refuseCaller(id, "+15550200051", "a later word")
    const refused = [yield* all, yield* reason]
    yield* numbers.update(ours, id, one?.id ?? PhoneNumberId.make(0), { label: "still refused" })
    const labelled = yield* all
    yield* numbers.update(ours, id, one?.id ?? PhoneNumberId.make(0), { isActive: true })
    const both = ["+15550200051", "+15550200052"]
    t.strictSame(
      { before, refused, labelled, cleared: [yield* all, yield* reason] },
      {
        before: both,
        refused: [["+15550200052"], ["21210 not verified", undefined]],
        labelled: ["+15550200052"],
        cleared: [both, [undefined, undefined]]
      }
    )
  })
  test(t, "when many become the default at the same time, then one is", function* (t) {
    const { id } = yield* makeConfig("n2")
    const made = yield* Effect.forEach([1, 2, 3, 4], (last) => numbers.create(ours, id, numberOf(`+1555020010${last}`)))
    yield* Effect.forEach(made, (number) => numbers.setDefaultCaller(ours, id, number.id), { concurrency: 4 })
    t.equal((yield* numbers.list(ours, id)).filter(({ isDefaultCallerId }) => isDefaultCallerId).length, 1)
  })
  test(t, "when something of another organization is named, then it is not found", function* (t) {
    const config = yield* makeConfig("n3")
    const foreignAgent = yield* makeAgent("Be kind.", theirs)
    const { id } = yield* numbers.create(ours, config.id, numberOf("+15550200201"))
    const other = yield* makeConfig("n4")
    const failures = [
      yield* tag(numbers.list(theirs, config.id)),
      yield* tag(numbers.create(theirs, config.id, numberOf("+15550200202"))),
      yield* tag(numbers.create(ours, config.id, numberOf("+15550200203", { inboundAgentId: foreignAgent.id }))),
      yield* tag(numbers.get(theirs, config.id, id)),
      yield* tag(numbers.get(ours, other.id, id)),
      yield* tag(numbers.update(ours, config.id, id, { inboundAgentId: AgentId.make(99_999) })),
      yield* tag(numbers.update(theirs, config.id, id, { label: "x" })),
      yield* tag(numbers.setDefaultCaller(theirs, config.id, id)),
      yield* tag(numbers.remove(theirs, config.id, id)),
      yield* tag(numbers.remove(ours, config.id, PhoneNumberId.make(99_999)))
    ]
    const [noConfig, noNumber, noAgent] = ["TelephonyConfigNotFound", "PhoneNumberNotFound", "AgentNotFound"]
    t.strictSame(failures, [noConfig, noConfig, noAgent, noNumber, noNumber, noAgent, ...Array.from({ length: 4 }, () => noNumber)])
  })
  test(t, "when the same line is added again, in any form, then it is refused", function* (t) {
    const config = yield* makeConfig("n5")
    const other = yield* makeConfig("n6")
    yield* numbers.create(ours, config.id, numberOf("+15550200301"))
    const failure = yield* Effect.flip(numbers.create(ours, other.id, numberOf("+1 (555) 020-0301")))
    t.match(failure, { _tag: "PhoneNumberTaken", by: "organization" })
  })
  test(t, "when another organization has it under the same account, then it is refused, and so is the account", function* (t) {
    const hosted = (name: string, organizationId: typeof ours, account: string) =>
      configs.create(organizationId, { name, provider: "hosted", credentials: { account, token: "t" }, isDefaultOutbound: false })
    const here = yield* hosted("h1", ours, "AC7")
    const there = yield* hosted("h1", theirs, "AC7")
    const elsewhere = yield* hosted("h2", theirs, "AC8")
    yield* numbers.create(ours, here.id, numberOf("+15550200401"))
    const config = { provider: "hosted", credentials: { account: "AC7", token: "t" } }
    t.match(yield* Effect.flip(numbers.create(theirs, there.id, numberOf("+15550200401"))), { _tag: "PhoneNumberTaken", by: "account" })
    t.equal(yield* tag(numbers.create(theirs, elsewhere.id, numberOf("+15550200401"))), "none")
    t.match(yield* Effect.flip(configs.update(theirs, elsewhere.id, { config })), { _tag: "TelephonyAccountTaken" })
  })
  test(t, "when a provider needs one, then its configuration is ready with the first active one", function* (t) {
    const settings = { credentials: { account: "AC9", token: "t" }, isDefaultOutbound: false }
    const { id } = yield* configs.create(ours, { ...settings, name: "ready", provider: "hosted" })
    const before = (yield* configs.get(ours, id)).outboundBlockedReason
    const notMade = yield* Effect.flip(makeCampaign({ telephonyConfigurationId: id }))
    const number = yield* numbers.create(ours, id, numberOf("+15550200501"))
    const campaign = yield* makeCampaign({ telephonyConfigurationId: id })
    yield* numbers.update(ours, id, number.id, { isActive: false })
    const refused = yield* Effect.flip(Campaigns.use((_) => _.start(ours, campaign.id)))
    const inactive = (yield* configs.get(ours, id)).outboundBlockedReason
    yield* numbers.update(ours, id, number.id, { isActive: true })
    t.match(before, /need a number to dial from.*your Hosted account/)
    t.equal(inactive, before)
    const notReady = { _tag: "TelephonyNotReady", name: "ready", reason: /^Outbound calls need a number/ }
    t.match(notMade, notReady)
    t.match(refused, notReady)
    t.match(yield* configs.get(ours, id), { outboundBlockedReason: undefined, phoneNumberCount: 1 })
  })
  test(t, "when a configuration is full, then it accepts no more", function* (t) {
    const { id } = yield* makeConfig("full")
    yield* sql`
          INSERT INTO phone_numbers (organization_id, telephony_configuration_id, address, address_normalized, address_type, provider)
          SELECT ${ours}::int, ${id}::int, n::text, '+1666' || n, 'pstn', 'fake' FROM generate_series(1000001, 1001000) n`
    t.equal(yield* tag(PhoneNumbers.use((_) => _.create(ours, id, numberOf("+15550200601")))), "PhoneNumbersFull")
  })
})
