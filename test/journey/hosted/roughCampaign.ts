/**
 * A campaign of 150 contacts at 20 calls per second through two engines and a carrier with which everything goes wrong that can: callbacks are
 * repeated, out of order and up to 10 s late, replies are lost, requested calls are never placed, and each engine is killed once. Carriers and
 * clients connect to a random one of the engines.
 */
import t, { type Test } from "tap"
import { mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import { eventsOf, numbersOf, untilTrue } from "#test/support/engine.ts"
import { type Carrier, carriers } from "#test/support/hostedCarriers.ts"
import { seeded } from "#test/support/seeded.ts"
import { until } from "#test/support/until.ts"
import { callIdOf, reasons, storiesOf, toldOf, unplacedOf, untoldOf } from "./doubts.ts"
import { departuresOf, type Engines, kill, type Kill, openEngines } from "./engines.ts"
import { type Evidence, judge, rules } from "./judge.ts"
import { type ReportRow, reportOf } from "./reportOf.ts"

const contacts = 150
const rate = 20
/** Lower than the number of calls that would be up at that rate. */
const cap = 30
/** Most talk; some are busy, do not answer, or hang up at once; a few cannot be called at all. `Callee.ts` says what each ending does. */
const endings = ["01", "02", "16", "01", "13", "05", "01", "12", "08", "01", "06", "02", "16", "01", "03", "07", "01", "12", "09", "01"]
const prefix = "+1556"
const far = { ringMillis: 500, talkMillis: 3000 }
/** If set, every request places a call: replies are lost, but something is reported about each call, so that none may stay in doubt. */
const isPlacedAlways = process.env["PLACES"] === "all"
const shares = { lost: 0.05, neverPlaced: isPlacedAlways ? 0 : 0.01, repeated: 0.3 }
const latestMillis = 10_000
/** With these, each engine gets the audio of its calls at a port of its own, instead of through the balancer and the one that decides. */
const straight: ReadonlySet<string> = new Set(["Plivo"])

/** The first ones are people who talk, and more than may be up at once. */
const talkersFirst = 1.5 * cap
const people = (): ReadonlyArray<string> => {
  const all = numbersOf(contacts, endings, prefix)
  const talkers = new Set(all.filter((number) => number.endsWith("01")).slice(0, talkersFirst))
  return [...talkers, ...all.filter((number) => !talkers.has(number))]
}

/** Causes trouble from now on. */
const trouble = ({ callbacks, places, server }: Carrier, draw: () => number): void => {
  const late = () => draw() * latestMillis
  callbacks.plan = () => ({ after: draw() < shares.repeated ? [late(), late()] : [late()], isAltered: false })
  server.fail({ acts: false, reply: "reset" }, (ask) => places(ask) && draw() < shares.neverPlaced, Number.POSITIVE_INFINITY)
  server.fail({ acts: true, reply: "reset" }, () => draw() < shares.lost, Number.POSITIVE_INFINITY)
}

/** Fails if the breaker trips, which would pause the campaign. */
const untilOver = ({ through }: Engines, id: number) =>
  until("end of the campaign", async () => {
    const campaign = await through.campaign(id)
    return campaign.state === "running" ? undefined : campaign
  })

/** Fewer if the carrier accepts so few per second that phones would stop ringing before there are more. */
const fullOf = (callsPerSecond: number) => Math.min(0.8 * cap, 2 * callsPerSecond)

/** Starts the campaign, lets it reach its cap, and kills each engine once: first the one that only carries calls, or the one that decides. */
const play = async (
  carrier: Carrier,
  engines: Engines,
  id: number,
  { callsPerSecond, draw }: { callsPerSecond: number; draw: () => number }
) => {
  const { nodes, through, world } = engines
  const [first, second] = [0.2 + 0.2 * draw(), 0.5 + 0.2 * draw()]
  const order = draw() < 0.5 ? (["carries calls", "dispatches"] as const) : (["dispatches", "carries calls"] as const)
  // However slow the machine, nobody hangs up before the cap is reached. A call that was never placed keeps its slot for a while.
  carrier.lives.letRing(true)
  await through.start(id)
  const isFull = () => carrier.log.live() > fullOf(callsPerSecond)
  // A very slow machine does not dial as many before the first phones stop ringing.
  await untilTrue("calls as many as may be up", () => isFull() || carrier.log.count("originate") > talkersFirst)
  carrier.lives.letRing(false)
  const kills: Array<Kill> = []
  for (const [at, share] of [first, second].entries()) {
    await until("its moment", () => (carrier.log.count("originate") >= contacts * share ? true : undefined))
    const { pid } = world.engine
    const node = await nodes.doing(order[at] ?? "dispatches")
    kills.push(await kill(carrier, engines, node, isPlacedAlways))
    // Clients are answered meanwhile.
    await through.campaign(id)
    if (order[at] === "dispatches") await nodes.untilReplaced(pid)
    // Started again, it gets its share of the next calls.
    await nodes.doing("carries calls")
  }
  const done = await untilOver(engines, id)
  await untilTrue("last hang-up", () => carrier.log.live() === 0)
  const journals = new Map(kills.flatMap((one) => [...one.journals]))
  return { done, journals, kills, left: await departuresOf(engines, kills) }
}

const liveCalls = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^\w*calls_live (\d+)$/m.exec(metrics)?.[1])
}

/** The audio finds the engine that has the call. */
const thenAudioArrives = (t: Test, { log }: Carrier, { urls }: Engines, rows: ReadonlyArray<ReportRow>, isStraight: boolean) => {
  const answered = log.entries.filter(({ kind }) => kind === "answered")
  const nodeOf = new Map(rows.filter(({ outcome }) => outcome === "answered").map(({ node, number }) => [number, node]))
  for (const [name, url] of urls) {
    const its = answered.filter(({ number }) => nodeOf.get(number) === name).map(({ channelId }) => channelId)
    // Not all: some hang up at once, and the first words of a process come late on a busy machine.
    const reached = its.filter((channelId) => log.audio(channelId).received > 0)
    t.ok(reached.length > 0, `then the audio of ${name} reaches its callees: ${reached.length} of ${its.length}`)
    // None is opened for those who hang up before the carrier gets to it.
    const sockets = its.flatMap((channelId) => log.mediaUrls.get(channelId) ?? [])
    const there = sockets.filter((socket) => socket.startsWith(`${url.replace("http", "ws")}/`))
    t.equal(there.length, isStraight ? sockets.length : 0, `straight if it has a MEDIA_URL: ${isStraight}`)
  }
}

export const roughCampaign = (name: keyof typeof carriers): void => {
  const seed = Number(process.env["SEED"] ?? 1)
  // If this is lower than what the engines send, the carrier refuses some.
  const callsPerSecond = Number(process.env["TAKES"] ?? rate)
  t.test(`given ${name}, a rough line, two engines, and a kill of each in the middle of a campaign (seed ${seed})`, async (t: Test) => {
    const draw = seeded(seed)
    const carrier = await carriers[name]?.(t, { ...far, callsPerSecond })
    if (carrier === undefined) throw new Error(`no carrier ${name}`)
    const isStraight = straight.has(name)
    // Only an engine that is dead is replaced, and not one that is late on a busy machine.
    const environment = { CALL_RATE: String(rate), ORG_CONCURRENCY: String(3 * cap), TAKEOVER_AFTER: "300", TRUNK_RATE: String(rate) }
    const engines = await openEngines(t, carrier, { environment, isStraight, seed })
    const { nodes, urls, world } = engines
    trouble(carrier, draw)
    const { id } = await world.campaign(people(), {
      circuit_breaker: { enabled: true, failure_threshold: 0.5, min_calls_in_window: 20 },
      max_concurrency: cap,
      // The shortest that the API allows.
      retry: { maxRetries: 1, retryDelaySeconds: 30 }
    })
    const { done, journals, kills, left } = await play(carrier, engines, id, { callsPerSecond, draw })
    const rows = await reportOf(world, id)
    const lost = kills.map(({ calls }) => calls)
    const wasLost = (callId: string) => lost.some((calls) => calls.has(callId))
    const abandoned = rows.flatMap(({ callId, outcome }) => (outcome === "unknown" && wasLost(callId) ? [callId] : []))
    // An engine that was late puts a request off, although its line is in the journal.
    const unplaced = unplacedOf(carrier, [...left.keys()].filter(wasLost), abandoned)
    const cuts = isStraight ? [] : kills
    const evidence: Evidence = { cap, cuts, entries: carrier.log.entries, lost, rows, unplaced, untold: untoldOf(carrier) }
    t.comment(`${rows.length} attempts, ${unplaced.size} never placed`)
    for (const { calls, node } of kills) {
      const outcomes = Map.groupBy(
        rows.filter(({ callId }) => calls.has(callId)),
        ({ outcome }) => outcome
      )
      t.comment(`${node} had ${calls.size} calls: ${[...outcomes].map(([outcome, all]) => `${all.length} ${outcome}`).join(", ")}`)
    }
    for (const story of await storiesOf(carrier, world, id, { journals, killedAt: kills[0]?.at ?? 0, unplaced })) t.comment(story)
    const findings = judge(evidence)
    for (const rule of rules)
      t.strictSame(
        findings.filter((one) => one.rule === rule).map(({ what }) => what),
        [],
        `then ${rule}`
      )

    // The carrier may refuse a request that arrives too early, and its reply may be lost as well: then no phone ever rings.
    const unknown = [...unplaced].filter(([, reason]) => reason !== reasons.refused && reason !== reasons.unsent)
    if (isPlacedAlways) t.strictSame(unknown, [], "then the outcome of every call that the carrier accepted is known")

    const departures = [...left.values()].toSorted((a, b) => a - b)
    const requested = carrier.server.requests.filter(carrier.places).map(callIdOf)
    t.equal(new Set(requested).size, requested.length, "then each request is for an attempt of its own")
    const unwritten = requested.filter((callId) => !left.has(callId))
    t.strictSame(unwritten, [], "then each is in the journal of its process")
    const areCounted = rows.filter(({ isBreakerFailure }) => isBreakerFailure).length > contacts / 20
    t.ok(areCounted, "then the breaker has counted the callees that cannot be reached")
    const most = mostWithin(departures, 1000)
    t.ok(most <= rate, `then at most ${rate} calls leave in any second: ${most}`)
    t.comment(`${toldOf(carrier).refused.length} requests were refused, and the engine was told`)
    thenAudioArrives(t, carrier, engines, rows, isStraight)
    const events = eventsOf(done)
    t.equal(done.state, "completed")
    t.equal(events["circuit_breaker_tripped"], undefined, "then the breaker has no reason to trip")
    t.equal(events["recovery_completed"], 1)
    t.equal(events["attempt_written_off"] ?? 0, rows.filter(({ outcome }) => outcome === "unknown").length)
    const outputs = world.output() + nodes.process(await nodes.doing("carries calls")).output()
    const errors = outputs.split("\n").filter((line) => /level=ERROR/i.test(line) || line.includes("internal_error"))
    t.strictSame(errors, [], "then no engine has logged an error of its own")
    const { completed, failed, total } = await world.api.progress(id)
    t.strictSame({ done: completed + failed, total }, { done: contacts, total: contacts }, "then nobody is forgotten")
    for (const [engine, url] of urls) t.equal(await liveCalls(url), 0, `then ${engine} has no calls left`)
  })
}
