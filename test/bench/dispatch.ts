/** How soon a freed slot is used again: from the end of a call to the next originate, both as the callee's side sees them. */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Compared, dispatchRun, type Plan } from "./dispatchRun.ts"
import { type Figure, quantile } from "./Figure.ts"

const goals = { p50: { atMost: 5 }, p99: { atMost: 25 } } as const

const figuresOf = (name: string, { engine, loop }: Compared): ReadonlyArray<Figure> =>
  (
    [
      ["p50", 0.5],
      ["p99", 0.99]
    ] as const
  ).map(([label, share]) => ({
    name: `${name} ${label}`,
    value: quantile(engine.turnarounds, share),
    unit: "ms",
    goal: goals[label],
    control: quantile(loop.turnarounds, share)
  }))

const explanations = (name: string, { commits, loop, poller, syncs }: Compared): ReadonlyArray<Figure> => [
  {
    name: `${name} p50, of a one-second poller instead`,
    value: quantile(poller.turnarounds, 0.5),
    unit: "ms",
    control: quantile(loop.turnarounds, 0.5)
  },
  { name: `${name}, one commit on this disk p50`, value: quantile(commits, 0.5), unit: "ms" },
  { name: `${name}, a page to this disk meanwhile p99`, value: quantile(syncs, 0.99), unit: "ms" },
  { name: `${name}, a page to this disk meanwhile, the slowest`, value: Math.max(...syncs), unit: "ms" }
]

const measured = (name: string, plan: Omit<Plan, keyof Options>): Benchmark => ({
  name,
  run: (options) => Effect.map(dispatchRun({ ...options, ...plan }), (run) => [...figuresOf(name, run), ...explanations(name, run)])
})

export const dispatch = measured("dispatch", { pace: "steady", voice: false })
/** A hundred slots become free within a tenth of a second. */
export const dispatchInStep = measured("dispatch-in-step", { pace: "in step", voice: false })
export const dispatchWithVoice = measured("dispatch-with-voice", { pace: "steady", voice: true })

/** The share of the slots' time in which calls were live, in the run of `dispatch`. */
export const slotUse: Benchmark = {
  name: "slot-use",
  run: (options) =>
    Effect.map(dispatchRun({ ...options, pace: "steady", voice: false }), ({ engine, loop, poller }) => {
      const control = 100 * loop.slotUse
      return [
        { name: "slot-use", value: 100 * engine.slotUse, unit: "%", goal: { atLeast: 98 }, control },
        { name: "slot-use, of a one-second poller instead", value: 100 * poller.slotUse, unit: "%", control }
      ]
    })
}
