/** Which caller IDs the callees of a campaign see, judged by their phones. */
import t, { type Test } from "tap"
import { eventsOf, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"

const open = async (t: Test, talkMillis = 500) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis },
    environment: { CALL_RATE: "1000", ORG_CONCURRENCY: "50", RECORDINGS: "off", TRUNK_RATE: "1000" }
  })
  const { body } = await world.api.ask("GET", "/organizations/telephony-configs")
  // The cast holds because this is the list of what was just created.
  const [config] = (body as { readonly configurations: ReadonlyArray<{ readonly id: number }> }).configurations
  const path = `/organizations/telephony-configs/${config?.id}/phone-numbers`
  const add = async (address: string, settings: object = {}) => {
    const answer = await world.api.ask("POST", path, { address, ...settings })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return `${path}/${(answer.body as { readonly id: number }).id}`
  }
  const dials = () => world.emulator.log.entries.filter(({ kind }) => kind === "originate")
  return { ...world, add, dials, world, api: world.api, log: world.emulator.log }
}

t.test("given a trunk with three numbers, one of them the default", async (t) => {
  const { add, api, dials, log, world } = await open(t)
  await add("+15557000001", { is_default_caller_id: true })
  await add("+15557000002")
  const third = await add("+15557000003")
  const numbers = numbersOf(12, ["02"])

  await t.test("when a campaign dials, then callees see them in turn, and each callee the same one again", async (t) => {
    const campaign = await world.campaign(numbers, { retry: { maxRetries: 1, retryDelaySeconds: 1 } })
    await api.start(campaign.id)
    await api.untilState(campaign.id, "completed")
    const seen = Map.groupBy(dials(), ({ number }) => number)
    t.strictSame(
      [...seen.values()].map((calls) => [calls.length, new Set(calls.map(({ shown }) => shown)).size]),
      numbers.map(() => [2, 1])
    )
    const shares = Map.groupBy(seen.values(), ([call]) => call?.shown)
    t.strictSame([...shares].map(([shown, calls]) => [shown, calls.length]).toSorted(), [
      ["+15557000001", 4],
      ["+15557000002", 4],
      ["+15557000003", 4]
    ])
    const runs = await api.runs(campaign.id)
    const said = runs.map(({ initial_context: known }) => [known?.["called_number"], known?.["caller_number"]])
    t.strictSame(
      said.toSorted(),
      dials()
        .map(({ number, shown }) => [number, shown])
        .toSorted(),
      "the runs tell the truth"
    )
  })

  await t.test("when a single call is placed, then the callee sees the default", async (t) => {
    t.match(await api.call(world.agentUuid, "+15558000001"), { status: 200 })
    t.match(dials().at(-1), { number: "+15558000001", shown: "+15557000001" })
  })

  await t.test("when a number is removed between two attempts, then it is never seen again", async (t) => {
    const from = dials().length
    const campaign = await world.campaign(numbersOf(6, ["02"], "+1556"), { retry: { maxRetries: 1, retryDelaySeconds: 3 } })
    await api.start(campaign.id)
    await untilTrue("first tries", () => dials().length >= from + 6)
    t.equal((await api.ask("DELETE", third)).status, 200)
    const taken = dials().length
    await api.untilState(campaign.id, "completed")
    t.ok(
      dials()
        .slice(from, taken)
        .some(({ shown }) => shown === "+15557000003")
    )
    t.notOk(
      dials()
        .slice(taken)
        .some(({ shown }) => shown === "+15557000003")
    )
    t.equal(log.count("originate"), from + 12)
  })
})

t.test("given numbers that only a limited number of calls may show at once", async (t) => {
  const { add, api, dials, log, world } = await open(t, 1500)
  await add("+15557000001", { max_concurrent: 1 })
  const second = await add("+15557000002", { max_concurrent: 2 })
  const most = () => {
    const live = new Map<string, string>()
    const most = new Map<string, number>()
    for (const { channelId, kind, shown = "" } of log.entries) {
      if (kind === "originate") live.set(channelId, shown)
      if (kind === "ended") live.delete(channelId)
      const count = [...live.values()].filter((number) => number === shown).length
      if (kind === "originate") most.set(shown, Math.max(most.get(shown) ?? 0, count))
    }
    return Object.fromEntries(most)
  }

  await t.test("when a campaign has more contacts than that, then the rest wait, and its log says why", async (t) => {
    const campaign = await world.campaign(numbersOf(9, ["01"]))
    await api.start(campaign.id)
    const entries = await until("word of it", async () => {
      const { phone_number_pool_exhausted: told } = eventsOf(await api.campaign(campaign.id))
      return told
    })
    t.equal(entries, 1)
    await api.untilState(campaign.id, "completed")
    t.strictSame(most(), { "+15557000001": 1, "+15557000002": 2 })
    t.equal(dials().length, 9)
    t.match(eventsOf(await api.campaign(campaign.id)), { phone_number_pool_exhausted: 1 })
  })

  await t.test("when a number may be shown without limit again, then nobody waits", async (t) => {
    t.match(await api.ask("PUT", second, { clear_max_concurrent: true }), { body: { max_concurrent: null }, status: 200 })
    const from = dials().length
    const campaign = await world.campaign(numbersOf(8, ["01"], "+1556"))
    await api.start(campaign.id)
    await untilTrue("all of them at once", () => log.live() === 8 || dials().length === from + 8)
    await api.untilState(campaign.id, "completed")
    t.equal(most()["+15557000001"], 1)
    t.equal(eventsOf(await api.campaign(campaign.id))["phone_number_pool_exhausted"], undefined)
  })
})
