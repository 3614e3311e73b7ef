/**
 * What a console costs, and how current it is, while an engine has a hundred calls up. In a real browser: from an event in the engine, as the database has
 * dated it, to the frame that shows it in "Just happened", and the first paint of `/console`. Then the engine's CPU time with a hundred consoles, each of which
 * follows the events and reads again what the page in the browser was seen to read; the control is the same engine without any console. Where they make
 * fewer requests than their control, the machine is too busy for their pace, and they cost more than was measured.
 */
import { Console, Effect } from "effect"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import type { Page } from "#test/support/chromium.ts"
import { until } from "#test/support/until.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { openBrowser, signIn } from "./Browser.ts"
import { type Child, judging, startChild } from "./Child.ts"
import type { Asked, Counted, Reading } from "./consolesMain.ts"
import { csvOf } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import { type Figure, quantile } from "./Figure.ts"
import { cpuSecondsOf } from "./Measures.ts"
import { postgresSecondsOf } from "./TreeCpu.ts"

const calls = 100
const consoles = 100
const callSeconds = 10
/** The part of these ten seconds in which the phone rings. */
const ringMillis = 1000
/** More than are dialed during the benchmark. */
const contacts = 10_000
/** All calls begin at once: until they end and begin evenly. */
const EVENLY = "15 seconds"
/** Until the consoles have read everything for the first time. */
const SETTLED = "3 seconds"
const loads = 5
/** For the cost of one reading: few consoles, so that their events cost little, that read at each event. */
const hasty = { consoles: 4, readers: 10 }
const goals = { pixelMillis: { p50: 50, p99: 150 }, firstPaintMillis: 300, consolesPercent: 5 }

const sizeOf = ({ quick }: Options) => (quick ? { events: 200, seconds: 5 } : { events: 1000, seconds: 20 })

/** Milliseconds from the request for the page until the browser painted anything, and until it showed how many calls are up. */
const load = async (page: Page, site: string) => {
  // The same address with another fragment would load nothing.
  await page.open("about:blank")
  await page.open(`${site}/console#/now`)
  const shown = `new Promise((resolve) => {
    const look = () => (document.querySelector("#calls-up") === null ? requestAnimationFrame(look) : resolve(performance.now()))
    look()
  })`
  const complete = Number(await page.evaluate(shown))
  const painted = `performance.getEntriesByName("first-paint")[0]?.startTime`
  const first = Number(await until("first paint", () => page.evaluate(painted)))
  return { complete, first }
}

/** Milliseconds from each event's time to the frame in which its row is shown, for at least so many events. */
const pixels = async (page: Page, events: number): Promise<ReadonlyArray<number>> => {
  await page.text("section[aria-label='Just happened']")
  await page.evaluate(`(() => {
    window.late = []
    const rows = document.querySelector("section[aria-label='Just happened'] tbody")
    new MutationObserver((changes) => {
      const times = changes.flatMap(({ addedNodes }) => [...addedNodes]).flatMap((row) => row.querySelector?.("time") ?? [])
      if (times.length > 0) requestAnimationFrame(() => window.late.push(...times.map(({ dateTime }) => Date.now() - Date.parse(dateTime))))
    }).observe(rows, { childList: true })
  })()`)
  const measured = await until(
    `${events} events`,
    async () => (Number(await page.evaluate("window.late.length")) >= events ? page.evaluate("window.late") : undefined),
    600_000
  )
  // The expression above is a list of numbers.
  return measured as ReadonlyArray<number>
}

/** What the page reads again and again, and with what pauses: of full seconds, because something happens all the time. */
const readingsIn = (page: Page, seconds: number): ReadonlyArray<Reading> =>
  [...Map.groupBy(page.requests, ({ url }) => url.replace(/^.*\/api\/v1/, ""))]
    .filter(([path, made]) => !path.startsWith("/events/") && made.length > 1)
    .map(([path, made]) => ({ path, readers: 1, pauseMillis: 1000 * Math.max(1, Math.round(seconds / made.length)) }))

const seen = Effect.fnUntraced(function* (engine: Engine, options: Options) {
  const { key, port } = engine.address
  const site = `http://127.0.0.1:${port}`
  const page = yield* openBrowser
  return yield* Effect.promise(async () => {
    await signIn(page, site, key)
    const paints: Array<Awaited<ReturnType<typeof load>>> = []
    for (let times = 0; times < loads; times++) paints.push(await load(page, site))
    page.requests.splice(0)
    // The browser has also told that nobody was signed in at first.
    page.complaints.splice(0)
    const began = performance.now()
    const late = await pixels(page, sizeOf(options).events)
    const readings = readingsIn(page, (performance.now() - began) / 1000)
    if (page.complaints.length > 0) throw new Error(page.complaints.join("\n"))
    return { late, paints, readings }
  })
}, Effect.scoped)

interface Spent {
  /** Percent of a core. */
  readonly engine: number
  /** NaN except on Linux. */
  readonly postgres: number
  /** Per second. */
  readonly requests: number
  readonly events: number
}

interface Scene {
  readonly database: Database
  readonly engine: Engine
  readonly clients: Child
  readonly seconds: number
}

/** What is spent while these consoles are open. */
const spentWith = Effect.fnUntraced(function* (
  { clients, database, engine, seconds }: Scene,
  name: string,
  order: Pick<Asked, "consoles" | "readings">
) {
  yield* clients.ask<number>({ ...order, ...engine.address } satisfies Asked, "opened")
  yield* Effect.sleep(SETTLED)
  const look = Effect.all({
    engine: cpuSecondsOf(engine.child),
    postgres: Effect.map(postgresSecondsOf(database), (spent = Number.NaN) => spent),
    counted: clients.ask<Counted>({ count: true }, "counted"),
    at: Effect.sync(() => performance.now() / 1000)
  })
  const before = yield* look
  yield* Effect.sleep(`${seconds} seconds`)
  const after = yield* look
  const rate = (of: (looked: typeof after) => number) => (of(after) - of(before)) / (after.at - before.at)
  const spent: Spent = {
    engine: 100 * rate(({ engine }) => engine),
    postgres: 100 * rate(({ postgres }) => postgres),
    requests: rate(({ counted }) => counted.requests),
    events: rate(({ counted }) => counted.events)
  }
  yield* Console.error(
    `${name}: engine ${spent.engine.toFixed(1)} %, Postgres ${spent.postgres.toFixed(1)} %, ${spent.requests.toFixed(0)} requests/s, ${spent.events.toFixed(0)} events/s`
  )
  return spent
})

/** The control of the requests is one after each pause, which is the most that consoles make. */
const figuresOf = (
  { late, paints, readings }: Effect.Success<ReturnType<typeof seen>>,
  {
    each,
    full,
    streams,
    without
  }: {
    readonly without: Spent
    readonly streams: Spent
    readonly full: Spent
    readonly each: ReadonlyArray<readonly [path: string, Spent]>
  }
): ReadonlyArray<Figure> => [
  { name: "consoles: event to pixel, p50", value: quantile(late, 0.5), unit: "ms", goal: { atMost: goals.pixelMillis.p50 } },
  { name: "consoles: event to pixel, p99", value: quantile(late, 0.99), unit: "ms", goal: { atMost: goals.pixelMillis.p99 } },
  {
    name: "consoles: first paint",
    value: quantile(
      paints.map(({ first }) => first),
      0.5
    ),
    unit: "ms",
    goal: { atMost: goals.firstPaintMillis }
  },
  {
    name: "consoles: calls shown",
    value: quantile(
      paints.map(({ complete }) => complete),
      0.5
    ),
    unit: "ms"
  },
  {
    name: `consoles: ${consoles} of them cost`,
    value: full.engine - without.engine,
    unit: "% of a core",
    goal: { atMost: goals.consolesPercent }
  },
  { name: "consoles: engine", value: full.engine, unit: "% of a core", control: without.engine },
  { name: "consoles: Postgres", value: full.postgres, unit: "% of a core", control: without.postgres },
  {
    name: "consoles: requests",
    value: full.requests,
    unit: "/s",
    control: consoles * readings.reduce((sum, { pauseMillis }) => sum + 1000 / pauseMillis, 0)
  },
  { name: "consoles, events only: engine", value: streams.engine, unit: "% of a core", control: without.engine },
  { name: "consoles, events only: each to each", value: (10 * (streams.engine - without.engine)) / streams.events, unit: "ms of CPU" },
  ...each.map(([path, { engine, requests }]) => ({
    name: `consoles: GET ${path}`,
    value: (10 * (engine - without.engine)) / requests,
    unit: "ms of CPU"
  }))
]

export const consolesBenchmark: Benchmark = {
  name: "consoles",
  run: (options) =>
    Effect.gen(function* () {
      ensureBuilt(consolePages)
      const database = yield* startDatabase(options)
      const emulator = yield* judging(startEmulator({ ringMillis, talkMillis: callSeconds * 1000 - ringMillis, seed: 1 }))
      const engine = yield* startEngine(database, { file: "measuredMain.ts" })
      const agentId = yield* prepare(engine, emulator)
      const campaign = yield* createCampaign(engine, agentId, csvOf(contacts), { max_concurrency: calls })
      yield* engine.post(`/campaign/${campaign}/start`)
      yield* emulator.until(({ live }) => live >= calls)
      yield* Effect.sleep(EVENLY)
      const browser = yield* seen(engine, options)
      // They keep their pace only if they get to run as often as the engine.
      const clients = yield* startChild({ file: "consolesMain.ts" })
      yield* clients.told("started")
      const scene: Scene = { clients, database, engine, seconds: sizeOf(options).seconds }
      const { readings } = browser
      const none = { consoles: 0, readings: [] }
      const first = yield* spentWith(scene, "no console", none)
      const streams = yield* spentWith(scene, "events only", { consoles, readings: [] })
      const full = yield* spentWith(scene, `${consoles} consoles`, { consoles, readings })
      const each = yield* Effect.forEach(readings, ({ path }) =>
        Effect.map(
          spentWith(scene, path, { consoles: hasty.consoles, readings: [{ path, readers: hasty.readers, pauseMillis: 0 }] }),
          (spent) => [path, spent] as const
        )
      )
      const last = yield* spentWith(scene, "no console", none)
      const without = { ...first, engine: (first.engine + last.engine) / 2, postgres: (first.postgres + last.postgres) / 2 }
      return figuresOf(browser, { each, full, streams, without })
    }).pipe(Effect.scoped)
}
