/** How much CPU time a child process has used, as requested by the benchmark that started it. */
import { Effect } from "effect"
import type { Child } from "./Child.ts"

const question = "cpu"

/** Runs in the child. */
export const answerCpu = (): void => {
  process.on("message", (message) => {
    if (message instanceof Object && "ask" in message && message.ask === question) {
      process.send?.({ cpuMicros: sum(process.cpuUsage()), mainMicros: sum(process.threadCpuUsage()) })
    }
  })
}

const sum = ({ system, user }: NodeJS.CpuUsage): number => system + user

/** CPU seconds since its start. */
export const cpuSecondsOf = (child: Child): Effect.Effect<number> => answerOf(child, "cpuMicros")
/** Like `cpuSecondsOf`, for the one thread that runs JavaScript and answers requests. */
export const mainSecondsOf = (child: Child): Effect.Effect<number> => answerOf(child, "mainMicros")

const answerOf = (child: Child, name: "cpuMicros" | "mainMicros"): Effect.Effect<number> => {
  const answer = child.next((message) =>
    message instanceof Object && name in message ? Number(Reflect.get(message, name)) / 1e6 : undefined
  )
  return Effect.map(
    Effect.all([answer, Effect.sync(() => child.send({ ask: question }))], { concurrency: "unbounded" }),
    ([seconds]) => seconds
  )
}
