/**
 * An engine whose agent converses with everybody it calls, and the emulators with such callees. The agent goes round in circles through its
 * graph, and asks one question in each node.
 */
import { Effect, type Scope } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { freePort } from "#test/support/freePort.ts"
import { pocketsphinxRoot } from "#test/support/pocketsphinx.ts"
import { installService } from "#test/support/servicePackage.ts"
import { callsPerSecond, ringMillis } from "./callRamp.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import type { ConverserPlan } from "./Converser.ts"
import { type Database, startDatabase } from "./Database.ts"
import { startEmulator, startTwilio } from "./Emulator.ts"
import { createCampaign, createTelephonyConfig, type Engine, numberAt, startEngine } from "./Engine.ts"
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

const nodeOf = (speech: Speech, index: number): JsonObject => {
  const line = lineOf[speech](index + 1)
  const data = { name: `Step ${index + 1}`, prompt: `Say: "${line}"`, allow_interrupt: true, add_global_prompt: false }
  const greeting = index === 0 ? { greeting_type: "text", greeting: line } : {}
  return { id: `${index}`, type: index === 0 ? "startCall" : "agentNode", position: { x: index, y: 0 }, data: { ...data, ...greeting } }
}

/** Leads from the last node to the second, because no edge can lead to the first. */
const edgeOf = (index: number): JsonObject => ({
  id: `from-${index}`,
  source: `${index}`,
  target: `${index + 1 < nodes ? index + 1 : 1}`,
  data: { label: "Yes", condition: "The callee says that the step suits." }
})

const definitionOf = (speech: Speech): JsonObject => ({
  nodes: Array.from({ length: nodes }, (_, index) => nodeOf(speech, index)),
  edges: Array.from({ length: nodes }, (_, index) => edgeOf(index))
})

interface Conversing {
  readonly engine: Engine
  readonly database: Database
  readonly emulator: Effect.Success<ReturnType<typeof startEmulator>>
  /** Has this many more callees called, with numbers from `from` on. */
  readonly add: (count: number, from: number, rate?: number) => Effect.Effect<void>
}

const startAgent = Effect.fnUntraced(function* (database: Database, speech: Speech, environment: Readonly<Record<string, string>>) {
  const services = speech === "cached" ? { POCKETSPHINX_DIR: "off", SERVICES: packageName } : { POCKETSPHINX_DIR: pocketsphinxRoot }
  const usual = { METRICS: "on", ORG_CONCURRENCY: "1000", RECORDINGS: "on" }
  installService(database.folder, packageName, ["bench/instantRecognizer.ts", "instantRecognizer"])
  const engine = yield* startEngine(database, {
    cwd: database.folder,
    environment: { ...usual, ...services, ...environment },
    file: "conversingMain.ts"
  })
  const created = yield* engine.post("/workflow/create/definition", { name: "Plan", workflow_definition: definitionOf(speech) })
  const agentId = numberAt(created, "id")
  const stt = { provider: speech === "cached" ? instantRecognizer.manifest.provider : "pocketsphinx" }
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
  return { add, engine }
})

export const throughAsterisk = (speech: Speech): Effect.Effect<Conversing, never, Scope.Scope> =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis }, callees)
    const database = yield* startDatabase()
    const agent = yield* startAgent(database, speech, {})
    const { password, url, user } = emulator
    const config = { provider: "ari", ari_endpoint: url, app_name: user, app_password: password, dial_string: "PJSIP/{number}@trunk" }
    yield* createTelephonyConfig(agent.engine, config)
    return { ...agent, database, emulator }
  })

export const throughTwilio = (speech: Speech): Effect.Effect<Conversing, never, Scope.Scope> =>
  Effect.gen(function* () {
    const emulator = yield* startTwilio({ numbers: [from], ringMillis }, callees)
    const database = yield* startDatabase()
    const port = yield* Effect.promise(freePort)
    const agent = yield* startAgent(database, speech, {
      ADAPTERS: "twilio",
      PORT: String(port),
      PROVIDER_URLS: `twilio=${emulator.url}`,
      PUBLIC_URL: `http://127.0.0.1:${port}`
    })
    const config = { provider: "twilio", account_sid: emulator.user, auth_token: emulator.password }
    const telephony = yield* createTelephonyConfig(agent.engine, config)
    yield* agent.engine.post(`/organizations/telephony-configs/${telephony}/phone-numbers`, { address: from })
    return { ...agent, database, emulator }
  })
