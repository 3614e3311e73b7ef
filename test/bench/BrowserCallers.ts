/** Callers in browsers, who converse with an agent. */
import { Effect, type Scope } from "effect"
import type { BrowserAnswers, BrowserFlow } from "./browserCallersMain.ts"
import { startChild } from "./Child.ts"
import type { Conversed, ConverserPlan } from "./Converser.ts"
import { type Engine, numberAt } from "./Engine.ts"

const LOOK_AGAIN = "200 millis"

export interface BrowserCallers {
  readonly pid: number
  /** Returns once this many more calls are up. */
  readonly add: (count: number) => Effect.Effect<void>
  readonly hangUp: Effect.Effect<void>
  /** How many calls have been ended by the engine. */
  readonly ended: Effect.Effect<number>
  /** What they have noted since the last request. */
  readonly conversed: Effect.Effect<Conversed>
  readonly flow: Effect.Effect<BrowserFlow>
}

export const startBrowserCallers = (
  engine: Engine,
  agentId: number,
  plan: ConverserPlan
): Effect.Effect<BrowserCallers, never, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* startChild({ file: "browserCallersMain.ts", environment: { ...process.env, CALLERS: JSON.stringify(plan) } })
    const asked = <Name extends keyof BrowserAnswers>(question: Name) => child.ask<BrowserAnswers[Name]>({ question }, question)
    const { key, port } = engine.address
    let called = 0
    const untilUp = Effect.gen(function* () {
      while ((yield* asked("up")) < called) {
        const [how] = yield* asked("ended")
        if (how !== undefined) return yield* Effect.die(new Error(`a call has ended by itself: ${how}`))
        yield* Effect.sleep(LOOK_AGAIN)
      }
    })
    return {
      pid: child.pid,
      add: Effect.fnUntraced(function* (count) {
        // One after another: opening a connection takes much more of a processor than using it.
        for (let more = 0; more < count; more++) {
          const run = yield* engine.post(`/workflow/${agentId}/runs`, { mode: "smallwebrtc", name: `WR-${++called}` })
          child.send({ call: `http://127.0.0.1:${port}/api/v1/ws/signaling/${agentId}/${numberAt(run, "id")}?token=${key}` })
          yield* untilUp
        }
      }),
      hangUp: Effect.sync(() => {
        called = 0
        child.send({ hangUp: true })
      }),
      ended: Effect.map(asked("ended"), ({ length }) => length),
      conversed: asked("conversed"),
      flow: asked("flow")
    }
  })
