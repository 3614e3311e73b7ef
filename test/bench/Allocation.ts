/**
 * How much a process allocates on its heap, as requested by the benchmark that started it: the sum of what each garbage collection found
 * beyond what the previous one left.
 */
import { Effect } from "effect"
import { GCProfiler } from "node:v8"
import type { Child } from "./Child.ts"

/** Runs in the process that is measured. */
export const answerAllocation = (): void => {
  let profiler = new GCProfiler()
  let startedAt = 0
  process.on("message", (message) => {
    if (!(message instanceof Object && "allocation" in message)) return
    if (message.allocation === "begin") {
      profiler = new GCProfiler()
      profiler.start()
      startedAt = process.memoryUsage().heapUsed
      process.send?.({ allocating: true })
    } else process.send?.({ allocated: allocatedSince(startedAt, profiler) })
  })
}

const allocatedSince = (startedAt: number, profiler: GCProfiler): number => {
  const now = process.memoryUsage().heapUsed
  let left = startedAt
  let allocated = 0
  for (const { afterGC, beforeGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - left
    left = afterGC.heapStatistics.usedHeapSize
  }
  return allocated + now - left
}

const ask = <A>(child: Child, question: "begin" | "end", reads: (message: object) => A | undefined): Effect.Effect<A> =>
  Effect.suspend(() => {
    child.send({ allocation: question })
    return child.next((message) => (message instanceof Object ? reads(message) : undefined))
  })

/** How many bytes the process allocates during the effect. */
export const allocatedDuring = <A>(child: Child, effect: Effect.Effect<A>): Effect.Effect<{ readonly bytes: number; readonly value: A }> =>
  Effect.gen(function* () {
    yield* ask(child, "begin", (message) => ("allocating" in message ? true : undefined))
    const value = yield* effect
    return { bytes: yield* ask(child, "end", (message) => ("allocated" in message ? Number(message.allocated) : undefined)), value }
  })
