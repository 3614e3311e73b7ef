/** A campaign's log across resumes and restarts: what has been said is not said again, and its last word stays true. */
import t from "tap"
import { eventsOf, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"

const tomorrow = (new Date().getUTCDay() + 6 + 2) % 7
const closed = { slots: [{ day_of_week: tomorrow, start_time: "00:00", end_time: "24:00" }], timezone: "UTC" }

t.test("given a campaign whose window is closed, and one that finds no slot", async (t) => {
  const world = await World.open(t, { emulator: { media: false }, environment: { CALL_RATE: "50", RECORDINGS: "off" } })
  const waiting = await world.campaign(numbersOf(3, ["01"]), { schedule_config: closed })
  const busy = await world.campaign(numbersOf(1, ["11"], "+1556"))
  const full = await world.campaign(numbersOf(3, ["01"], "+1557"))
  const ids = [waiting.id, full.id]
  const saidBy = async (id: number, event: string) => eventsOf(await world.api.campaign(id))[event]
  const areSaid = async () =>
    (await saidBy(waiting.id, "schedule_window_closed")) === 1 && (await saidBy(full.id, "waiting_for_capacity")) === 1
  const epochs = async () => {
    const rows = await world.sql<Array<{ epoch: number }>>`SELECT owner_epoch AS epoch FROM campaigns WHERE id = ANY (${ids}) ORDER BY id`
    return rows.map(({ epoch }) => epoch)
  }
  await world.sql`UPDATE organizations SET concurrency_limit = 1, concurrency_reserve = 0`
  world.emulator.letTalk(true)
  await world.api.start(busy.id)
  await world.seen("answered", 1)
  for (const id of ids) await world.api.start(id)
  await untilTrue("both entries", areSaid)

  await t.test("when they are paused and resumed, and the engine is killed and starts again, then neither is said again", async (t) => {
    for (let times = 0; times < 5; times++) {
      for (const id of ids) {
        await world.api.ask("POST", `/campaign/${id}/pause`)
        await world.api.ask("POST", `/campaign/${id}/resume`)
      }
    }
    for (let times = 0; times < 2; times++) {
      const before = await epochs()
      await world.end("SIGKILL")
      await world.launch()
      await untilTrue("other owners", async () => (await epochs()).every((epoch, at) => epoch > (before[at] ?? 0)))
    }
    t.match(eventsOf(await world.api.campaign(waiting.id)), { schedule_window_closed: 1, campaign_resumed: 5 })
    t.match(eventsOf(await world.api.campaign(full.id)), { waiting_for_capacity: 1, campaign_resumed: 5 })
  })

  await t.test("when the window opens while no engine runs, then the log says so at the next start", async (t) => {
    await world.end("SIGKILL")
    const always = Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, startTime: "00:00", endTime: "24:00" }))
    await world.sql`UPDATE campaigns SET schedule_config = jsonb_set(schedule_config, '{slots}', ${world.sql.json(always)}) WHERE id = ${waiting.id}`
    await world.launch()
    await untilTrue("word of the opening", async () => (await saidBy(waiting.id, "schedule_window_opened")) === 1)
    t.equal(await saidBy(waiting.id, "schedule_window_closed"), 1)
  })
})

t.test("given a campaign through a hosted carrier, when its last number is deleted, then it pauses, and says why", async (t) => {
  const carrier = await carriers["Telnyx"]?.(t, { ringMillis: 100, talkMillis: 500 })
  if (carrier === undefined) throw new Error("no carrier")
  const world = await openThrough(t, carrier, {})
  const { id } = await world.campaign(numbersOf(50, ["01"]), { max_concurrency: 1, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("a call", () => carrier.log.count("originate") > 0)
  const numbers = await world.sql<Array<{ id: number; config: number }>>`SELECT id, telephony_configuration_id AS config FROM phone_numbers`
  for (const number of numbers) {
    const path = `/organizations/telephony-configs/${number.config}/phone-numbers/${number.id}`
    t.equal((await world.api.ask("DELETE", path)).status, 200)
  }
  const paused = await world.api.untilState(id, "paused")
  const last = paused.logs.findLast(({ event }) => event === "telephony_configuration_unavailable")
  t.match(last, { message: /no phone number left to call from/, details: { detail: /Add or activate one/ } })
})
