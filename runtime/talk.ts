/**
 * `npm run talk` holds a conversation with an agent in the terminal: one of the templates, or a file with a definition in the API's form.
 *
 *     npm run talk                                          the appointment reminder, with the built-in model
 *     npm run talk -- agent.json --with first_name=Ada      a definition of yours, and a variable of the contact
 *     npm run talk -- --model llama3.2 --url http://127.0.0.1:11434/v1
 *                                                           any OpenAI-compatible server; its key in LLM_API_KEY
 *     npm run talk -- --voice                               by voice, with this machine's microphone and loudspeaker
 *     npm run talk -- --voice --wav answers.wav --save call.wav
 *                                                           what the callee says from a file; both sides are written to another
 */
import { writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { contextOf, expectedBy, explained, modelOf, modelOptions, planOf, runTool, WrongUse } from "./agentCommand.ts"
import { textTalk } from "./conversation/textTalk.ts"
import { type Callee, calleeHere, recordedCallee, soundOf } from "./terminal/callees.ts"
import { stereoWav } from "./terminal/stereoWav.ts"

const usage =
  "Usage: npm run talk -- [agent.json | template] [--with name=value]... [--model NAME --url BASE_URL] [--time-zone ZONE] [--voice [--wav FILE] [--save FILE]]"

const examples: JsonObject = {
  first_name: "Ada",
  company: "Acme",
  appointment_date: "Monday, the ninth",
  appointment_time: "ten o'clock",
  product: "the trial"
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

const inWriting = Effect.fnUntraced(function* (given: Pick<Parameters<typeof textTalk>[0], "context" | "model" | "plan">) {
  const lines = createInterface({ input: process.stdin })
  const typed = lines[Symbol.asyncIterator]()
  const { disposition, gathered, tags } = yield* textTalk({
    ...given,
    runTool,
    write,
    read: async () => {
      process.stdout.write("you: ")
      const { done, value } = await typed.next()
      // Typed input is visible anyway; input from a file is not.
      if (process.stdin.isTTY !== true) process.stdout.write(`${done === true ? "(hangs up)" : value}\n`)
      return done === true ? undefined : value
    }
  })
  lines.close()
  write(`\ndisposition: ${disposition}\ntags: ${tags.join(", ")}\n${JSON.stringify(gathered, undefined, 2)}`)
})

const calleeIn = async (wav: string | undefined): Promise<Callee> => {
  if (wav === undefined)
    return calleeHere((why) => {
      write(why)
      process.exit(1)
    })
  const sound = await soundOf(wav).catch(() => undefined)
  if (sound === undefined) throw new WrongUse(`${wav} is no WAV file with sound`)
  return recordedCallee(sound)
}

const talk = Effect.gen(function* () {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      ...modelOptions,
      save: { type: "string" },
      "time-zone": { type: "string", default: "UTC" },
      voice: { type: "boolean", default: false },
      wav: { type: "string" },
      with: { type: "string", multiple: true }
    }
  })
  const agent = yield* Effect.promise(() => planOf(positionals[0] ?? "Appointment reminder"))
  const plan = { ...agent.plan, timeZone: values["time-zone"] }
  const context = { ...examples, ...agent.context, ...contextOf(values.with ?? []) }
  const model = modelOf(values, agent.configurations)
  if (!values.voice) return yield* inWriting({ plan, context, model: yield* model })
  const callee = yield* Effect.promise(() => calleeIn(values.wav))
  // Not before it is needed: it brings an engine's services with it.
  const { talkAloud } = yield* Effect.promise(() => import("./talkAloud.ts"))
  const gathered = yield* talkAloud({ plan, context, model, expected: expectedBy(values), runTool, callee, write })
  const { save } = values
  if (save !== undefined) yield* Effect.promise(() => writeFile(save, stereoWav(callee.line.sides())))
  write(JSON.stringify(gathered, undefined, 2))
})

NodeRuntime.runMain(explained(Effect.scoped(talk), usage))
