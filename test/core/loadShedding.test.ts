/** Who is refused while the thread cannot keep up, with looks and a clock controlled by the test. */
import fc from "fast-check"
import t from "tap"
import { LOOK_MILLIS, LoadShedding, weightOf } from "#core/load/LoadShedding.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** Requests that a client sends between two looks. */
interface Demand {
  readonly name: string
  readonly perLook: number
  readonly weight: number
}

/** Takes `looks` looks, each `lateMillis` later than it should be; returns how many requests of each client were refused. */
const play = (load: LoadShedding, demands: ReadonlyArray<Demand>, looks: number, lateMillis: number, from = 0) => {
  const refused: Record<string, number> = Object.fromEntries(demands.map(({ name }) => [name, 0]))
  for (let i = 0; i < looks; i++) {
    for (const { name, perLook, weight } of demands) {
      for (let n = 0; n < perLook; n++) if (load.refuses(name, weight)) refused[name] = (refused[name] ?? 0) + 1
    }
    // A time on this test's own clock.
    load.look((from + (i + 1) * (LOOK_MILLIS + lateMillis)) as SteadyMillis)
  }
  return refused
}
const flooder = { name: "flooder", perLook: 40, weight: 5 }
const neighbour = { name: "neighbour", perLook: 5, weight: 1 }

t.test("given a thread that keeps up, then nobody is refused, whatever the demand", async (t) => {
  t.strictSame(play(new LoadShedding(), [flooder, neighbour], 100, 2), { flooder: 0, neighbour: 0 })
})

t.test("given a thread that is late, then only the client that asks for the most is refused, down to the least share", async (t) => {
  const load = new LoadShedding()
  const refused = play(load, [flooder, neighbour], 100, 60)
  t.equal(refused["neighbour"], 0)
  const later = play(load, [flooder, neighbour], 100, 60, 16_000)
  t.equal(later["neighbour"], 0)
  // In 16 s, the least share of 100 a second lets 320 of weight 5 pass.
  const passed = 100 * flooder.perLook - (later["flooder"] ?? 0)
  t.ok(passed >= 300 && passed <= 340, `${passed} pass`)
})

t.test("given a thread that is late, when it has only one client, then that one is not refused", async (t) => {
  t.strictSame(play(new LoadShedding(), [flooder], 100, 60), { flooder: 0 })
})

t.test("given shares that have shrunk, when the thread keeps up again, then they grow until nobody is refused", async (t) => {
  const load = new LoadShedding()
  play(load, [flooder, neighbour], 50, 60)
  play(load, [flooder, neighbour], 150, 0, 8000)
  t.strictSame(play(load, [flooder, neighbour], 50, 0, 23_000), { flooder: 0, neighbour: 0 })
})

t.test("given a client that is gone, then it is forgotten", async (t) => {
  const load = new LoadShedding()
  for (let i = 0; i < 1000; i++) load.refuses(`stranger ${i}`, 5)
  t.equal(load.size, 1000)
  play(load, [], 40, 0)
  t.equal(load.size, 0)
})

t.test("given a thread that is late, when a modest client sends a burst, then it is not refused", async (t) => {
  const load = new LoadShedding()
  play(load, [flooder, neighbour], 50, 60)
  t.strictSame(
    Array.from({ length: 15 }, () => load.refuses("neighbour", 30)),
    Array.from({ length: 15 }, () => false)
  )
})

t.test("given any demands and any lateness, then a client that stays below the least share is never refused", async () => {
  const anyDemand = fc.record({ perLook: fc.nat(60), weight: fc.integer({ min: 1, max: 50 }) })
  const law = fc.property(
    fc.array(anyDemand, { maxLength: 6 }),
    fc.array(fc.nat(400), { maxLength: 60, size: "max" }),
    (others, lateness) => {
      const load = new LoadShedding()
      let at = 0
      let refused = 0
      for (const late of lateness) {
        others.forEach(({ perLook, weight }, index) => {
          for (let n = 0; n < perLook; n++) load.refuses(`other ${index}`, weight)
        })
        // Nine requests in a tenth of a second.
        for (let n = 0; n < 9; n++) if (load.refuses("modest", 1)) refused++
        at += LOOK_MILLIS + late
        load.look(at as SteadyMillis)
      }
      return refused === 0
    }
  )
  fc.assert(law, { numRuns: 300, seed: 5 })
})

t.test("given a request, then its weight grows with its body, up to a limit", async (t) => {
  t.equal(weightOf("light", 0), 1)
  t.equal(weightOf("light", Number.NaN), 1)
  t.equal(weightOf("change", 100_000), 15)
  t.equal(weightOf("heavy", 100_000_000), 250)
})
