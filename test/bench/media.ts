/**
 * How many calls with audio, recorded, one engine carries: more and more of them, until callees miss more than one frame in a thousand, or
 * the engine holds further calls back. Counted are the gaps that callees hear. The control sends each frame back as it comes, over the same
 * transport: it speaks, mixes and records nothing.
 */
import { Effect, Option } from "effect"
import { countOf, parse } from "#test/support/prometheus.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { startChild } from "./Child.ts"
import { csvOf, rowsOf, staysUntilHungUp } from "./Contacts.ts"
import { cpuSecondsOf } from "./Cpu.ts"
import { startDatabase } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import type { Figure } from "./Figure.ts"

const lostAtMost = 0.001
const ringMillis = 500
const callsPerSecond = 20
/** In which the calls of a step are answered, unless the engine holds them back. */
const ANSWERED = "20 seconds"
/** For a stretch of the greeting to be made, and what came late to be made up for. */
const SETTLE = "3 seconds"
const greeting = "Hello. This is the clinic at the old market square, with a reminder. Please call us back today. Good bye."

const planOf = ({ quick }: Options) =>
  quick ? { first: 10, step: 10, most: 20, windowSeconds: 2 } : { first: 50, step: 25, most: 500, windowSeconds: 10 }

/** Whatever carries calls: has so many more of them begun, the first of which is number `from`, and tells what it has spent of its cores. */
interface Carrier {
  readonly add: (count: number, from: number) => Effect.Effect<unknown>
  readonly cpuSeconds: Effect.Effect<number>
}

interface Step {
  readonly calls: number
  /** 0 to 1. */
  readonly lost: number
  /** Milliseconds of a core for each second of a call. */
  readonly cpuMillis: number
}

interface Carried {
  /** All that were measured; the last one may have been too many. */
  readonly steps: ReadonlyArray<Step>
  /** The calls of the next step were not all placed. */
  readonly wasHeldBack: boolean
}

const measured = Effect.fnUntraced(function* (emulator: Emulator, carrier: Carrier, calls: number, seconds: number) {
  yield* Effect.sleep(SETTLE)
  const look = Effect.all({ flow: emulator.flow, cpu: carrier.cpuSeconds })
  const before = yield* look
  yield* Effect.sleep(`${seconds} seconds`)
  const after = yield* look
  const missed = after.flow.missed - before.flow.missed
  const played = after.flow.played - before.flow.played
  const step: Step = { calls, lost: missed / (missed + played), cpuMillis: (1000 * (after.cpu - before.cpu)) / (seconds * calls) }
  return step
})

const carried = (options: Options, emulator: Emulator, carrier: Carrier) =>
  Effect.gen(function* () {
    const { first, most, step, windowSeconds } = planOf(options)
    const steps: Array<Step> = []
    for (let calls = first; calls <= most; calls += step) {
      const from = steps.at(-1)?.calls ?? 0
      yield* carrier.add(calls - from, from)
      const answered = yield* Effect.timeoutOption(
        emulator.until((counts) => counts.answered >= calls),
        ANSWERED
      )
      if (Option.isNone(answered)) return { steps, wasHeldBack: true }
      const seen = yield* measured(emulator, carrier, calls, windowSeconds)
      steps.push(seen)
      if (seen.lost > lostAtMost) break
    }
    return { steps, wasHeldBack: false }
  })

const figuresOfEngine = (engine: Engine) =>
  Effect.map(
    Effect.promise(async () => await (await fetch(`http://127.0.0.1:${engine.address.port}/metrics`)).text()),
    parse
  )

const byEngine = (options: Options) =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis })
    const environment = { METRICS: "on", ORG_CONCURRENCY: "1000", RECORDINGS: "on" }
    const engine = yield* startEngine(yield* startDatabase(), { environment })
    const agentId = yield* prepare(engine, emulator, greeting)
    const run = yield* carried(options, emulator, {
      add: Effect.fnUntraced(function* (count, from) {
        const campaign = yield* createCampaign(engine, agentId, csvOf(count, staysUntilHungUp, from), { rate_limit: callsPerSecond })
        yield* engine.post(`/campaign/${campaign}/start`)
      }),
      cpuSeconds: Effect.map(figuresOfEngine(engine), (figures) => countOf(figures, "process_cpu_seconds_total"))
    })
    const limit = (yield* figuresOfEngine(engine)).values.get("media_calls_limit")
    return { ...run, limit }
  }).pipe(Effect.scoped)

const byEcho = (options: Options) =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis })
    const { password, url, user } = emulator
    const child = yield* startChild({ file: "echoMain.ts" })
    return yield* carried(options, emulator, {
      add: (count, from) =>
        Effect.sync(() => {
          const numbers = rowsOf(count, staysUntilHungUp, from).flatMap(([number = ""]) => number)
          child.send({ emulator: { password, url, user }, numbers, from, callsPerSecond })
        }),
      cpuSeconds: cpuSecondsOf(child)
    })
  }).pipe(Effect.scoped)

const cleanOf = ({ steps }: Carried): Step | undefined => steps.findLast(({ lost }) => lost <= lostAtMost)
const tooMany = ({ steps }: Carried): Step | undefined => steps.find(({ lost }) => lost > lostAtMost)

export const media: Benchmark = {
  name: "media",
  run: (options) =>
    Effect.gen(function* () {
      const own = yield* byEngine(options)
      const echo = yield* byEcho(options)
      const [clean, control] = [cleanOf(own), cleanOf(echo)]
      const failed = tooMany(own)
      const figures: ReadonlyArray<Figure> = [
        { name: "media, calls", value: clean?.calls ?? 0, unit: "calls", goal: { atLeast: 150 }, control: control?.calls ?? 0 },
        { name: "media, CPU of a call at that count", value: clean?.cpuMillis ?? 0, unit: "ms/s", control: control?.cpuMillis ?? 0 },
        {
          name: "media, frames missed at that count",
          value: 1000 * (clean?.lost ?? 0),
          unit: "in 1,000",
          control: 1000 * (control?.lost ?? 0)
        },
        ...(failed === undefined
          ? []
          : [{ name: `media, frames missed at ${failed.calls} calls`, value: 1000 * failed.lost, unit: "in 1,000" }]),
        ...(own.limit === undefined ? [] : [{ name: "media, limit that the engine has found", value: own.limit, unit: "calls" }]),
        { name: "media, more calls were held back", value: own.wasHeldBack ? 1 : 0, unit: "" }
      ]
      return figures
    })
}
