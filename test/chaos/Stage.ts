/**
 * The stage of a chaos story: an engine, an emulated Asterisk and a database, with a proxy in front of each, two campaigns that share phone
 * numbers, and a record of everything that was done to them.
 */
import type { Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { type Campaign, numbersOf, World } from "#test/support/engine.ts"
import { type Fate, fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { type PostgresProxy, startPostgresProxy } from "#test/support/PostgresProxy.ts"
import type { EngineProcess } from "#test/support/EngineProcess.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import { nowMillis, until, untilTrue } from "#test/support/until.ts"
import { seeded } from "#test/support/seeded.ts"
import type { Connection } from "#test/support/TcpProxy.ts"
import type { Named, Span } from "./Evidence.ts"
import { Nodes } from "./Nodes.ts"

export interface ChaosOptions {
  readonly seed: number
  readonly contacts: number
  readonly minutes: number
  /** How many engines there are. One unless given. */
  readonly nodes?: number
  /** How many calls the organization may have at once. */
  readonly cap?: number
  /** How many kills there are at least, spread evenly over the time. */
  readonly kills?: number
  /** Gets every event of the story as it happens. */
  readonly say?: (line: string) => void
}

/** People who talk, who hang up, who are busy or absent, and lost lines; see the emulator's `Callee.ts`. */
const endings = ["01", "01", "02", "10", "06", "01", "13", "12", "01", "05"]
const usualCap = 15
/** The shares of the organization's cap that the campaigns may use. */
const capParts = { big: 0.8, small: 1 / 3 }
/** The share of the contacts in the small campaign; half of those numbers are in the big one as well. */
const smallPart = 0.2
/** The share of the time in which the contacts are dialed if nothing goes wrong. */
const busyPart = 0.2
/** A closed window of the big campaign in the past: only a clock that is set back gets there. */
const closedAgo = { fromMinutes: 40, untilMinutes: 30 }
const beatMillis = 100
/** A beat that comes this much later means that the machine was busy. */
const stallMillis = 250
/** Generous, because what is done to the engine may keep it from answering. */
const askMillis = 120_000

const during = async (spans: Array<Named>, name: string, run: () => Promise<unknown>): Promise<void> => {
  const from = nowMillis()
  await run()
  spans.push({ from, name, until: nowMillis() })
}

interface Member {
  readonly id: number
  readonly cap: number
  readonly pauses: Array<Span>
  readonly closed: Array<Span>
}

export class Stage {
  static async open(t: Test, options: ChaosOptions): Promise<Stage> {
    const open: { asterisk?: HttpProxy; database?: PostgresProxy } = {}
    const { nodes = 1 } = options
    const redis = nodes > 1 && (await redisUnavailable()) === undefined ? await startRedis(t) : undefined
    const together = { FILES_DIR: temporaryFolder(t), SECRETS_KEY: "5".repeat(64), TAKEOVER_AFTER: "5" }
    const shared = nodes === 1 ? {} : { ...together, ...(redis === undefined ? {} : { REDIS_URL: redis.url }) }
    const world = await World.open(t, {
      configurations: { max_call_duration: 60 },
      emulator: { ringMillis: 600, seed: options.seed, talkMillis: 900 },
      environment: { DRAIN: "2", ORG_CONCURRENCY: String(options.cap ?? usualCap), RECORDINGS: "off", ...shared },
      ways: {
        asterisk: async (url) => (open.asterisk = await HttpProxy.start(url)).url,
        database: async (url) => (open.database = await startPostgresProxy(url)).url
      }
    })
    const { asterisk, database } = open
    if (asterisk === undefined || database === undefined) throw new Error("the engine was given no proxies")
    t.teardown(() => Promise.all([asterisk.stop(), database.stop()]))
    const stage = new Stage(t, world, asterisk, database, options)
    stage.redis = redis
    await stage.#prepare(options)
    if (nodes > 1) stage.nodes = await Nodes.start(t, world, nodes, (line) => stage.say(line))
    return stage
  }

  readonly world: World
  /** Undefined: there is one engine. */
  nodes: Nodes | undefined
  /** Undefined: there is one engine, or Redis is not available on this machine. */
  redis: Awaited<ReturnType<typeof startRedis>> | undefined
  /** How many calls the organization may have at once. */
  readonly cap: number
  readonly asterisk: HttpProxy
  readonly database: PostgresProxy
  readonly chance: () => number
  readonly campaigns: Array<Member> = []
  readonly deaf: Array<Named> = []
  readonly stalls: Array<Named> = []
  readonly kills: Array<number> = []
  readonly cuts: Array<number> = []
  /** How often the engine was stopped in an orderly way. */
  stops = 0
  /** Everything that happened, in the words of the report. */
  readonly diary: Array<string> = []
  readonly #say: (line: string) => void
  readonly #began = nowMillis()

  private constructor(
    t: Test,
    world: World,
    asterisk: HttpProxy,
    database: PostgresProxy,
    { cap = usualCap, say = () => {}, seed }: ChaosOptions
  ) {
    this.cap = cap
    this.world = world
    this.asterisk = asterisk
    this.database = database
    this.chance = seeded(seed)
    this.#say = say
    let beat = nowMillis()
    const heart = setInterval(() => {
      const now = nowMillis()
      if (now - beat > beatMillis + stallMillis) this.stalls.push({ from: beat, name: "the machine was busy", until: now })
      beat = now
    }, beatMillis)
    t.teardown(() => clearInterval(heart))
  }

  say(line: string): void {
    const entry = `${((nowMillis() - this.#began) / 1000).toFixed(1).padStart(6)} s  ${line}`
    this.diary.push(entry)
    this.#say(entry)
  }

  /** A random number between the two. */
  between(least: number, most: number): number {
    return Math.round(least + this.chance() * (most - least))
  }

  /** Runs something that keeps the engine from hearing anything; `name` is what it explains. */
  deafened(name: string, run: () => Promise<unknown>): Promise<void> {
    return during(this.deaf, name, run)
  }
  /** Runs something that keeps the engine from its database: calls continue, but nobody can look up whose they are. */
  unrecorded(name: string, run: () => Promise<unknown>): Promise<void> {
    return during(this.stalls, name, run)
  }

  /** Resolves when the callees' log has this many more entries, or after this much time. */
  async progress(entries: number, millis: number): Promise<void> {
    const { log } = this.world.emulator
    const goal = log.entries.length + entries
    await untilTrue("progress", () => log.entries.length >= goal, millis).catch(() => {})
  }

  /** Cuts connections to Asterisk. */
  cut(which?: (connection: Connection) => boolean): void {
    this.cuts.push(nowMillis())
    this.asterisk.tcp.cut(which)
  }

  befall(fate: Fate, count: number): void {
    this.asterisk.befall(fate, ({ method, path }) => method === "POST" && path.startsWith("/ari/channels?"), count)
  }

  async registered(pid: number | undefined): Promise<number> {
    const [row] = await this.world.sql<Array<{ count: number }>>`
      SELECT count(*)::int FROM leaving_engines WHERE process LIKE ${`% ${pid} %`}`
    return row?.count ?? 0
  }

  /** Does something that ends a call node, and waits until it is gone and none of its calls is up: nobody is told how those end. */
  async endCallNode(node: EngineProcess, run: () => Promise<void>): Promise<void> {
    const { emulator, sql } = this.world
    const [row] = await sql<Array<{ journal: string }>>`SELECT journal FROM leaving_engines WHERE process LIKE ${`% ${node.pid} %`}`
    await run()
    await node.exited
    await untilTrue("the end of what it had", async () => (await this.registered(node.pid)) === 0)
    await untilTrue("the ends of its calls", async () => {
      const calls = await sql<Array<{ id: string }>>`
        SELECT id FROM attempts WHERE journal = ${row?.journal ?? null}::uuid AND state IN ('sent', 'answered')`
      const ended = new Set(emulator.log.entries.flatMap(({ channelId, kind }) => (kind === "ended" ? [channelId] : [])))
      const begun = new Set(emulator.log.entries.map(({ channelId }) => channelId))
      return calls.every(({ id }) => ended.has(id) || !begun.has(id))
    })
  }

  async clearSky(): Promise<void> {
    const { asterisk, database, world } = this
    asterisk.fateOf = () => fates.pass
    asterisk.tcp.delayMillis = 0
    database.delayCommits(0)
    database.loseCommits("reply", 0)
    world.emulator.delayEvents(0)
    for (const { tcp } of [asterisk, database]) {
      await tcp.refuse(false)
      tcp.thaw()
    }
  }

  /** Repeats a request until it is answered: what is done to the engine may keep it from answering. */
  async insist<A>(what: string, ask: () => Promise<A | undefined>): Promise<A> {
    return await until(what, () => ask().catch(() => undefined), askMillis)
  }

  /** Returns the index of the pause, or undefined if the campaign no longer runs. */
  async pause({ id, pauses }: Member): Promise<number | undefined> {
    const status = await this.insist("answer to a pause", async () => {
      const answer = await this.world.api.ask("POST", `/campaign/${id}/pause`)
      return answer.status === 200 || answer.status === 409 ? answer.status : undefined
    })
    if (status !== 200) return undefined
    return pauses.push({ from: nowMillis(), until: Number.POSITIVE_INFINITY }) - 1
  }
  async resume({ id, pauses }: Member, pause: number): Promise<void> {
    const known = pauses[pause]
    if (known !== undefined) pauses[pause] = { ...known, until: nowMillis() }
    await this.insist("answer to a resume", async () => {
      const { status } = await this.world.api.ask("POST", `/campaign/${id}/resume`)
      return status === 200 || status === 409 ? status : undefined
    })
  }

  /** Resumes campaigns that the engine itself paused, as an operator would. Returns how many have completed. */
  async tend(): Promise<number> {
    let completed = 0
    for (const { id } of this.campaigns) {
      const campaign = await this.insist<Campaign>("campaign", () => this.world.api.campaign(id))
      if (campaign.state === "completed") completed++
      if (campaign.state !== "paused") continue
      this.say(`campaign ${id} is resumed after: ${campaign.logs.at(-1)?.event}`)
      await this.insist("resume", () => this.world.api.resume(id))
    }
    return completed
  }

  /** How often each event is in the log of a campaign; the API shows only the newest entries. */
  async eventsOf(id: number): Promise<Readonly<Record<string, number>>> {
    const rows = await this.world.sql<Array<{ event: string; count: number }>>`
      SELECT event, count(*)::int FROM campaign_log WHERE campaign_id = ${id} GROUP BY event ORDER BY min(id)`
    return Object.fromEntries(rows.map(({ count, event }) => [event, count]))
  }
  async told(): Promise<ReadonlyArray<string>> {
    const lines = this.campaigns.map(async ({ id }) => {
      const events = Object.entries(await this.eventsOf(id)).map(([event, count]) => `${count} ${event}`)
      return `in the log of campaign ${id}: ${events.join(", ")}`
    })
    return await Promise.all(lines)
  }

  /** How far back the middle of the closed window is. */
  sinceClosedMillis(): number {
    const { fromMinutes, untilMinutes } = closedAgo
    return Math.round(nowMillis() - this.#began) + ((fromMinutes + untilMinutes) / 2) * 60_000
  }

  async #prepare({ contacts, minutes }: ChaosOptions): Promise<void> {
    const { sql } = this.world
    // The database's own clock records when attempts begin and end, because the engine's is set forward and back.
    await sql.unsafe(`
      CREATE TABLE chaos_changes (id uuid, state text, at timestamptz);
      CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN INSERT INTO public.chaos_changes VALUES (NEW.id, NEW.state, clock_timestamp()); RETURN NULL; END $$;
      CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE OF state ON attempts FOR EACH ROW EXECUTE FUNCTION chaos_note();`)
    const small = Math.round(contacts * smallPart)
    const big = numbersOf(contacts - small, endings)
    // Half of the small campaign's numbers are in the big one too, the other half are not.
    const shared = big.filter((_, index) => index % Math.ceil((2 * big.length) / small) === 0).slice(0, small / 2)
    const perSecond = contacts / (minutes * 60 * busyPart)
    const members = [
      { cap: Math.round(this.cap * capParts.big), numbers: big, part: 1 - smallPart, schedule: closedWindow(this.#began) },
      {
        cap: Math.round(this.cap * capParts.small),
        numbers: [...shared, ...numbersOf(small - shared.length, endings, "+1666")],
        part: smallPart,
        schedule: null
      }
    ]
    for (const { cap, numbers, part, schedule } of members) {
      const { id } = await this.world.campaign(numbers, { max_concurrency: cap, schedule_config: schedule })
      await sql`UPDATE campaigns SET rate_limit = ${Math.max(1, Math.round(perSecond * part))} WHERE id = ${id}`
      this.campaigns.push({ cap, closed: [], id, pauses: [] })
    }
  }
}

/** Open all week except for ten minutes of each day. */
const closedWindow = (now: number) => {
  const minuteOf = (ago: number) => Math.floor((now / 60_000 - ago) % 1440)
  const time = (minute: number) => `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`
  const [from, to] = [minuteOf(closedAgo.fromMinutes), minuteOf(closedAgo.untilMinutes)]
  const open = from < to ? [[0, from] as const, [to, 1440] as const] : [[to, from] as const]
  const slots = open.filter(([start, end]) => start < end).map(([start, end]) => ({ start_time: time(start), end_time: time(end) }))
  return {
    enabled: true,
    slots: [0, 1, 2, 3, 4, 5, 6].flatMap((day_of_week) => slots.map((slot) => ({ day_of_week, ...slot }))),
    timezone: "UTC"
  }
}
