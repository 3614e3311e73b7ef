/**
 * An engine whose agent converses with everybody it calls, and the emulators with such callees. The agent goes round in circles through its
 * graph, and asks one question in each node.
 */
import { Effect, type Scope } from "effect"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { moonshineRoot, moonshineUnavailable } from "#test/support/moonshine.ts"
import { installService } from "#test/support/servicePackage.ts"
import { callsPerSecond, ringMillis } from "./callRamp.ts"
import { circleOf, suits } from "./circle.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import type { ConverserPlan } from "./Converser.ts"
import { type Database, startDatabase } from "./Database.ts"
import { startEmulator, startTwilio } from "./Emulator.ts"
import { createAgent, createCampaign, dialsThrough, type Engine, startEngine, throughTwilio } from "./Engine.ts"
import { instantRecognizer, sentence } from "./instantRecognizer.ts"

/** `cached`: everybody hears the same lines, and a recognizer without cost understands the callees. `made`: no two lines are the same. */
type Speech = "cached" | "made"

/** With lines of four to five seconds, six turns a minute in which the agent speaks 45 % of the time. */
export const callees: ConverserPlan = { says: sentence, thinksMillis: 4000 }

const packageName = "instant-recognizer"
const from = "+15550199000"
/** Enough that no line is repeated during the measurement. */
const nodes = 30
/** The largest number of simultaneous calls of a campaign. */
const mostInCampaign = 100
/** The longest duration that a call can be limited to. */
const longestSeconds = 1200

const lineOf: Readonly<Record<Speech, (step: number) => string>> = {
  cached: (step) => `Now step ${step} is a visit at the clinic by the old market. Does that suit you?`,
  made: (step) => `Now step ${step} of {{order}} is next. Does {{order}} suit you?`
}

interface Conversing {
  readonly engine: Engine
  readonly database: Database
  readonly emulator: Effect.Success<ReturnType<typeof startEmulator>>
  readonly agentId: number
  /** Has this many more callees called, with numbers from `from` on. */
  readonly add: (count: number, from: number, rate?: number) => Effect.Effect<void>
}

/** What an engine hears with by itself. */
const hearsByItself = Effect.fnUntraced(function* ({ folder }: Database) {
  const missing = yield* Effect.promise(moonshineUnavailable)
  if (missing !== undefined) return yield* Effect.die(new Error(missing))
  symlinkSync(moonshineRoot, join(folder, "models"))
  return { HEARING: "moonshine", POCKETSPHINX_DIR: "off" }
})

const startAgent = Effect.fnUntraced(function* (database: Database, speech: Speech, environment: Readonly<Record<string, string>>) {
  const services = speech === "cached" ? { POCKETSPHINX_DIR: "off", SERVICES: packageName } : yield* hearsByItself(database)
  const usual = { METRICS: "on", ORG_CONCURRENCY: "1000", RECORDINGS: "on" }
  installService(database.folder, packageName, ["bench/instantRecognizer.ts", "instantRecognizer"])
  const engine = yield* startEngine(database, {
    cwd: database.folder,
    environment: { ...usual, ...services, ...environment },
    file: "measuredMain.ts"
  })
  const agentId = yield* createAgent(engine, "", circleOf(nodes, lineOf[speech], suits))
  const stt = { provider: speech === "cached" ? instantRecognizer.manifest.provider : "moonshine" }
  const workflow_configurations = { max_call_duration: longestSeconds, model_overrides: { stt } }
  yield* engine.put(`/workflow/${agentId}`, { workflow_configurations })
  const add: Conversing["add"] = Effect.fnUntraced(function* (count, first, rate = callsPerSecond) {
    const campaigns = Math.ceil(count / mostInCampaign)
    for (let at = 0; at < campaigns; at++) {
      const [begin, end] = [at, at + 1].map((part) => Math.round((part * count) / campaigns))
      const list = csvOf((end ?? 0) - (begin ?? 0), staysUntilHungUp, first + (begin ?? 0))
      const campaign = yield* createCampaign(engine, agentId, list, { rate_limit: Math.ceil(rate / campaigns) })
      yield* engine.post(`/campaign/${campaign}/start`)
    }
  })
  return { add, agentId, engine }
})

export const throughAsterisk = (speech: Speech, plan: ConverserPlan = callees): Effect.Effect<Conversing, never, Scope.Scope> =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis }, plan)
    const database = yield* startDatabase()
    const agent = yield* startAgent(database, speech, {})
    yield* dialsThrough(agent.engine, emulator)
    return { ...agent, database, emulator }
  })

export const throughCarrier = (speech: Speech): Effect.Effect<Conversing, never, Scope.Scope> =>
  Effect.gen(function* () {
    const emulator = yield* startTwilio({ numbers: [from], ringMillis }, callees)
    const database = yield* startDatabase()
    const { environment, setUp } = yield* throughTwilio(emulator, from)
    const agent = yield* startAgent(database, speech, environment)
    yield* setUp(agent.engine)
    return { ...agent, database, emulator }
  })
