/**
 * Whether the list of a campaign with 10,000 contacts scrolls without a stutter, in a real browser, while the campaign dials: by the mouse's wheel from the
 * top to the bottom, as fast as the browser takes its turns, and then in jumps. Times are from frame to frame of the page; what is painted between two
 * frames of the page is not seen. The control is an empty list of the same length in an empty page, with the same turns of the wheel. On a busy machine,
 * frames tell more about its other work than about the page: compare CPU there.
 */
import { Console, Effect } from "effect"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import type { Page } from "#test/support/chromium.ts"
import { seeded } from "#test/support/seeded.ts"
import { until } from "#test/support/until.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { openBrowser, signIn } from "./Browser.ts"
import { judging } from "./Child.ts"
import { csvOf } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import { type Figure, quantile } from "./Figure.ts"

const calls = 10
const callSeconds = 10
const window = { width: 1280, height: 1000 }
/** CSS pixels: of a notch of the wheel, and of a row as the style sheet has it. */
const notch = 120
const rowHeight = 30
const jumps = 50
const turnsBetweenLooks = 20
/** Two frames of a screen with 60 in a second, and a frame more than that. */
const goals = { frameMillis: 34, textMillis: 50 }

interface Watched {
  readonly frames: ReadonlyArray<number>
  /** How long each of the times was in which a row was in sight that had no text, or was still being read. */
  readonly waits: ReadonlyArray<number>
  /** Turns of the wheel, and milliseconds of CPU that the page's main thread used for each. */
  readonly turns: number
  readonly millisEach: number
}

/** A script: notes each frame from now on. A list whose end is in sight although there are more contacts waits for them. */
const watching = (contacts: number) => `(() => {
  const box = document.querySelector(".long")
  box.scrollIntoView({ block: "center" })
  // Turns at its end would move the page.
  box.style.overscrollBehavior = "contain"
  const cellAt = (y) => document.elementFromPoint(box.getBoundingClientRect().left + 20, y)?.closest("td")
  const isShown = (y) => (cellAt(y)?.textContent ?? "") !== ""
  const isAtEnd = () => box.scrollTop + box.clientHeight >= box.scrollHeight - 1
  const isAll = () => Number(box.querySelector("table")?.ariaRowCount ?? 0) > ${contacts}
  window.isComplete = () => {
    const { bottom, top } = box.getBoundingClientRect()
    return isShown(top + ${1.5 * rowHeight}) && isShown(bottom - ${rowHeight}) && !(isAtEnd() && !isAll())
  }
  window.isOver = () => isAtEnd() && isAll()
  window.watched = { frames: [], waits: [] }
  let before
  let since
  const look = (now) => {
    if (before !== undefined) watched.frames.push(now - before)
    before = now
    if (!isComplete()) since ??= now
    else if (since !== undefined) {
      watched.waits.push(now - since)
      since = undefined
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})()`

/** A script: jumps there, and resolves with the milliseconds until the rows there have their text. */
const jumping = (top: number) => `new Promise((resolve) => {
  const began = performance.now()
  document.querySelector(".long").scrollTop = ${top}
  const look = () => (isComplete() ? resolve(performance.now() - began) : requestAnimationFrame(look))
  requestAnimationFrame(look)
})`

/** Resolves with how often the wheel was turned. Between two looks there is a second or less. */
const turned = async (page: Page, isOver: (turns: number) => Promise<boolean>): Promise<number> => {
  const at = await page.middleOf(".long")
  for (let turns = 0; ; turns += turnsBetweenLooks) {
    if (await isOver(turns)) return turns
    for (let turn = 0; turn < turnsBetweenLooks; turn++) await page.wheel(at, notch)
  }
}

const watched = async (page: Page, contacts: number, isOver: (turns: number) => Promise<boolean>): Promise<Watched> => {
  await page.evaluate(watching(contacts))
  const before = await page.cpuSeconds()
  const turns = await turned(page, isOver)
  const spent = (await page.cpuSeconds()) - before
  // Cast: the script above notes it.
  const noted = (await page.evaluate("watched")) as Pick<Watched, "frames" | "waits">
  return { ...noted, turns, millisEach: (1000 * spent) / turns }
}

const scrolled = async (page: Page, contacts: number) => {
  await page.text(".long tbody")
  const list = await watched(page, contacts, async () => (await page.evaluate("isOver()")) === true)
  const chance = seeded(1)
  const texts: Array<number> = []
  for (let jump = 0; jump < jumps; jump++) texts.push(Number(await page.evaluate(jumping(Math.floor(chance() * contacts) * rowHeight))))
  return { list, texts }
}

/** The same turns in a page where nothing has to be done for them. */
const emptyScrolled = async (page: Page, contacts: number, turns: number) => {
  await page.open("about:blank")
  await until("empty page", () => page.evaluate(`document.body !== null && location.href === "about:blank" ? true : undefined`))
  await page.evaluate(`document.body.innerHTML =
    '<section class="long" style="height: 60vh; overflow-y: auto"><div style="height: ${contacts * rowHeight}px"></div></section>'`)
  return await watched(page, contacts, async (made) => made === turns)
}

const seen = Effect.fnUntraced(function* ({ address: { key, port } }: Engine, campaign: number, contacts: number) {
  const site = `http://127.0.0.1:${port}`
  const page = yield* openBrowser
  return yield* Effect.promise(async () => {
    await page.appear(window.width, "light", window.height)
    await signIn(page, site, key)
    await page.open("about:blank")
    page.complaints.splice(0)
    await page.open(`${site}/console#/campaigns/${campaign}`)
    const { list, texts } = await scrolled(page, contacts)
    if (page.complaints.length > 0) throw new Error(page.complaints.join("\n"))
    return { list, texts, empty: await emptyScrolled(page, contacts, list.turns) }
  })
}, Effect.scoped)

const longest = (millis: ReadonlyArray<number>): number => Math.max(0, ...millis)

const figuresOf = ({ empty, list, texts }: Effect.Success<ReturnType<typeof seen>>): ReadonlyArray<Figure> => [
  {
    name: "scroll: frame, p99",
    value: quantile(list.frames, 0.99),
    unit: "ms",
    goal: { atMost: goals.frameMillis },
    control: quantile(empty.frames, 0.99)
  },
  { name: "scroll: frame, longest", value: longest(list.frames), unit: "ms", control: longest(empty.frames) },
  { name: "scroll: turn of the wheel", value: list.millisEach, unit: "ms of CPU", control: empty.millisEach },
  { name: "scroll: row in sight without its text, longest", value: longest(list.waits), unit: "ms", goal: { atMost: goals.textMillis } },
  { name: "scroll: rows in sight without their text", value: list.waits.length, unit: "times" },
  { name: "scroll: jump to text, p50", value: quantile(texts, 0.5), unit: "ms" },
  { name: "scroll: jump to text, longest", value: longest(texts), unit: "ms", goal: { atMost: goals.textMillis } }
]

const run = (options: Options) =>
  Effect.gen(function* () {
    const contacts = options.quick ? 2000 : 10_000
    ensureBuilt(consolePages)
    const database = yield* startDatabase(options)
    const emulator = yield* judging(startEmulator({ ringMillis: 1000, talkMillis: callSeconds * 1000, seed: 1 }))
    const engine = yield* startEngine(database)
    const agentId = yield* prepare(engine, emulator)
    const campaign = yield* createCampaign(engine, agentId, csvOf(contacts), { max_concurrency: calls })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* emulator.until(({ live }) => live >= calls)
    const { empty, list, texts } = yield* seen(engine, campaign, contacts)
    yield* Console.error(`${list.turns} turns of the wheel, ${list.frames.length} frames, ${empty.frames.length} of the empty page`)
    return figuresOf({ empty, list, texts })
  }).pipe(Effect.scoped)

export const scroll: Benchmark = { name: "scroll", run }
