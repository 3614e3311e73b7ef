/**
 * `npm run talk` holds a conversation with an agent in the terminal: one of the templates, or a file with a definition in the API's form.
 *
 *     npm run talk                                          the appointment reminder, with the built-in model
 *     npm run talk -- agent.json --with first_name=Ada      a definition of yours, and a variable of the contact
 *     npm run talk -- --model llama3.2 --url http://127.0.0.1:11434/v1
 *                                                           any OpenAI-compatible server; its key in LLM_API_KEY
 */
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { contextOf, explained, modelOf, modelOptions, planOf, runTool } from "./agentCommand.ts"
import { textTalk } from "./conversation/textTalk.ts"

const usage = "Usage: npm run talk -- [agent.json | template] [--with name=value]... [--model NAME --url BASE_URL] [--time-zone ZONE]"

const examples: JsonObject = {
  first_name: "Ada",
  company: "Acme",
  appointment_date: "Monday, the ninth",
  appointment_time: "ten o'clock",
  product: "the trial"
}

const talk = Effect.gen(function* () {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { ...modelOptions, with: { type: "string", multiple: true }, "time-zone": { type: "string", default: "UTC" } }
  })
  const { context, plan } = yield* Effect.promise(() => planOf(positionals[0] ?? "Appointment reminder"))
  const lines = createInterface({ input: process.stdin })
  const typed = lines[Symbol.asyncIterator]()
  const { disposition, gathered, tags } = yield* textTalk({
    plan: { ...plan, timeZone: values["time-zone"] },
    model: yield* modelOf(values),
    runTool,
    context: { ...examples, ...context, ...contextOf(values.with ?? []) },
    write: (line) => void process.stdout.write(`${line}\n`),
    read: async () => {
      process.stdout.write("you: ")
      const { done, value } = await typed.next()
      // Typed input is visible anyway; input from a file is not.
      if (process.stdin.isTTY !== true) process.stdout.write(`${done === true ? "(hangs up)" : value}\n`)
      return done === true ? undefined : value
    }
  })
  lines.close()
  process.stdout.write(`\ndisposition: ${disposition}\ntags: ${tags.join(", ")}\n${JSON.stringify(gathered, undefined, 2)}\n`)
})

NodeRuntime.runMain(explained(Effect.scoped(talk), usage))
