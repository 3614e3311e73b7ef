/**
 * How soon an agent answers, how seldom it breaks into pauses, and how soon it is silent when it is interrupted, all as the far end hears it: callees who
 * speak by a script (`latencyScript.ts`), through an emulated Asterisk, to an agent with the embedded model and a recognizer that makes no mistake and
 * takes no time. Then the same with a hosted model whose tokens come at scripted times; the engine's own share is what is left when the later of two
 * things is taken away that it has to wait for: the model's first clause, and the 200 ms after which a complete answer is over. Times are counted from the
 * last sound of the callee, in steps of 20 ms.
 */
import { Effect, type Scope } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { JsonObject } from "#core/Json.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { knownRecognizer } from "#test/support/knownRecognizer.ts"
import { knownSpeechOf } from "#test/support/knownSpeech.ts"
import { seeded } from "#test/support/seeded.ts"
import { installService } from "#test/support/servicePackage.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { circleOf, suits } from "./circle.ts"
import { csvOf, rowsOf, staysUntilHungUp } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { createAgent, createCampaign, dialsThrough, type Engine, startEngine } from "./Engine.ts"
import { type Caller, makeCaller, makeVoices } from "./latencyCallees.ts"
import { modelFigures, turnFigures } from "./latencyFigures.ts"
import { digitsScript, numberedScript, type ScriptedTurn, talkScript } from "./latencyScript.ts"

const packageName = "known-recognizer"
const callsPerSecond = 2
const LOOK_AGAIN = "500 millis"
const usualSeed = 20_261_125

const sizeOf = ({ count, quick }: Options) => {
  const talks = count ?? (quick ? 2 : 16)
  return { talks, numbers: Math.ceil(talks / 4), modelled: Math.ceil(talks / 2), turns: quick ? 3 : 8 }
}

const nodes = 20
const lineOf = (step: number): string =>
  `Step ${step} of the plan is a visit at the clinic by the old market square of the town. Does that suit you?`
const plan = circleOf(nodes, lineOf, suits)

const told = { label: "Told", condition: "The callee has told the phone number." }
const asking = {
  extraction_enabled: true,
  extraction_variables: [{ name: "phone_number", type: "string", prompt: "The phone number of the callee." }]
}
const numbersPlan = circleOf(nodes, (step) => `What is phone number ${step}? Please say it digit by digit.`, told, asking)

/** Installs the recognizer, with the speech that it knows. */
const install = ({ folder }: Database, speech: object): string => {
  installService(folder, packageName, ["support/knownRecognizer.ts", "knownRecognizer"])
  const known = join(folder, "known.json")
  writeFileSync(known, JSON.stringify(speech))
  return known
}

const createListener = Effect.fnUntraced(function* (engine: Engine, graph: JsonObject, overrides: JsonObject = {}) {
  const id = yield* createAgent(engine, "", graph)
  const model_overrides = { stt: { provider: knownRecognizer.manifest.provider }, ...overrides }
  yield* engine.put(`/workflow/${id}`, { workflow_configurations: { max_call_duration: 600, model_overrides } })
  return id
})

const startCallees: Effect.Effect<Awaited<ReturnType<typeof startAriEmulator>>, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const emulator = await startAriEmulator({ ringMillis: 300, talkMillis: 600_000 })
    emulator.letTalk(true)
    return emulator
  }),
  (emulator) => Effect.promise(() => emulator.stop())
)

/** Tokens every 20 ms after 150 to 450; the first clause is complete with the first token of the second. */
const gapMillis = 20
const clauseTokens = ["Of", " course", " I", " can,", " and"]
const answerTokens = [...clauseTokens, " it", " is", " in", " your", " calendar", " now."]

const startModel = Effect.fnUntraced(function* (answers: number, random: () => number) {
  const model = yield* Effect.acquireRelease(
    Effect.promise(() => OpenAiEmulator.start()),
    (started) => Effect.promise(() => started.stop())
  )
  const waits = Array.from({ length: answers }, () => 150 + Math.round(300 * random()))
  model.script(...waits.map((firstTokenMillis) => ({ text: answerTokens, firstTokenMillis, gapMillis })))
  /** Uses the last request before that time that ends with this text. */
  const clauseAt = (text: string): number | undefined => {
    const index = model.requests.findLastIndex(({ body }) => {
      const last = body?.messages?.at(-1)
      return last?.role === "user" && JSON.stringify(last).includes(JSON.stringify(text))
    })
    const request = model.requests[index]
    return request === undefined ? undefined : request.at + (waits[index] ?? 0) + clauseTokens.length * gapMillis
  }
  return { clauseAt, url: model.url }
})

export const voiceLatency: Benchmark = {
  name: "voice-latency",
  run: (options) =>
    Effect.gen(function* () {
      const size = sizeOf(options)
      const random = seeded(options.seed ?? usualSeed)
      const scripts = {
        talks: Array.from({ length: size.talks }, () => talkScript(random)),
        numbers: Array.from({ length: size.numbers }, () => digitsScript(random, size.turns)),
        modelled: Array.from({ length: size.modelled }, (_, at) => numberedScript(at * size.turns + 1, size.turns))
      }
      const says = makeVoices()
      const all = Object.values(scripts).flat(2)
      const emulator = yield* startCallees
      const database = yield* startDatabase()
      const known = install(database, knownSpeechOf(all.map(says)))
      const engine = yield* startEngine(database, {
        cwd: database.folder,
        environment: {
          EGRESS_ALLOW: "127.0.0.1",
          KNOWN_SPEECH: known,
          ORG_CONCURRENCY: "500",
          POCKETSPHINX_DIR: "off",
          RECORDINGS: "on",
          SERVICES: packageName
        }
      })
      yield* dialsThrough(engine, emulator)
      const callers = new Map<string, Caller>()
      const scriptOf = new Map<string, ReadonlyArray<ScriptedTurn>>()
      emulator.log.talkerFor = (channelId) => {
        const number = emulator.log.of(channelId)[0]?.number ?? ""
        const script = scriptOf.get(number)
        if (script === undefined) return undefined
        const caller = makeCaller(script, says, () => emulator.hangUp(number))
        callers.set(number, caller)
        return caller.talker
      }
      let called = 0
      const converse = Effect.fnUntraced(function* (agent: number, some: ReadonlyArray<ReadonlyArray<ScriptedTurn>>) {
        const from = called
        called += some.length
        const numbers = rowsOf(some.length, staysUntilHungUp, from).map(([number = ""]) => number)
        for (const [at, number] of numbers.entries()) scriptOf.set(number, some[at] ?? [])
        const campaign = yield* createCampaign(engine, agent, csvOf(some.length, staysUntilHungUp, from), { rate_limit: callsPerSecond })
        yield* engine.post(`/campaign/${campaign}/start`)
        const isOver = (number: string) => emulator.log.of(number).some(({ kind }) => kind === "ended")
        while (!numbers.every(isOver)) yield* Effect.sleep(LOOK_AGAIN)
        return numbers.map((number) => callers.get(number)?.heard() ?? [])
      })
      // Three times as many answers as are heard: for those that are prepared and dropped, and for what is asked in the end.
      const model = yield* startModel(3 * scripts.modelled.flat().length + 20, random)
      const llm = { provider: "openai", model: "emulated", api_key: "sk-emulated", base_url: model.url }
      const [talks, numbers, modelled] = yield* Effect.all(
        [
          converse(yield* createListener(engine, plan), scripts.talks),
          converse(yield* createListener(engine, numbersPlan), scripts.numbers),
          converse(yield* createListener(engine, plan, { llm }), scripts.modelled)
        ],
        { concurrency: "unbounded" }
      )
      return [...turnFigures([...talks, ...numbers]), ...modelFigures({ talks: modelled, clauseAt: model.clauseAt })]
    }).pipe(Effect.scoped)
}
