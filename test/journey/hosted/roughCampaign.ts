/**
 * A campaign of 150 contacts at 20 calls per second through a carrier with which everything goes wrong that can: callbacks are repeated, out
 * of order and up to 10 s late, replies are lost, requested calls are never placed, and the engine is killed in the middle.
 */
import t, { type Test } from "tap"
import { mostWithin, preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { eventsOf, numbersOf, untilTrue, type World } from "#test/support/engine.ts"
import { type Carrier, carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { leftAt } from "#test/support/leftAt.ts"
import { seeded } from "#test/support/seeded.ts"
import { nowMillis, until } from "#test/support/until.ts"
import { callIdOf, journaled, reasons, storiesOf, toldOf, unplacedOf, untoldOf } from "./doubts.ts"
import { type Evidence, judge, rules } from "./judge.ts"
import { reportOf } from "./reportOf.ts"

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

/** The first ones are people who talk, and more than may be up at once. */
const people = (): ReadonlyArray<string> => {
  const all = numbersOf(contacts, endings, prefix)
  const talkers = new Set(all.filter((number) => number.endsWith("01")).slice(0, 1.5 * cap))
  return [...talkers, ...all.filter((number) => !talkers.has(number))]
}

/** Causes trouble from now on. */
const trouble = ({ callbacks, places, server }: Carrier, draw: () => number): void => {
  const late = () => draw() * latestMillis
  callbacks.plan = () => ({ after: draw() < shares.repeated ? [late(), late()] : [late()], isAltered: false })
  server.fail({ acts: false, reply: "reset" }, (ask) => places(ask) && draw() < shares.neverPlaced, Number.POSITIVE_INFINITY)
  server.fail({ acts: true, reply: "reset" }, () => draw() < shares.lost, Number.POSITIVE_INFINITY)
}

/**
 * Kills the engine while it waits for replies: one to a request that placed no call, if there are any, and at least one more. It has recorded
 * everything that it was told before, so it is certain what it cannot know.
 */
const kill = async (carrier: Carrier, world: World): Promise<number> => {
  const { places, server } = carrier
  const mutedAt = nowMillis()
  server.mutes = places
  if (!isPlacedAlways) server.fail({ acts: false, reply: "hang" }, places)
  const unheard = () => [...server.outcomes].filter(([ask, { isReplied }]) => places(ask) && ask.at > mutedAt && !isReplied)
  await untilTrue("requests whose replies do not come", () => unheard().length >= 2)
  await untilTrue("replies that are recorded", async () => {
    const { placed, refused } = toldOf(carrier)
    const open = await world.sql`
      SELECT id FROM attempts WHERE state NOT IN ('ended', 'void')
        AND (id = ANY(${refused}::uuid[]) OR (id = ANY(${placed}::uuid[]) AND provider_call_id IS NULL))`
    return open.length === 0
  })
  const killedAt = nowMillis()
  await world.end("SIGKILL")
  // Whoever asked is gone, even where the carrier replies only now, because the callee has just answered.
  const goneAt = preciseNow()
  server.mutes = (ask) => places(ask) && ask.at < goneAt
  return killedAt
}

/** Fails if the breaker trips, which would pause the campaign. */
const untilOver = (world: World, id: number) =>
  until("end of the campaign", async () => {
    const campaign = await world.api.campaign(id)
    return campaign.state === "running" ? undefined : campaign
  })

/** Fewer if the carrier accepts so few per second that phones would stop ringing before there are more. */
const fullOf = (callsPerSecond: number) => Math.min(0.8 * cap, 2 * callsPerSecond)

/** Starts the campaign, lets it reach its cap, and kills the engine. */
const play = async (
  carrier: Carrier,
  world: World,
  id: number,
  { callsPerSecond, draw }: { callsPerSecond: number; draw: () => number }
) => {
  const middle = contacts * (0.3 + 0.4 * draw())
  // However slow the machine, nobody hangs up before the cap is reached. A call that was never placed keeps its slot for a while.
  carrier.lives.letRing(true)
  await world.api.start(id)
  await untilTrue("calls as many as may be up", () => carrier.log.live() > fullOf(callsPerSecond))
  carrier.lives.letRing(false)
  await until("middle", () => (carrier.log.count("originate") >= middle ? true : undefined))
  const killedAt = await kill(carrier, world)
  const [journals, left] = [journaled(world), leftAt([world.dataDir])]
  await world.launch()
  const backAt = nowMillis()
  const done = await untilOver(world, id)
  await untilTrue("last hang-up", () => carrier.log.live() === 0)
  return { away: { from: killedAt, until: backAt }, done, journals, left: new Map([...left, ...leftAt([world.dataDir])]) }
}

const liveCalls = async (world: World): Promise<number> => {
  const metrics = await (await fetch(`${world.engine.url}/metrics`)).text()
  return Number(/^\w*calls_live (\d+)$/m.exec(metrics)?.[1])
}

export const roughCampaign = (name: keyof typeof carriers): void => {
  const seed = Number(process.env["SEED"] ?? 1)
  // If this is lower than what the engine sends, the carrier refuses some.
  const callsPerSecond = Number(process.env["TAKES"] ?? rate)
  t.test(`given ${name}, a rough line, and a kill in the middle of a campaign (seed ${seed})`, async (t: Test) => {
    const draw = seeded(seed)
    const carrier = await carriers[name]?.(t, { ...far, callsPerSecond })
    if (carrier === undefined) throw new Error(`no carrier ${name}`)
    const world = await openThrough(t, carrier, {
      environment: { CALL_RATE: String(rate), ORG_CONCURRENCY: String(3 * cap), TRUNK_RATE: String(rate) },
      greeting: "Good morning."
    })
    trouble(carrier, draw)
    const { id } = await world.campaign(people(), {
      circuit_breaker: { enabled: true, failure_threshold: 0.5, min_calls_in_window: 20 },
      max_concurrency: cap,
      // The shortest that the API allows.
      retry: { maxRetries: 1, retryDelaySeconds: 30 }
    })
    const { away, done, journals, left } = await play(carrier, world, id, { callsPerSecond, draw })
    const [rows, unplaced] = [await reportOf(world, id), unplacedOf(carrier, left.keys())]
    const { audioEnds, entries } = carrier.log
    const evidence: Evidence = { audioEnds, away, cap, entries, rows, unplaced, untold: untoldOf(carrier) }
    t.comment(`${rows.length} attempts, ${unplaced.size} never placed, away ${Math.round(away.until - away.from)} ms`)
    for (const story of await storiesOf(carrier, world, id, { journals, killedAt: away.from, unplaced })) t.comment(story)
    const findings = judge(evidence)
    for (const rule of rules)
      t.strictSame(
        findings.filter((one) => one.rule === rule).map(({ what }) => what),
        [],
        `then ${rule}`
      )

    // The carrier may refuse a request that arrives too early, and its reply may be lost as well: then no phone ever rings.
    const unknown = [...unplaced].filter(([, reason]) => reason !== reasons.refused)
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
    const events = eventsOf(done)
    t.equal(done.state, "completed")
    t.equal(events["circuit_breaker_tripped"], undefined, "then the breaker has no reason to trip")
    t.equal(events["recovery_completed"], 1)
    t.equal(events["attempt_written_off"] ?? 0, rows.filter(({ outcome }) => outcome === "unknown").length)
    const errors = world
      .output()
      .split("\n")
      .filter((line) => /level=ERROR/i.test(line) || line.includes("internal_error"))
    t.strictSame(errors, [], "then the engine has logged no error of its own")
    const { completed, failed, total } = await world.api.progress(id)
    t.strictSame({ done: completed + failed, total }, { done: contacts, total: contacts }, "then nobody is forgotten")
    t.equal(await liveCalls(world), 0, "then the engine has no calls left")
  })
}
