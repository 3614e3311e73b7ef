/** How much memory a process takes, asked from another one. */
import { Effect } from "effect"
import type { Child } from "./Child.ts"

export interface Memory {
  /** Bytes. */
  readonly heap: number
  readonly rss: number
}

const isMemory = (message: unknown): message is Memory => message instanceof Object && "heap" in message && "rss" in message
/** What a first collection lets go of, a second one frees. */
const collections = 3

/** In the process that is asked. */
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
