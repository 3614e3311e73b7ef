/** What a child process has used, as requested by the benchmark that started it: CPU time, memory, and what it allocates on its heap. */
import { Effect } from "effect"
import { GCProfiler } from "node:v8"
import type { Child } from "./Child.ts"

export interface Memory {
  /** Bytes. */
  readonly heap: number
  readonly rss: number
}

/** Some of what one collection releases is freed only by a later one. */
const collections = 3
let profiler = new GCProfiler()
let allocatingFrom = 0

const sum = ({ system, user }: NodeJS.CpuUsage): number => system + user

/** The sum of what each garbage collection found beyond what the previous one left. */
const allocated = (): number => {
  const now = process.memoryUsage().heapUsed
  let left = allocatingFrom
  let bytes = 0
  for (const { afterGC, beforeGC } of profiler.stop().statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - left
    left = afterGC.heapStatistics.usedHeapSize
  }
  return bytes + now - left
}

const measures = {
  cpuSeconds: () => sum(process.cpuUsage()) / 1e6,
  mainSeconds: () => sum(process.threadCpuUsage()) / 1e6,
  memory: (): Memory => {
    for (let times = 0; times < collections; times++) globalThis.gc?.()
    const { external, heapUsed, rss } = process.memoryUsage()
    return { heap: heapUsed + external, rss }
  },
  allocating: () => {
    profiler = new GCProfiler()
    profiler.start()
    return (allocatingFrom = process.memoryUsage().heapUsed)
  },
  allocated
}
type Name = keyof typeof measures

/** Runs in the child. Its memory is exact only with `--expose-gc`. */
export const answerMeasures = (): void => {
  process.on("message", (message) => {
    if (!(message instanceof Object && "measure" in message)) return
    // It comes from the functions below.
    const name = message.measure as Name
    process.send?.({ [name]: measures[name]() })
  })
}

const measureOf =
  <N extends Name>(measure: N) =>
  (child: Child) =>
    child.ask<ReturnType<(typeof measures)[N]>>({ measure }, measure)

/** CPU seconds since its start. */
export const cpuSecondsOf = measureOf("cpuSeconds")
/** Like `cpuSecondsOf`, for the one thread that runs JavaScript and answers requests. */
export const mainSecondsOf = measureOf("mainSeconds")
export const memoryOf = measureOf("memory")

/** How many bytes the process allocates during the effect. */
export const allocatedDuring = <A>(child: Child, effect: Effect.Effect<A>): Effect.Effect<{ readonly bytes: number; readonly value: A }> =>
  Effect.gen(function* () {
    yield* measureOf("allocating")(child)
    const value = yield* effect
    return { bytes: yield* measureOf("allocated")(child), value }
  })
