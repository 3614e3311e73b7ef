/**
 * `npm run talk` holds a conversation in the terminal with an agent: one of the templates, or a file with a definition as the API takes it.
 *
 *     npm run talk                                          the appointment reminder, with the built-in model
 *     npm run talk -- agent.json --with first_name=Ada      a definition of yours, and what the contact brings
 *     npm run talk -- --model llama3.2 --url http://127.0.0.1:11434/v1
 *                                                           any OpenAI-compatible server; its key in LLM_API_KEY
 */
import { readFile } from "node:fs/promises"
import { lookup } from "node:dns"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Effect } from "effect"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { openai } from "#adapters/voice/openai/openai.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import type { ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { textTalk } from "./conversation/textTalk.ts"

const usage = "Usage: npm run talk -- [agent.json | template] [--with name=value]... [--model NAME --url BASE_URL] [--time-zone ZONE]"

class WrongUse extends Error {}

const examples: JsonObject = {
  first_name: "Ada",
  company: "Acme",
  appointment_date: "Monday, the ninth",
  appointment_time: "ten o'clock",
  product: "the trial"
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The definition and the configurations, from a file that holds either an agent or only its definition. */
const agentIn = (text: string, name: string): { readonly definition: JsonObject; readonly configurations: JsonObject } => {
  const parsed = parse(text)
  if (!isObject(parsed)) throw new WrongUse(`${name} holds no agent as JSON`)
  const { workflow_configurations: configurations, workflow_definition: definition = parsed } = parsed
  if (!isObject(definition)) throw new WrongUse(`${name} holds no agent`)
  return { definition, configurations: isObject(configurations) ? configurations : {} }
}

const loadAgent = async (name: string) => {
  const template = agentTemplates.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (template !== undefined) return { definition: template.definition, configurations: {} }
  const text = await readFile(name, "utf8").catch(() => undefined)
  if (text === undefined)
    throw new WrongUse(`${name} is neither a file nor a template: ${agentTemplates.map((one) => one.name).join(", ")}`)
  return agentIn(text, name)
}

const planOf = async (name: string, timeZone: string): Promise<ConversationPlan> => {
  const { configurations, definition } = await loadAgent(name)
  const graph = compile(definition)
  if (graph === undefined) throw new WrongUse(`${name} has no node of the type startCall`)
  return { graph, tools: new Map(), settings: settingsOf(configurations), timeZone }
}

const contextOf = (pairs: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw new WrongUse(`--with needs name=value, not ${pair}`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  )

/** Whoever types here may connect to whatever this machine reaches. */
const host = { egress: { refuses: () => false, lookup: () => lookup, maySendTo: () => true } }

const talk = Effect.gen(function* () {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      with: { type: "string", multiple: true },
      model: { type: "string" },
      url: { type: "string" },
      "time-zone": { type: "string", default: "UTC" }
    }
  })
  const plan = yield* Effect.promise(() => planOf(positionals[0] ?? "Appointment reminder", values["time-zone"]))
  const lines = createInterface({ input: process.stdin })
  const typed = lines[Symbol.asyncIterator]()
  const model = yield* values.model === undefined
    ? embedded.open({}, host)
    : openai.open({ model: values.model, base_url: values.url, api_key: process.env["LLM_API_KEY"] ?? "none" }, host)
  const { disposition, gathered, tags } = yield* textTalk({
    plan,
    model,
    context: { ...examples, ...contextOf(values.with ?? []) },
    write: (line) => void process.stdout.write(`${line}\n`),
    read: async () => {
      process.stdout.write("you: ")
      const { done, value } = await typed.next()
      // What is typed is seen anyway; what comes from a file is not.
      if (process.stdin.isTTY !== true) process.stdout.write(`${done === true ? "(hangs up)" : value}\n`)
      return done === true ? undefined : value
    }
  })
  lines.close()
  process.stdout.write(`\ndisposition: ${disposition}\ntags: ${tags.join(", ")}\n${JSON.stringify(gathered, undefined, 2)}\n`)
})

const explained = Effect.catchCause(Effect.scoped(talk), (cause) => {
  const error = Cause.squash(cause)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${error instanceof WrongUse ? `${usage}\n` : ""}`)
  process.exitCode = 1
  return Effect.void
})
NodeRuntime.runMain(explained)
