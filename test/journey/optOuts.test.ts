/** People who no longer want to be called: wherever their numbers are listed, nobody in that organization calls them. Judged by their phones. */
import t, { type Test } from "tap"
import { contactStates, numbersOf, recounted, shownCounters, untilTrue, World } from "#test/support/engine.ts"

const path = "/organizations/opt-outs"
const open = (t: Test) =>
  World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis: 300 },
    environment: { CALL_RATE: "1000", EGRESS_ALLOW: "127.0.0.0/8", ORG_CONCURRENCY: "50", RECORDINGS: "off", TRUNK_RATE: "1000" }
  })

const optOut = async (t: Test, { api }: World, ...numbers: ReadonlyArray<string>) => {
  t.match(await api.ask("POST", path, { phone_numbers: numbers }), { status: 200, body: { added: numbers.length } })
}
const timesCalled = ({ emulator }: World, number: string): number => emulator.log.dialsByNumber().get(number) ?? 0
const isLive = (world: World, number: string) => untilTrue("first call", () => timesCalled(world, number) === 1)

t.test("given people who are on two lists of an organization", async (t) => {
  const world = await open(t)
  const { api, emulator, sql } = world
  const [talker = "", queued = "", willing = ""] = numbersOf(3, ["01"])
  const [retried = "", redialed = ""] = numbersOf(2, ["02"], "+1556")
  const everybody = [talker, retried, redialed, queued, willing]
  const slow = { retry: { maxRetries: 1, retryDelaySeconds: 4 } }
  // One call at a time, so that the first one holds up the others.
  const first = await world.campaign(everybody, { ...slow, max_concurrency: 1 })
  const second = await world.campaign(everybody.toReversed(), { retry: { maxRetries: 0 } })

  await t.test(
    "when one of them opts out while queued, and another before a retry, then neither is called by that campaign again",
    async (t) => {
      emulator.letTalk(true)
      await api.start(first.id)
      await isLive(world, talker)
      await optOut(t, world, queued)
      emulator.letTalk(false)
      await untilTrue(
        "a retry that waits",
        async () =>
          (
            await sql`
      SELECT FROM contacts WHERE campaign_id = ${first.id} AND phone_number = ${retried} AND state = 'retry_wait'`
          ).length === 1
      )
      await optOut(t, world, retried)
      await api.untilState(first.id, "completed")
      const times = everybody.map((number) => timesCalled(world, number))
      t.strictSame(times, [1, 1, 2, 0, 1])
      t.strictSame(await contactStates(sql, first.id), { cancelled: 1, completed: 2, failed: 2 })
      t.strictSame(await shownCounters(api, first.id), await recounted(sql, first.id))
      const { body } = await api.ask("GET", `/campaign/${first.id}/contacts`)
      t.match(body, {
        contacts: [
          {},
          { state: "failed", stop_reason: "opted_out" },
          { stop_reason: null },
          { state: "cancelled", stop_reason: "opted_out" },
          {}
        ]
      })
    }
  )

  await t.test(
    "when the other list is called, and the first one is redialed after another opt-out, then none of them is called",
    async (t) => {
      const { body } = await api.ask("POST", `/campaign/${first.id}/redial`, {})
      const { id } = body as { readonly id: number }
      await optOut(t, world, redialed)
      for (const campaign of [second.id, id]) {
        await api.start(campaign)
        await api.untilState(campaign, "completed")
        t.strictSame(await shownCounters(api, campaign), await recounted(sql, campaign))
      }
      const times = everybody.map((number) => timesCalled(world, number))
      t.strictSame(times, [2, 1, 2, 0, 2])
      t.strictSame(await contactStates(sql, id), { cancelled: 1 }, "then the redial was without the number that had opted out before")
    }
  )

  await t.test(
    "when a single call to one of them is requested, then it is refused, with the reason, until the opt-out is removed",
    async (t) => {
      t.match(await api.call(world.agentUuid, queued), { status: 409, body: { detail: /has opted out/ } })
      const { body } = await api.ask("GET", `${path}?phone_number=${encodeURIComponent(queued)}`)
      const { opt_outs } = body as { readonly opt_outs: ReadonlyArray<{ readonly id: number }> }
      t.match(opt_outs, [{ phone_number: queued, source: "api", workflow_run_id: null }])
      t.equal((await api.ask("DELETE", `${path}/${opt_outs[0]?.id}`)).status, 200)
      t.match(await api.call(world.agentUuid, queued), { status: 200 })
      t.equal(timesCalled(world, queued), 1)
    }
  )

  await untilTrue("end of all calls", () => emulator.log.live() === 0)
})

t.test("given an engine that is killed as it has claimed a contact, when that opts out, then it is not called", async (t) => {
  const world = await open(t)
  const { emulator, sql } = world
  const [claimed = ""] = numbersOf(1, ["01"])
  const { id } = await world.campaign([claimed])
  await world.end("SIGTERM")
  await world.launch({ CRASH_AT: "claimed" })
  await world.api.start(id)
  await world.engine.exited
  t.strictSame(await contactStates(sql, id), { dialing: 1 })
  await sql`INSERT INTO opt_outs (organization_id, phone_number, source) SELECT organization_id, ${claimed}, 'call' FROM campaigns WHERE id = ${id}`
  await world.launch()
  await world.api.untilState(id, "completed")
  t.strictSame(emulator.log.entries, [])
  t.strictSame(await contactStates(sql, id), { cancelled: 1 })
})
