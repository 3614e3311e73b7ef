/**
 * How soon callees are spoken to, as they hear it: from the answer to the first frame that is louder than noise, when twenty calls a second
 * are answered whose greetings of eight seconds differ in a name and an amount. The control's greetings are all the same.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { columns, rowsOf, talksThenHangsUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"
import { type Figure, type Goal, quantile } from "./Figure.ts"

const callsPerSecond = 20
const ringMillis = 2000
const talkMillis = 9000
/** A callee who has heard nothing by then has missed it. */
const missedMillis = 2000

const common = "This is the clinic at the old market square, with a reminder about your account. An amount is still open."
const personal = `Hello {{first_name}}. ${common} It is {{amount}} dollars. Good bye.`
const identical = `Hello dear friend. ${common} It is 40 dollars. Good bye.`

const syllables = ["Ma", "Lo", "Ri", "Be", "Na", "To", "Sa", "Ke", "Du", "Vi"]
/** Names that are all different. */
const nameOf = (index: number): string => `${syllables[index % 10]}${syllables[Math.floor(index / 10) % 10]?.toLowerCase()}na`

const csvOf = (calls: number): string =>
  [
    columns,
    ...rowsOf(calls, talksThenHangsUp).map(([number = "", , city = "", order = ""], index) => [
      number,
      nameOf(index),
      city,
      order,
      String(index + 11)
    ])
  ]
    .map((cells) => cells.join(","))
    .join("\n")

interface Heard {
  /** The milliseconds from the answer, of callees who were spoken to. */
  readonly waits: ReadonlyArray<number>
  readonly missed: number
  /** Calls answered per second: fewer than were to be dialed if the engine held them back because speech was late. */
  readonly rate: number
}

const greeted = ({ quick }: Options, greeting: string, ring: number) =>
  Effect.gen(function* () {
    const calls = callsPerSecond * (quick ? 2 : 5)
    const emulator = yield* startEmulator({ media: true, ringMillis: ring, talkMillis })
    const engine = yield* startEngine(yield* startDatabase(), { environment: { ORG_CONCURRENCY: String(2 * calls) } })
    const agentId = yield* prepare(engine, emulator, greeting)
    const campaign = yield* createCampaign(engine, agentId, csvOf(calls), { max_concurrency: calls, rate_limit: callsPerSecond })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* emulator.until(({ live, originates }) => originates >= calls && live === 0)
    const answers = (yield* emulator.entries).filter(({ kind }) => kind === "answered")
    const spoken = yield* emulator.spoken
    const waits = answers.flatMap(({ at, channelId }) => {
      const heardAt = spoken.get(channelId)
      return heardAt === undefined ? [] : [heardAt - at]
    })
    const answeredAt = answers.map(({ at }) => at)
    const rate = (1000 * (answers.length - 1)) / (Math.max(...answeredAt) - Math.min(...answeredAt))
    const heard: Heard = { waits, rate, missed: answers.length - waits.filter((wait) => wait < missedMillis).length }
    return heard
  }).pipe(Effect.scoped)

const figuresOf = (name: string, heard: Heard, control: Heard | undefined, isJudged: boolean): ReadonlyArray<Figure> => {
  const figure = (label: string, unit: string, value: (of: Heard) => number, goal: Goal): Figure => ({
    name: `${name}, ${label}`,
    value: value(heard),
    unit,
    ...(isJudged ? { goal } : {}),
    ...(control === undefined ? {} : { control: value(control) })
  })
  return [
    figure("first audio p50", "ms", ({ waits }) => quantile(waits, 0.5), { atMost: 50 }),
    figure("first audio p99", "ms", ({ waits }) => quantile(waits, 0.99), { atMost: 500 }),
    figure("missed", "calls", ({ missed }) => missed, { atMost: 0 }),
    figure("answered", "calls/s", ({ rate }) => rate, { atLeast: 0.95 * callsPerSecond })
  ]
}

export const greetings: Benchmark = {
  name: "greetings",
  run: Effect.fnUntraced(function* (options) {
    const own = yield* greeted(options, personal, ringMillis)
    const control = yield* greeted(options, identical, ringMillis)
    const atOnce = yield* greeted(options, personal, 0)
    return [...figuresOf("greetings", own, control, true), ...figuresOf("greetings answered without ringing", atOnce, undefined, false)]
  })
}
