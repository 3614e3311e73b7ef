/**
 * `npm run cluster`: three engines on one database and one Redis, which all have calls. One of them is killed every few seconds, while two campaigns continue. At
 * the end, the callees' log is the judge, as with chaos.
 */
import { parseArgs, styleText } from "node:util"
import type { Test } from "tap"
import { nowMillis, untilTrue } from "#test/support/until.ts"
import type { Evidence } from "./Evidence.ts"
import { callNodeFaults } from "./callNodeFaults.ts"
import { down } from "./Fault.ts"
import { figuresOf, judge, rules } from "./Judge.ts"
import { Stage } from "./Stage.ts"
import { evidenceOf, isDone } from "./story.ts"

const { values } = parseArgs({
  options: {
    contacts: { default: "400", type: "string" },
    every: { default: "8", type: "string" },
    help: { default: false, type: "boolean" },
    nodes: { default: "3", type: "string" }
  }
})
const help = `npm run cluster -- [options]

  --contacts N     people to call, in two campaigns (400)
  --every N        seconds between two kills (8): of the engine that dispatches, and of another one, in turn
  --nodes N        engines (3)
`

const bold = (text: string): string => styleText("bold", text, { stream: process.stdout })
const say = (...lines: ReadonlyArray<string>): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(""))

/** A block of lines that is redrawn in place on a terminal, and printed from time to time elsewhere. */
class Ledger {
  readonly #plainMillis = 5000
  #height = 0
  #shownAt = 0

  show(lines: ReadonlyArray<string>): void {
    const { isTTY } = process.stdout
    if (!isTTY && nowMillis() < this.#shownAt + this.#plainMillis) return
    this.#shownAt = nowMillis()
    if (isTTY && this.#height > 0) process.stdout.write(`\x1b[${this.#height}A\x1b[J`)
    this.#height = lines.length
    say(...lines)
  }
}

/** What must be stopped, the latest first. */
const stops: Array<() => unknown> = []
// The cast holds because the stage uses the test only to stop what it starts.
const scope = { teardown: (stop: () => unknown) => void stops.unshift(stop) } as unknown as Test

const ledgerOf = async (stage: Stage, began: number): Promise<ReadonlyArray<string>> => {
  const { emulator, sql } = stage.world
  const [counts] = await sql`
    SELECT count(*)::int AS contacts, count(*) FILTER (WHERE state IN ('completed', 'failed', 'cancelled'))::int AS done FROM contacts`
  const [attempts] = await sql`
    SELECT count(*) FILTER (WHERE outcome = 'unknown')::int AS unknown, count(*) FILTER (WHERE state <> 'void')::int AS dialed FROM attempts`
  const dials = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId)
  const engines = [...(stage.nodes?.states ?? [])].map(([name, state]) => `${name} ${state === "dispatches" ? bold(state) : state}`)
  return [
    `  ${((nowMillis() - began) / 1000).toFixed(0).padStart(4)} s   ${engines.join(", ")}`,
    `           killed ${stage.kills.length} times; ${counts?.["done"]} of ${counts?.["contacts"]} people are done, ${emulator.log.live()} calls are up`,
    `           ${dials.length} phones rang, ${dials.length - new Set(dials).size} of them twice for one attempt; ${attempts?.["unknown"]} of ${attempts?.["dialed"]} attempts are unknown`
  ]
}

/** What it had is settled before this ends. */
const killCallNode = callNodeFaults.find(({ name }) => name === "a call node is killed")

const verdictOn = (evidence: Evidence): ReadonlyArray<string> => {
  const { explained, findings } = judge(evidence)
  const figures = figuresOf(evidence)
  return [
    ...rules.flatMap((rule) => {
      const found = findings.filter((finding) => finding.rule === rule)
      return [`  ${found.length === 0 ? "yes" : bold("NO ")}  ${rule} (${figures[rule]})`, ...found.map(({ what }) => `         ${what}`)]
    }),
    ...Object.entries(explained).map(([why, count]) => `       ${count} unknown: ${why}`)
  ]
}

const main = async (): Promise<boolean> => {
  const [contacts, every] = [Number(values.contacts), Number(values.every)]
  const nodes = Number(values.nodes)
  const ledger = new Ledger()
  say("", `  ${bold("Trunkline")} calls ${contacts} people with ${nodes} engines, and one is killed every ${every} s`, "")
  const stage = await Stage.open(scope, { contacts, minutes: contacts / 100, nodes, seed: 7 })
  if (stage.redis === undefined) say("  without a Redis, which is not available on this machine", "")
  for (const { id } of stage.campaigns) await stage.world.api.start(id)
  const began = nowMillis()
  let killAt = began + every * 1000
  let isCallNodesTurn = false
  while (!(await isDone(stage))) {
    ledger.show(await ledgerOf(stage, began))
    const isWorthIt = stage.world.emulator.log.live() > 0 && [...(stage.nodes?.states.values() ?? [])].includes("carries calls")
    if (nowMillis() >= killAt && isWorthIt) {
      await (isCallNodesTurn ? killCallNode?.run(stage) : down(stage, "SIGKILL"))
      isCallNodesTurn = !isCallNodesTurn
      killAt = nowMillis() + every * 1000
    }
    await stage.progress(1000, 500)
  }
  await untilTrue("last hang-up", () => stage.world.emulator.log.live() === 0)
  const evidence = await evidenceOf(stage)
  say("", ...(await ledgerOf(stage, began)), "", ...verdictOn(evidence), "")
  return judge(evidence).findings.length === 0
}

if (values.help) process.stdout.write(help)
else {
  try {
    process.exitCode = (await main()) ? 0 : 1
  } finally {
    for (const stop of stops) await stop()
  }
}
