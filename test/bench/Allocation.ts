/**
 * How much a process allocates on its heap, asked by the benchmark that started it: what each collection of garbage found beyond what the one
 * before it left.
 */
import { Effect } from "effect"
import { GCProfiler } from "node:v8"
import type { Child } from "./Child.ts"

/** In the process that is asked. */
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

/** What the effect makes it allocate, in bytes. */
export const allocatedDuring = <A>(child: Child, effect: Effect.Effect<A>): Effect.Effect<{ readonly bytes: number; readonly value: A }> =>
  Effect.gen(function* () {
    yield* ask(child, "begin", (message) => ("allocating" in message ? true : undefined))
    const value = yield* effect
    return { bytes: yield* ask(child, "end", (message) => ("allocated" in message ? Number(message.allocated) : undefined)), value }
  })
