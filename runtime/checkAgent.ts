/**
 * `npm run check-agent` tries an agent out with scripted callees, and tells which of them did not get where their scripts expect. How scripts
 * are written is in core/agent/regression/readScripts.ts. The exit code is 1 unless all have passed.
 *
 *     npm run check-agent -- agent.json scripts.json        with the built-in model
 *     npm run check-agent -- "Lead qualification" scripts.json --model llama3.2 --url http://127.0.0.1:11434/v1
 *                                                           any OpenAI-compatible server; its key in LLM_API_KEY
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Duration, Effect } from "effect"
import { misfits } from "#core/agent/regression/misfits.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { Verdict } from "#core/agent/regression/Verdict.ts"
import type { ConfigurationProblem } from "#core/Problem.ts"
import { contextOf, explained, jsonIn, modelOf, modelOptions, planOf, WrongUse } from "./agentCommand.ts"
import { rehearse } from "./conversation/rehearse.ts"

const usage =
  "Usage: npm run check-agent -- <agent.json | template> <scripts.json> [--with name=value]... [--model NAME --url BASE_URL]\n" +
  "       [--at-once 8] [--limit SECONDS] [--verbose]"

const options = {
  ...modelOptions,
  with: { type: "string", multiple: true },
  "at-once": { type: "string", default: "8" },
  limit: { type: "string", default: "120" },
  verbose: { type: "boolean", default: false }
} as const

const problemsIn = (name: string, problems: ReadonlyArray<ConfigurationProblem>): WrongUse =>
  new WrongUse([`${name} cannot be used:`, ...problems.map(({ message, path }) => `  ${path.join(".") || "(all)"}: ${message}`)].join("\n"))

const numberIn = (name: string, given: string): number => {
  const value = Number(given)
  if (!(value >= 1 && value <= 3600)) throw new WrongUse(`--${name} needs a number from 1 to 3600, not ${given}`)
  return value
}

const write = (line: string) => void process.stdout.write(`${line}\n`)

const report = ({ failures, hasPassed, name, transcript }: Verdict, isVerbose: boolean): void => {
  write(`${hasPassed ? "ok    " : "FAILED"} ${name}`)
  for (const { check, message } of failures) write(`         ${check}: ${message}`)
  if (hasPassed && !isVerbose) return
  let place = ""
  for (const { node, text, who } of transcript) {
    if (node !== place) write(`           at ${node}`)
    place = node
    write(`             ${who === "event" ? `(${text})` : `${who}: ${text}`}`)
  }
}

const check = Effect.gen(function* () {
  const { positionals, values } = parseArgs({ allowPositionals: true, options })
  const [agent, file] = positionals
  if (agent === undefined || file === undefined) throw new WrongUse("An agent and a file with scripts are needed.")
  const concurrency = numberIn("at-once", values["at-once"])
  const limit = Duration.seconds(numberIn("limit", values.limit))
  const { configurations, context, plan } = yield* Effect.promise(() => planOf(agent))
  const read = readScripts(yield* Effect.promise(() => jsonIn(file)), { ...context, ...contextOf(values.with ?? []) })
  if ("problems" in read) throw problemsIn(file, read.problems)
  const unknown = misfits(plan.graph, read.scripts)
  if (unknown.length > 0) throw problemsIn(file, unknown)
  const model = modelOf(values, configurations)
  const verdicts = yield* Effect.forEach(read.scripts, (script) => rehearse({ plan, model, script, limit }), { concurrency })
  for (const verdict of verdicts) report(verdict, values.verbose)
  const passed = verdicts.filter(({ hasPassed }) => hasPassed).length
  write(`\n${passed} of ${verdicts.length} passed`)
  if (passed < verdicts.length) process.exitCode = 1
})

NodeRuntime.runMain(explained(check, usage))
