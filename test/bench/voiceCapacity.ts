/**
 * How many conversations one engine carries, recorded, in each of which the agent speaks 45 % of the time and the callee takes six turns a minute: more
 * and more of them, until callees miss more than one frame in a thousand or wait too long for an answer, or the engine holds further calls back. `voice-capacity`: with speech from the
 * cache and a recognizer that costs nothing, through an emulated Asterisk; the control sends each frame back as it comes, in the same way. Then a hundred
 * callees are called at once, so that all of them have finished their first answer within about a second. `voice-capacity-carrier`: the same through a
 * carrier's media socket. `voice-capacity-made`: with all of it made and recognized on the machine, by Flite and Moonshine. The callees and whatever
 * carries their calls share the machine, and their cost is a separate figure.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { byEcho, carried, cleanOf, cpuMillisOf, type RampPlan, tooMany } from "./callRamp.ts"
import type { Conversed } from "./Converser.ts"
import { callees, throughAsterisk, throughCarrier } from "./conversingEngine.ts"
import { metricsOf } from "./Engine.ts"
import { type Figure, type Goal, quantile } from "./Figure.ts"
import { allocatedDuring, cpuSecondsOf } from "./Measures.ts"
import { postgresSecondsOf, treeSecondsOf } from "./TreeCpu.ts"

const framesPerSecond = 50
/** Time for the first turns, in which code is compiled and speech is synthesized that is cached from then on. */
const settle = "6 seconds"

const small: RampPlan = { first: 4, step: 4, most: 4, windowSeconds: 12, settle }
const quickEcho: RampPlan = { ...small, settle: "1 second", windowSeconds: 2 }
// In a window, every callee takes a turn.
const windowSeconds = 10
/**
 * Where speech is synthesized and recognized, the callees that a step adds are called over as long as one of their turns takes, so that all of them
 * take their turns at different times. Those called together stay in step, and a step takes about two turns, so that its callees would also be in step
 * with those of the steps before it: what would be measured is how many answers at once the recognizer keeps up with.
 */
const spreadPerSecond = (count: number): number => count / windowSeconds
const ramps: { readonly [Through in "echo" | "asterisk" | "carrier" | "made"]: RampPlan } = {
  echo: { first: 200, step: 100, most: 600, windowSeconds: 5, settle },
  asterisk: { first: 150, step: 75, most: 450, windowSeconds, settle },
  carrier: { first: 50, step: 50, most: 250, windowSeconds, settle },
  made: { first: 30, step: 10, most: 80, windowSeconds, settle }
}
const rampOf = (through: keyof typeof ramps, { quick }: Options): RampPlan => {
  if (quick) return through === "echo" ? quickEcho : small
  return ramps[through]
}

interface Noted {
  readonly conversed: Conversed
  /** CPU seconds; those of Postgres and the far end are undefined except on Linux. */
  readonly cpu: { readonly engine: number; readonly postgres: number; readonly callees: number }
  readonly bytes: number
}

type Through = typeof throughAsterisk

const seconds = (spent: number | undefined) => spent ?? 0

const notedBy = Effect.fnUntraced(function* (
  { database, emulator, engine }: Effect.Success<ReturnType<Through>>,
  step: Effect.Effect<void>
) {
  yield* emulator.conversed
  const spent = Effect.all({
    // Includes the processes that recognize speech.
    engine: Effect.map(cpuSecondsOf(engine.child), (own) => treeSecondsOf(engine.child.pid) ?? own),
    postgres: Effect.map(postgresSecondsOf(database), seconds),
    callees: Effect.sync(() => seconds(treeSecondsOf(emulator.pid)))
  })
  const before = yield* spent
  const { bytes } = yield* allocatedDuring(engine.child, step)
  const after = yield* spent
  const cpu = {
    engine: after.engine - before.engine,
    postgres: after.postgres - before.postgres,
    callees: after.callees - before.callees
  }
  const noted: Noted = { conversed: yield* emulator.conversed, cpu, bytes }
  return noted
})

const conversations = (through: Through, speech: Parameters<Through>[0], plan: RampPlan) =>
  Effect.gen(function* () {
    const conversing = yield* through(speech)
    const add = (count: number, from: number) => conversing.add(count, from, speech === "made" ? spreadPerSecond(count) : undefined)
    const run = yield* carried(plan, conversing.emulator, { add, noted: (step) => notedBy(conversing, step) })
    const { values } = yield* metricsOf(conversing.engine)
    return { ...run, limit: values.get("media_calls_limit") }
  }).pipe(Effect.scoped)

const answersOf = ({ answers }: Conversed): ReadonlyArray<number> => answers.map(({ millis }) => millis)

interface Control {
  readonly calls: number
  readonly cpuMillis: number
}
const controlled = (control: number | undefined) => (control === undefined ? {} : { control })

/** How long a callee waits for the agent. */
const p50 = { atMost: 260 }
const p95 = { atMost: 400 }
const isPrompt = ({ conversed }: Noted): boolean =>
  quantile(answersOf(conversed), 0.5) <= p50.atMost && quantile(answersOf(conversed), 0.95) <= p95.atMost

/** The figures of the largest step carried without loss and answered in time, or of the first if there was none. */
const figuresOf = (
  title: string,
  goal: Goal,
  run: Effect.Success<ReturnType<typeof conversations>>,
  control?: Control
): ReadonlyArray<Figure> => {
  const name = (what: string) => `voice-capacity, ${title}, ${what}`
  const [clean, failed] = [cleanOf(run, isPrompt), tooMany(run)]
  const shown = clean ?? run.steps[0]
  const count: Figure = { name: name("conversations"), value: clean?.calls ?? 0, unit: "calls", goal, ...controlled(control?.calls) }
  const held: Figure = { name: name("more calls were held back"), value: run.wasHeldBack ? 1 : 0, unit: "" }
  const lost =
    failed === undefined || clean === undefined
      ? []
      : [{ name: name(`frames missed at ${failed.calls}`), value: 1000 * failed.lost, unit: "in 1,000" }]
  const limit = run.limit === undefined ? [] : [{ name: name("limit that the engine has found"), value: run.limit, unit: "calls" }]
  if (shown === undefined) return [count, ...limit, held]
  const { bytes, conversed, cpu } = shown.noted
  const answers = answersOf(conversed)
  const cpuOf = (spent: number) => cpuMillisOf(shown, spent)
  return [
    count,
    { name: name(`frames missed at ${shown.calls}`), value: 1000 * shown.lost, unit: "in 1,000" },
    { name: name("answer to agent, p50"), value: quantile(answers, 0.5), unit: "ms", goal: p50 },
    { name: name("answer to agent, p95"), value: quantile(answers, 0.95), unit: "ms", goal: p95 },
    { name: name("answers without a reply"), value: conversed.unanswered, unit: "", goal: { atMost: 0 } },
    { name: name("turns of a callee"), value: (60_000 * answers.length) / conversed.millis, unit: "/min" },
    { name: name("the agent speaks"), value: (100 * conversed.spokenMillis) / conversed.millis, unit: "%" },
    { name: name("CPU of a call, engine"), value: cpuOf(cpu.engine), unit: "ms/s", ...controlled(control?.cpuMillis) },
    { name: name("CPU of a call, Postgres"), value: cpuOf(cpu.postgres), unit: "ms/s" },
    { name: name("CPU of a call, callees and carrier"), value: cpuOf(cpu.callees), unit: "ms/s" },
    { name: name("allocated for a frame each way"), value: bytes / (shown.calls * shown.seconds * framesPerSecond), unit: "bytes" },
    ...run.steps.map(({ calls, noted }) => ({
      name: name(`answer to agent at ${calls}, p95`),
      value: quantile(answersOf(noted.conversed), 0.95),
      unit: "ms"
    })),
    ...lost,
    ...limit,
    held
  ]
}

/** All of them answer the first question within about a second. */
const answersAtOnce = (callees: number) =>
  Effect.gen(function* () {
    const { add, emulator } = yield* throughAsterisk("cached")
    // One call first, so that nobody waits for what is synthesized once.
    yield* add(1, callees)
    yield* emulator.until(({ answered }) => answered >= 1)
    yield* Effect.repeat(Effect.delay(emulator.conversed, LOOK_AGAIN), { until: ({ answers }) => answers.length > 0 })
    yield* add(callees, 0, callees)
    yield* emulator.until(({ answered }) => answered > callees)
    yield* Effect.sleep(FIRST_ANSWERS)
    const first = (yield* emulator.conversed).answers.filter(({ turn }) => turn === 1)
    const times = first.map(({ at }) => at)
    const waits = first.map(({ millis }) => millis)
    const name = (what: string) => `voice-capacity, ${callees} answers at once, ${what}`
    const figures: ReadonlyArray<Figure> = [
      { name: name("replies"), value: first.length, unit: "", goal: { atLeast: callees } },
      { name: name("within"), value: Math.max(...times) - Math.min(...times), unit: "ms" },
      { name: name("answer to agent, p50"), value: quantile(waits, 0.5), unit: "ms" },
      { name: name("answer to agent, p95"), value: quantile(waits, 0.95), unit: "ms", goal: { atMost: 800 } }
    ]
    return figures
  }).pipe(Effect.scoped)
const LOOK_AGAIN = "200 millis"
/** Time for the first question, thinking, the answer, and the reply to it. */
const FIRST_ANSWERS = `${5 + callees.thinksMillis / 1000 + 4} seconds` as const

export const voiceCapacity: Benchmark = {
  name: "voice-capacity",
  run: Effect.fnUntraced(function* (options) {
    const ramp = rampOf("echo", options)
    const echo = cleanOf(yield* byEcho(ramp))
    const control: Control = { calls: echo?.calls ?? 0, cpuMillis: echo === undefined ? 0 : cpuMillisOf(echo, echo.noted) }
    const run = yield* conversations(throughAsterisk, "cached", rampOf("asterisk", options))
    const atOnce = yield* answersAtOnce(options.quick ? 4 : 100)
    // Without a count of the echo, any count would do for the conversations.
    const bare: Figure = { name: "voice-capacity, bare echo", value: control.calls, unit: "calls", goal: { atLeast: ramp.first } }
    return [bare, ...figuresOf("Asterisk", { atLeast: 0.75 * control.calls }, run, control), ...atOnce]
  })
}

export const voiceCapacityCarrier: Benchmark = {
  name: "voice-capacity-carrier",
  run: (options) =>
    Effect.map(conversations(throughCarrier, "cached", rampOf("carrier", options)), (run) =>
      figuresOf("media socket", { atLeast: 150 }, run)
    )
}

export const voiceCapacityMade: Benchmark = {
  name: "voice-capacity-made",
  run: (options) =>
    Effect.map(conversations(throughAsterisk, "made", rampOf("made", options)), (run) =>
      figuresOf("all of it on the machine", { atLeast: 60 }, run)
    )
}
