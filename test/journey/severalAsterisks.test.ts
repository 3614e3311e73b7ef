/** A configuration with several Asterisks: calls are distributed, and an outage of one affects only its own calls. Judged by all callees' logs. */
import t, { type Test } from "tap"
import { type AriEmulator, type AriEmulatorOptions, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { attemptsOf, placedBy, eventsOf, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"

t.jobs = 2
const environment = { RECORDINGS: "off" }
const quick = { media: false, ringMillis: 100, talkMillis: 300 }

/** Two Asterisks behind one configuration. */
const given = async (t: Test, emulator: AriEmulatorOptions = quick) => {
  const [first, second] = [await startAriEmulator(emulator), await startAriEmulator(emulator)]
  t.teardown(() => Promise.all([first.stop(), second.stop()]))
  const urls = [first.url, second.url] as const
  const account = { ari_endpoint: urls[0], ari_endpoints: urls, app_name: first.user, app_password: first.password }
  return { both: [first, second], first, second, urls, world: await World.open(t, { account, environment }) }
}

const dialsOf = ({ log }: AriEmulator) => log.entries.filter(({ kind }) => kind === "originate")
/** Waits until both have had that many conversations and the first one has a call, which a fault then affects. */
const callsThroughBoth = ({ first, second }: Readonly<Record<"first" | "second", AriEmulator>>, count: number) =>
  untilTrue(
    "calls through both",
    () => first.log.count("answered") >= count && second.log.count("answered") >= count && first.log.live() > 0
  )
const liveAt = (emulators: ReadonlyArray<AriEmulator>) => emulators.reduce((sum, { log }) => sum + log.live(), 0)

/** Checks that nobody was called twice, and that each attempt was dialed where the record says. */
const thenNobodyTwice = async (t: Test, world: World, id: number, places: ReadonlyArray<readonly [url: string, AriEmulator]>) => {
  const dials = places.flatMap(([, emulator]) => dialsOf(emulator))
  t.strictSame(dials.map(({ number }) => number).toSorted(), [...new Set(dials.map(({ number }) => number))].toSorted(), "nobody twice")
  const rows = await world.sql<Array<{ id: string; endpoint: string | null }>>`SELECT id, endpoint FROM attempts WHERE campaign_id = ${id}`
  const recorded = new Map(rows.map((row) => [row.id, row.endpoint]))
  const elsewhere = places.flatMap(([url, emulator]) => dialsOf(emulator).filter(({ channelId }) => recorded.get(channelId) !== url))
  t.strictSame(elsewhere, [], "each attempt names the endpoint that dialed it")
}
const bothOf = ({ first, second, urls }: Awaited<ReturnType<typeof given>>) =>
  [
    [urls[0], first],
    [urls[1], second]
  ] as const

interface Trunk {
  readonly status: string
  readonly endpoints: ReadonlyArray<{ readonly endpoint: string; readonly status: string; readonly reason: string | null }>
}
const trunkOf = async (world: World): Promise<Trunk | undefined> => {
  const { body } = await world.api.ask("GET", "/organizations/telephony-trunks")
  return (body as { readonly trunks: ReadonlyArray<Trunk> }).trunks[0] // an answer of ours
}
const statesOf = async (world: World) => {
  const trunk = await trunkOf(world)
  return [trunk?.status, ...(trunk?.endpoints ?? []).map(({ status }) => status)]
}

t.test("given one that dies in mid-campaign, then the other takes over what has not left", { buffered: true }, async (t) => {
  const scene = await given(t, { ...quick, talkMillis: 2000 })
  const { first, second, world } = scene
  const { id } = await world.campaign(numbersOf(60, ["01"]), { max_concurrency: 12 })
  await world.api.start(id)
  await callsThroughBoth(scene, 6)
  const cut = first.log.live()
  await first.refuseConnections(true)
  first.crash()
  const before = dialsOf(second).length
  await untilTrue("the campaign goes on", () => dialsOf(second).length >= before + 20)
  t.strictSame(await statesOf(world), ["up", "down", "up"], "then the trunk is up with one of them")
  // Some of the requests that were sent to it as it died have never arrived.
  await untilTrue("the rest", async () => (await attemptsOf(world.sql, id)).length >= 58)
  t.equal((await world.api.campaign(id)).state, "running", "then its calls are in doubt while it is away")
  await first.refuseConnections(false)
  const done = await world.api.untilState(id, "completed")
  await thenNobodyTwice(t, world, id, bothOf(scene))
  const attempts = await placedBy(world.sql, id)
  const lost = attempts.filter(({ cause }) => cause !== "normal_clearing")
  t.comment(`${cut} calls were up when it died; lost: ${lost.map(({ cause }) => cause).join(", ")}`)
  t.ok(lost.length >= 1 && lost.length <= cut + 12, "then only its own calls are lost")
  const wasAtSecond = new Set(dialsOf(second).map(({ channelId }) => channelId))
  const theirs = lost.filter(({ id: callId }) => wasAtSecond.has(callId))
  t.strictSame(theirs, [], "then none of the other's are lost")
  const areLost = lost.every(({ cause }) => cause === "trunk_lost" || cause === "written_off")
  t.ok(areLost, "then they are recorded as such")
  t.notOk(eventsOf(done)["campaign_paused"], "then the campaign was never paused")
  await wrote(world, "an endpoint of a trunk is down")
  const outages = await until("entry about the outage", async () => {
    const entries = (await world.api.campaign(id)).logs.filter(({ event }) => event === "telephony_outage")
    return entries.length === 0 ? undefined : entries
  })
  t.match(
    outages,
    [
      {
        message: /^One of the telephony provider's endpoints could not be reached for \d+ s/,
        details: { endpoint: scene.urls[0], calls_cut: lost.length }
      }
    ],
    "then one entry reports it and its calls"
  )
})

t.test("given calls up on both, when the engine is killed and one of them is away when it comes back", { buffered: true }, async (t) => {
  const scene = await given(t)
  const { both, first, second, world } = scene
  const { id } = await world.campaign(numbersOf(8, ["11"]))
  await world.api.start(id)
  await untilTrue("conversations", async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "answered").length === 8)
  const shares = [first.live(), second.live()]
  const areBoth = shares.every((share) => share > 0)
  t.ok(areBoth, `calls are up on both: ${shares.join(" and ")}`)
  await world.end("SIGKILL")
  await second.refuseConnections(true)
  await world.launch()
  await untilTrue("the calls of the first are hung up", () => first.live() === 0)
  await untilTrue(
    "they are settled",
    async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "ended").length === shares[0]
  )
  const settled = (await attemptsOf(world.sql, id)).filter(({ state }) => state === "ended")
  const wasAtFirst = new Set(dialsOf(first).map(({ channelId }) => channelId))
  const wereThere = settled.every(({ id: callId }) => wasAtFirst.has(callId))
  t.ok(wereThere, "then calls whose Asterisk is away are not settled")
  t.equal(second.live(), shares[1], "then they are up")
  await second.refuseConnections(false)
  await untilTrue("every call is hung up", () => liveAt(both) === 0)
  await world.api.untilState(id, "completed")
  await thenNobodyTwice(t, world, id, bothOf(scene))
  const causes = (await placedBy(world.sql, id)).map(({ cause }) => cause)
  t.strictSame(causes, new Array<string>(8).fill("node_lost"), "then each was settled at its own")
})
