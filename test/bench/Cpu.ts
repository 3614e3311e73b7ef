/** What a child process has spent of its core, asked by the benchmark that started it. */
import { Effect } from "effect"
import type { Child } from "./Child.ts"

const question = "cpu"

/** In the child. */
export const answerCpu = (): void => {
  process.on("message", (message) => {
    if (message instanceof Object && "ask" in message && message.ask === question) process.send?.({ cpuMicros: micros() })
  })
}

const micros = (): number => {
  const { system, user } = process.cpuUsage()
  return system + user
}

/** Since its start, in seconds. */
export const cpuSecondsOf = (child: Child): Effect.Effect<number> => {
  const answer = child.next((message) =>
    message instanceof Object && "cpuMicros" in message ? Number(message.cpuMicros) / 1e6 : undefined
  )
  return Effect.map(
    Effect.all([answer, Effect.sync(() => child.send({ ask: question }))], { concurrency: "unbounded" }),
    ([seconds]) => seconds
  )
}
