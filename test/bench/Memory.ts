/** How much memory a process takes, as requested by the benchmark that started it. */
import { Effect } from "effect"
import type { Child } from "./Child.ts"

export interface Memory {
  /** Bytes. */
  readonly heap: number
  readonly rss: number
}

const isMemory = (message: unknown): message is Memory => message instanceof Object && "heap" in message && "rss" in message
/** Some of what one collection releases is freed only by a later one. */
const collections = 3

/** Runs in the process that is measured. */
export const answerMemory = (): void => {
  process.on("message", (message) => {
    if (!(message instanceof Object && "memory" in message)) return
    for (let times = 0; times < collections; times++) globalThis.gc?.()
    const { external, heapUsed, rss } = process.memoryUsage()
    process.send?.({ heap: heapUsed + external, rss } satisfies Memory)
  })
}

export const memoryOf = (child: Child): Effect.Effect<Memory> =>
  Effect.suspend(() => {
    child.send({ memory: true })
    return child.next((message) => (isMemory(message) ? message : undefined))
  })
