/** A campaign whose owner keeps failing: it is paused, and continues by itself when the cause is gone. Judged by the callees' log. */
import t from "tap"
import { attemptsOf, type Campaign, eventsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"

const short = { media: false, ringMillis: 200, talkMillis: 400 }

/** Makes claims of the campaigns fail for a reason that does not go away, unlike a broken connection. */
const breakClaims = async ({ sql }: World, ids: ReadonlyArray<number>) => {
  await sql.unsafe(`
    CREATE FUNCTION break_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken for a test'; END $$;
    CREATE TRIGGER broken BEFORE INSERT ON attempts FOR EACH ROW WHEN (NEW.campaign_id IN (${ids.join()})) EXECUTE FUNCTION break_claim()`)
}
const mendClaims = ({ sql }: World) => sql.unsafe("DROP TRIGGER broken ON attempts; DROP FUNCTION break_claim()")
const said = (campaign: Campaign) => campaign.logs.slice(3).map(({ event }) => event)

t.test("given three campaigns paused because of their failures, when the engine is started again and the cause is gone", async (t) => {
  const world = await World.open(t, { emulator: short, environment: { RING_TIMEOUT: "300" } })
  const [resumed, changed, stopped] = [
    await world.campaign(numbersOf(20, ["01"]), { max_concurrency: 2 }),
    await world.campaign(numbersOf(5, ["01"], "+1556")),
    await world.campaign(numbersOf(5, ["01"], "+1557"))
  ]
  const all = [resumed.id, changed.id, stopped.id]
  await breakClaims(world, all)
  for (const id of all) await world.api.start(id)
  for (const id of all) await world.api.untilState(id, "paused")
  await world.api.ask("PATCH", `/campaign/${changed.id}`, { name: "Later" })
  const { status } = await world.api.ask("POST", `/campaign/${stopped.id}/pause`)
  t.equal(status, 200, "then a person can keep one paused")
  t.equal(world.emulator.log.count("originate"), 0)
  await world.end("SIGKILL")
  await mendClaims(world)
  // Nobody answers yet, so that the campaign is not over when its log is read, however slow the machine is.
  world.emulator.letRing(true)
  await world.launch()
  await world.seen("originate", 1)
  await untilTrue("word of it", async () => said(await world.api.campaign(resumed.id)).includes("campaign_resumed"))
  t.strictSame(
    said(await world.api.campaign(resumed.id)),
    ["campaign_paused", "campaign_resumed"],
    "then it continues, and the log says so"
  )
  for (const id of [changed.id, stopped.id]) {
    t.equal((await world.api.campaign(id)).state, "paused", "then those that a person has acted on stay paused")
    t.equal((await attemptsOf(world.sql, id)).length, 0)
  }
  world.emulator.letRing(false)
  const done = await world.api.untilState(resumed.id, "completed")
  t.match(eventsOf(done), { campaign_completed: 1 })
  await judge(t, world, resumed.id, 2)
})
