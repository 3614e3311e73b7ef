/** What a campaign's log says about an outage of Asterisk: one entry, once it is back and the calls that it cut are settled. */
import t from "tap"
import { aloud, type Campaign, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { parse } from "#test/support/prometheus.ts"

t.jobs = 2
const environment = { RECORDINGS: "off" }
const talking = { media: false, ringMillis: 200, talkMillis: 600_000 }

const outagesIn = (campaign: Campaign) => campaign.logs.filter(({ event }) => event === "telephony_outage")
const told = (world: World, id: number) =>
  until("entry about the outage", async () => {
    const entries = outagesIn(await world.api.campaign(id))
    return entries.length === 0 ? undefined : entries
  })
const answered = (world: World, id: number, calls: number) =>
  untilTrue(
    `${calls} conversations`,
    async () => (await world.sql`SELECT 1 FROM attempts WHERE campaign_id = ${id} AND state = 'answered'`).length === calls
  )
/** Waits until that many calls have audio. */
const heard = (world: World, calls: number) =>
  untilTrue(`audio of ${calls} calls`, async () => {
    const { values } = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
    return values.get("media_streams") === calls
  })
const outages = async ({ sql }: World) => (await sql`SELECT 1 FROM trunk_outages WHERE began_at IS NOT NULL`).length
/** As the trunk's users see them. */
const listed = async ({ api, sql }: World): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const [config] = await sql<ReadonlyArray<{ readonly id: number }>>`SELECT id FROM telephony_configurations`
  const { body } = await api.ask("GET", `/organizations/telephony-configs/${config?.id}/outages`)
  // The cast holds because the service builds its answers from this type.
  return (body as { readonly outages: ReadonlyArray<Record<string, unknown>> }).outages
}
/** Waits until the engine has recorded the outage. */
const isAway = (world: World) => untilTrue("an outage", async () => (await outages(world)) === 1)

t.test("given calls in conversation, when Asterisk dies and comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: talking, environment, greeting: aloud })
  const { api, emulator } = world
  const cut = await world.campaign(numbersOf(3, ["01"]))
  const held = await world.campaign(numbersOf(1, ["01"], "+1556"))
  const draft = await world.campaign(numbersOf(1, ["01"], "+1557"))
  const before = Date.now()
  await api.start(cut.id)
  await answered(world, cut.id, 3)
  // A call whose audio was not yet open might have failed because of that before the outage was known.
  await heard(world, 3)

  emulator.dropSockets()
  await isAway(world)
  await untilTrue("outage that is settled", async () => (await outages(world)) === 0)
  t.equal(emulator.live(), 3, "given that only the connection breaks, then the calls go on")
  t.strictSame(outagesIn(await api.campaign(cut.id)), [], "and there is no entry")

  await emulator.refuseConnections(true)
  emulator.crash()
  await isAway(world)
  await api.start(held.id)
  await untilTrue(
    "campaign that waits",
    async () => (await world.sql`SELECT 1 FROM trunk_outages WHERE ${held.id} = ANY (held_campaigns)`).length === 1
  )
  t.strictSame(outagesIn(await api.campaign(cut.id)), [], "then nothing is said before it is back")
  const [lasting] = await listed(world)
  t.match(lasting, { ended_at: null, calls_cut: null, reason: /\w/ }, "but its users see the outage, and why")
  await emulator.refuseConnections(false)
  const [entry] = await told(world, cut.id)
  t.match(entry, {
    level: "warning",
    message: /could not be reached for \d+ s; 3 calls were cut\./,
    details: { calls_cut: 3, answered: 3, called_again: 0, not_called_again: 3, outcome_unknown: 0 }
  })
  const { from, until: to } = entry?.details ?? {}
  t.match(await listed(world), [{ began_at: from, ended_at: to, calls_cut: 3, reason: lasting?.["reason"] }, { calls_cut: 0 }], "later too")
  const times = [from, to].map((time) => Date.parse(String(time)))
  t.ok(before < (times[0] ?? 0) && (times[0] ?? 0) < (times[1] ?? 0) && (times[1] ?? 0) <= Date.now(), `from ${from} to ${to}`)
  const [quiet] = await told(world, held.id)
  t.match(
    quiet,
    { level: "info", message: /no call was cut/, details: { calls_cut: 0 } },
    "then a campaign that had to wait also has an entry"
  )
  t.strictSame(outagesIn(await api.campaign(draft.id)), [], "then one that was not affected has none")
  await world.seen("answered", 4)
  // Each connection repeats its events.
  emulator.dropSockets()
  await world.end("SIGTERM")
  await world.launch()
  await world.seen("originate", 4)
  t.equal(outagesIn(await world.api.campaign(cut.id)).length, 1, "then there is only one entry")
})

t.test("given an Asterisk that is away, when the engine is killed in the meantime", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: talking, environment, greeting: aloud })
  const { id } = await world.campaign(numbersOf(3, ["01"]), { max_concurrency: 2 })
  await world.api.start(id)
  await answered(world, id, 2)
  await heard(world, 2)
  await world.emulator.refuseConnections(true)
  world.emulator.crash()
  await isAway(world)
  // Audio that ended together with Asterisk does not mean that a callee hung up, and the engine may be killed before it knows more.
  await heard(world, 0)
  const [row] = await world.sql<Array<{ began: Date }>>`SELECT began_at AS began FROM trunk_outages WHERE began_at IS NOT NULL`
  await world.end("SIGKILL")
  await world.launch()
  await world.emulator.refuseConnections(false)
  const entries = await told(world, id)
  t.match(entries, [{ details: { calls_cut: 2, answered: 2, from: row?.began.toISOString() } }], "then it began when it began")
  await world.end("SIGKILL")
  await world.launch()
  await untilTrue("opened trunk", () => world.output().split('"a trunk is up"').length > 3)
  t.equal(outagesIn(await world.api.campaign(id)).length, 1, "then the next process adds nothing")
  await world.end("SIGTERM")
  t.equal(await outages(world), 0, "then an engine that stops does not count as an outage")
})
