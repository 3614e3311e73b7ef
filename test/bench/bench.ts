/**
 * The performance figures, each beside its control in the same run:
 *
 *     npm run bench                            all of them
 *     npm run bench -- dispatch slot-use       some
 *     npm run bench -- --json                  one object a line
 *     npm run bench -- --quick                 smaller and shorter, to see that they run
 *     npm run bench -- dispatch --unsynced     on a Postgres that does not wait for the disk: dispatch, dispatch-with-voice, neighbours, originate-http
 *     npm run bench -- hostile-bodies --seed 7 --count 2000    other bodies than the usual ones, and fewer
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Logger } from "effect"
import { parseArgs } from "node:util"
import { actors } from "./actors.ts"
import { amd } from "./amd.ts"
import type { Benchmark } from "./Benchmark.ts"
import { browserCalls } from "./browserCalls.ts"
import { claim } from "./claim.ts"
import { consolesBenchmark } from "./consoles.ts"
import { create } from "./create.ts"
import { dispatch, dispatchInStep, dispatchWithVoice, slotUse } from "./dispatch.ts"
import { eventFlood } from "./eventFlood.ts"
import { failover } from "./failover.ts"
import { type Figure, json, table } from "./Figure.ts"
import { gateway } from "./gateway.ts"
import { greetings } from "./greetings.ts"
import { hearing } from "./hearing.ts"
import { hostileBodies } from "./hostileBodies.ts"
import { listsOfRuns, progress } from "./lists.ts"
import { machine } from "./machine.ts"
import { media } from "./media.ts"
import { mediaSocket } from "./mediaSocket.ts"
import { neighbours } from "./neighbours.ts"
import { nodes } from "./nodes.ts"
import { originateHttp } from "./originateHttp.ts"
import { rate } from "./rate.ts"
import { recovery } from "./recovery.ts"
import { redisAway } from "./redisAway.ts"
import { scroll } from "./scroll.ts"
import { start } from "./start.ts"
import { statements } from "./statements.ts"
import { unread } from "./unread.ts"
import { voiceCapacity, voiceCapacityCarrier, voiceCapacityMade } from "./voiceCapacity.ts"
import { voiceLatency } from "./voiceLatency.ts"

const TIMEOUT = "15 minutes"

const benchmarks: ReadonlyArray<Benchmark> = [
  dispatch,
  slotUse,
  dispatchInStep,
  dispatchWithVoice,
  greetings,
  media,
  mediaSocket,
  voiceCapacity,
  voiceCapacityCarrier,
  voiceCapacityMade,
  originateHttp,
  statements,
  claim,
  create,
  progress,
  listsOfRuns,
  rate,
  recovery,
  failover,
  nodes,
  redisAway,
  start,
  actors,
  gateway,
  hostileBodies,
  neighbours,
  unread,
  eventFlood,
  consolesBenchmark,
  scroll,
  amd,
  hearing,
  voiceLatency,
  browserCalls
]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    unsynced: { type: "boolean", default: false },
    seed: { type: "string" },
    count: { type: "string" }
  }
})
const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
const options = { quick: values.quick, unsynced: values.unsynced, seed: numberOf(values.seed), count: numberOf(values.count) }

const chosen = benchmarks.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const unknown = positionals.filter((wanted) => benchmarks.every(({ name }) => name !== wanted))

const measure = Effect.fnUntraced(function* ({ name, run }: Benchmark) {
  yield* Console.error(`${name} ...`)
  const figures = yield* Effect.timeout(run(options), TIMEOUT)
  if (values.json) yield* Console.log(figures.map(json).join("\n"))
  return figures
})

const program = Effect.gen(function* () {
  if (unknown.length > 0)
    return yield* Effect.die(
      new Error(`There is no benchmark ${unknown.join(", ")}; there are ${benchmarks.map(({ name }) => name).join(", ")}`)
    )
  yield* Console.error(machine())
  if (values.unsynced) yield* Console.error("no commit waits for the disk")
  const figures: ReadonlyArray<Figure> = (yield* Effect.forEach(chosen, measure)).flat()
  if (!values.json) yield* Console.log(`\n${table(figures)}`)
})

NodeRuntime.runMain(Effect.provide(program, Logger.layer([])))
