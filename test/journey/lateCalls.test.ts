/** Calls that are not what they seem: alive after they were written off, believed over because their audio ended, or not ours at all. */
import { randomUUID } from "node:crypto"
import t, { type Test } from "tap"
import { type AriEmulator, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { attemptsOf, placedBy, numbersOf, World, type WorldOptions } from "#test/support/engine.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { parse } from "#test/support/prometheus.ts"
import { nowMillis, untilTrue } from "#test/support/until.ts"

// Most of the time is spent waiting for calls that do not appear.
t.jobs = 5

const quick = { ringMillis: 200, talkMillis: 500 }
const isDial = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === "POST" && path.startsWith("/ari/channels?")

/** An engine whose requests go through a proxy to an Asterisk of the test's own. */
const behindProxy = async (t: Test, options: WorldOptions = {}) => {
  const asterisk = await startAriEmulator({ media: false, ...quick })
  t.teardown(() => asterisk.stop())
  const proxy = await HttpProxy.start(asterisk.url)
  t.teardown(() => proxy.stop())
  const account = { ari_endpoint: proxy.url, app_name: asterisk.user, app_password: asterisk.password }
  const world = await World.open(t, {
    ...options,
    account,
    environment: { PACED: "on", RECORDINGS: "off", RING_TIMEOUT: "300", ...options.environment }
  })
  return { asterisk, proxy, world }
}
const runsOf = (world: World) =>
  world.sql<Array<{ annotations: Record<string, Record<string, string>> | null; outcome: string }>>`
    SELECT r.annotations, a.outcome FROM runs r JOIN attempts a ON a.id = r.attempt_id ORDER BY a.created_at`

/** `appear` lets Asterisk place the calls, which happens after `meanwhile` at the latest. Returns when the engine could first learn of them. */
const check = async (
  t: Test,
  meanwhile: (world: World, asterisk: AriEmulator, appear: () => void) => Promise<number> = async () => 0,
  ending = "11"
) => {
  const { asterisk, proxy, world } = await behindProxy(t)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  t.teardown(release)
  proxy.befall(fates.holdUntil(released), isDial, 2)
  const { id } = await world.campaign([...numbersOf(2, [ending]), ...numbersOf(3, ["01"], "+1556")], { max_concurrency: 2 })
  await world.api.start(id)
  await untilTrue("requests that are held", () => proxy.exchanges.filter(({ fate }) => fate.startsWith("held")).length === 2)
  // As long as a phone may ring.
  await world.engine.forward(300_000)
  await untilTrue(
    "attempts that were written off",
    async () => (await attemptsOf(world.sql, id)).filter(({ outcome }) => outcome === "unknown").length === 2
  )
  const lateness = watchLateness()
  const heardFrom = await meanwhile(world, asterisk, release)
  release()
  const isLate = ({ number }: { readonly number: string }) => number.endsWith(ending)
  const lateEnds = () => asterisk.log.entries.filter((entry) => entry.kind === "ended" && isLate(entry)).length
  await untilTrue("late calls that were ended", () => lateEnds() >= 2)
  const late = asterisk.log.entries.filter(isLate)
  const firstEnd = late.find(({ kind }) => kind === "ended")?.at ?? 0
  t.strictSame(
    asterisk.log.entries.filter((entry) => entry.kind === "originate" && !isLate(entry) && entry.at < firstEnd),
    [],
    "then nobody else is dialed while they may still appear"
  )
  const lives = late
    .filter(({ kind }) => kind === "originate")
    .map(
      ({ at, channelId }) =>
        (late.find((entry) => entry.kind === "ended" && entry.channelId === channelId)?.at ?? Infinity) - Math.max(at, heardFrom)
    )
  t.ok(
    lives.every((millis) => millis < lateness.allow(5000)),
    `then each is hung up within 5 s: ${lives.map(Math.round).join(", ")}`
  )
  t.strictSame([...new Set(late.flatMap(({ by, kind }) => (kind === "ended" ? [by] : [])))], ["us"])
  await world.api.untilState(id, "completed")
  t.ok(asterisk.log.mostLive() <= 2, `then the cap holds: ${asterisk.log.mostLive()}`)
  t.strictSame([...asterisk.log.dialsByNumber().values()], [1, 1, 1, 1, 1], "then everybody is called once")
  const runs = await runsOf(world)
  t.strictSame(
    runs.map(({ outcome }) => outcome),
    ["unknown", "unknown", "answered", "answered", "answered"]
  )
  t.match(
    runs.slice(0, 2).map(({ annotations }) => annotations?.["late_call"]),
    Array.from({ length: 2 }, () => ({ appeared_at: /^2/, ended_at: /^2/ })),
    "then their runs say so"
  )
  const metrics = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
  t.equal(metrics.values.get("calls_late_total"), 2, "then they are counted")
}

const trunkIsUp = (world: World) =>
  untilTrue("trunk that is up", async () => {
    const { body } = await world.api.ask("GET", "/organizations/telephony-trunks")
    return JSON.stringify(body).includes('"up"')
  })

t.test("given requests that Asterisk holds until their attempts are written off", { buffered: true }, (t) => check(t))

t.test("given the same, and an engine that is killed in the meantime", { buffered: true }, (t) =>
  check(t, async (world) => {
    await world.end("SIGKILL")
    await world.launch()
    await trunkIsUp(world)
    return 0
  })
)

t.test("given the same, and phones that start to ring while there is no engine, so that only a list shows them", { buffered: true }, (t) =>
  check(
    t,
    async (world, asterisk, appear) => {
      await world.end("SIGKILL")
      appear()
      await untilTrue("phones that ring", () => asterisk.log.count("ringing") === 2)
      await world.launch()
      await trunkIsUp(world)
      return nowMillis()
    },
    "03"
  )
)

t.test(
  "given conversations whose audio ends, when the provider reports some seconds later that they are over",
  { buffered: true },
  async (t) => {
    const world = await World.open(t, { emulator: { ringMillis: 200, talkMillis: 7000 } })
    const { api, emulator } = world
    const circuit_breaker = { enabled: true, failure_threshold: 0.1, min_calls_in_window: 1 }
    const { id } = await world.campaign(numbersOf(3, ["01"]), { circuit_breaker })
    // All callees answer at the same time, because one who answered long after the others would stay longer than we wait.
    emulator.letRing(true)
    // However long the machine takes to connect the audio, nobody hangs up before.
    emulator.letTalk(true)
    await api.start(id)
    await world.seen("ringing", 3)
    emulator.letRing(false)
    await world.seen("answered", 3)
    const channels = emulator.log.entries.filter(({ kind }) => kind === "answered").map(({ channelId }) => channelId)
    await untilTrue("audio", () => channels.every((channel) => emulator.log.audio(channel).received > 0))
    emulator.dropMediaSockets()
    emulator.letTalk(false)
    await api.untilState(id, "completed")
    t.strictSame([...new Set((await placedBy(world.sql, id)).map(({ outcome }) => outcome))], ["answered"], "then they were answered")
    t.strictSame(
      emulator.log.entries.flatMap(({ by, kind }) => (kind === "ended" ? [by] : [])),
      ["callee", "callee", "callee"],
      "then we end none of them"
    )
  }
)

t.test("given a conversation whose audio ends, when the callee is still there, then we hang up", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: { ringMillis: 200 } })
  const { api, emulator } = world
  const { id } = await world.campaign(numbersOf(1, ["11"]))
  await api.start(id)
  await world.seen("answered", 1)
  await untilTrue("audio", () => emulator.log.audio(emulator.log.entries[0]?.channelId ?? "").received > 0)
  emulator.dropMediaSockets()
  await world.seen("ended", 1)
  await api.untilState(id, "completed")
  t.match(await placedBy(world.sql, id), [{ cause: "media_failure", outcome: "error" }])
})

t.test("given two engines with databases of their own, and another client, on one Asterisk", { buffered: true }, async (t) => {
  const { asterisk, proxy, world: ours } = await behindProxy(t)
  const theirs = await World.open(t, {
    account: { ari_endpoint: asterisk.url, app_name: asterisk.user, app_password: asterisk.password },
    environment: { NODE_NAME: "elsewhere", RECORDINGS: "off" }
  })
  const { id } = await theirs.campaign(numbersOf(2, ["11"]))
  await theirs.api.start(id)
  await untilTrue("their calls", () => asterisk.log.count("answered") >= 2)
  const query = new URLSearchParams({ app: "dialer", channelId: randomUUID(), endpoint: "PJSIP/+15570000011@trunk", timeout: "600" })
  const authorization = `Basic ${Buffer.from(`${asterisk.user}:${asterisk.password}`).toString("base64")}`
  const placed = await fetch(`${asterisk.url}/ari/channels?${query}`, { headers: { authorization }, method: "POST" })
  t.equal(placed.status, 200)
  const lists = () =>
    proxy.exchanges.filter(({ method, path, status }) => method === "GET" && path === "/ari/channels" && status === 200).length
  // Each start and each reconnect lists all calls, and so does the sweep.
  for (const restart of [() => ours.end("SIGKILL").then(() => ours.launch()), async () => asterisk.dropSockets()]) {
    const before = lists()
    await restart()
    const campaign = await ours.campaign(numbersOf(1, ["02"], "+1558"))
    await ours.api.start(campaign.id)
    await untilTrue("a list of what there is", () => lists() > before)
    await ours.api.untilState(campaign.id, "completed")
  }
  t.strictSame(
    asterisk.log.entries.filter(({ kind, number }) => kind === "ended" && number.endsWith("11") && !number.startsWith("+1557")),
    [],
    "then their calls go on"
  )
  t.strictSame(
    // Whether the configuration may hang up at all is tested on a channel that never exists.
    proxy.exchanges.filter(({ method, path }) => method === "DELETE" && !path.includes("/bridges/") && !path.endsWith("/trunkline-nobody")),
    [],
    "then we hang nothing up"
  )
})
