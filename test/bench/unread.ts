/**
 * What two hundred clients cost who send six thousand requests each in one piece and read no answer: the engine's memory, how late it answers others, and
 * what callees miss. The control is the same engine before they come.
 */
import { Console, Effect } from "effect"
import { readFileSync } from "node:fs"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, fromElsewhere } from "./Child.ts"
import { startDatabase } from "./Database.ts"
import { type Figure, quantile } from "./Figure.ts"
import { startListeners } from "./listeners.ts"
import { startHelper, startProbe } from "./Probe.ts"

const secondsOf = ({ quick }: Options) => (quick ? 5 : 30)
const goals = { megabytes: 50, millis: 50 }
const SAMPLE = "50 millis"

const residentBytes = (pid: number): number => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** The most memory that a process took while the effect ran, in megabytes. */
const besideMemory = <A>({ pid }: Child, effect: Effect.Effect<A>) =>
  Effect.suspend(() => {
    let most = 0
    const sample = Effect.sync(() => {
      most = Math.max(most, residentBytes(pid))
    })
    const sampled = Effect.andThen(sample, Effect.sleep(SAMPLE)).pipe(Effect.forever)
    return Effect.map(Effect.raceFirst(effect, sampled), (result) => ({ result, megabytes: most / 1e6 }))
  })

export const unread: Benchmark = {
  name: "unread",
  run: (options) =>
    Effect.gen(function* () {
      const { during, engine } = yield* startListeners(yield* startDatabase(options), {})
      const probing = yield* startProbe(engine, "/api/v1/health")
      const clients = yield* fromElsewhere(startHelper("unreadMain.ts"))
      yield* probing(2)
      const phase = Effect.fnUntraced(function* (name: string) {
        const { longestGap, missed, result } = yield* during(besideMemory(engine.child, probing(secondsOf(options))))
        const { megabytes, result: probed } = result
        yield* Console.error(`${name}: ${megabytes.toFixed(0)} MB, ${missed} frames missed, ${probed.failed} requests failed`)
        return { longestGap, megabytes, missed, probed }
      })
      const idle = yield* phase("idle")
      clients.send({ port: engine.address.port })
      const beside = yield* phase("unread")
      const opened = yield* clients.ask<number>({ stop: true }, "opened")
      const worst = ({ probed }: typeof idle) => quantile(probed.engine, 1)
      const figures: ReadonlyArray<Figure> = [
        {
          name: "unread: memory",
          value: beside.megabytes,
          unit: "MB",
          goal: { atMost: idle.megabytes + goals.megabytes },
          control: idle.megabytes
        },
        {
          name: "unread: GET /health, the slowest",
          value: worst(beside),
          unit: "ms",
          goal: { atMost: worst(idle) + goals.millis },
          control: worst(idle)
        },
        { name: "unread: a server that does nothing, the slowest", value: quantile(beside.probed.bare, 1), unit: "ms" },
        {
          name: "unread: the longest gap that a callee heard",
          value: beside.longestGap,
          unit: "ms",
          goal: { atMost: idle.longestGap + goals.millis },
          control: idle.longestGap
        },
        { name: "unread: frames missed", value: beside.missed, unit: "", control: idle.missed },
        { name: "unread: connections", value: opened, unit: "" }
      ]
      return figures
    }).pipe(Effect.scoped)
}
