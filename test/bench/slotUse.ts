/** The share of the slots' time in which calls were live. */
import { Effect } from "effect"
import type { Benchmark } from "./Benchmark.ts"
import { dispatchRun } from "./dispatchRun.ts"

export const slotUse: Benchmark = {
  name: "slot-use",
  run: (options) =>
    Effect.map(dispatchRun({ ...options, pace: "steady", voice: false }), ({ engine, loop, poller }) => {
      const percent = (share: number) => 100 * share
      return [
        { name: "slot-use", value: percent(engine.slotUse), unit: "%", goal: { atLeast: 98 }, control: percent(loop.slotUse) },
        {
          name: "slot-use, of a one-second poller instead",
          value: percent(poller.slotUse),
          unit: "%",
          control: percent(loop.slotUse)
        }
      ]
    })
}
