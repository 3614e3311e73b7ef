/** The order in which the numbers of a trunk are shown. */
import { Effect } from "effect"
import t from "tap"
import { CallId } from "#core/Id.ts"
import { CallerRotation } from "#runtime/campaign/CallerRotation.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"

const numbers = ["+15550000001", "+15550000002", "+15550000003"]
let calls = 0

const scene = (limits?: ReadonlyMap<string, number>) => {
  const slots = Effect.runSync(Slots.pipe(Effect.provide(Slots.layerMemory)))
  // The cast holds because the rotation reads only these two members of a trunk.
  const trunk = { configurationId: 1, callerIds: () => ({ all: numbers, limits }) } as unknown as LiveTrunk
  const rotation = new CallerRotation(slots)
  /** Calls that may be claimed, with the last digits of the numbers that they should show. */
  const assign = (count: number) => {
    const ids = Array.from({ length: count }, () => CallId.make(`00000000-0000-7000-8000-${String(++calls).padStart(12, "0")}`))
    for (const id of ids) slots.adopt(id, [rotation.scope(trunk)])
    const assigned = rotation.assign(trunk, ids)
    const digits = assigned.map(({ number }) => Number(number?.at(-1)))
    /** Only the first of these calls get contacts. `again` has the numbers that contacts have seen before. */
    const claim = (contacts: number, again: Readonly<Record<number, number>> = {}) => {
      const shown = ids.slice(0, contacts).map((id, index) => [id, numbers[(again[index] ?? digits[index] ?? 0) - 1] ?? null] as const)
      rotation.settle(trunk, ids, assigned, new Map(shown))
      for (const id of ids.slice(contacts)) slots.release(id)
      return shown.map(([, number]) => Number(number?.at(-1)))
    }
    return { claim, digits }
  }
  return { assign, used: () => numbers.map((number) => slots.used(`caller:1:${number}`)) }
}

t.test("given three numbers, when calls are claimed one by one, then each number has its turn", async (t) => {
  for (const slots of [1, 2, 3, 4, 5, 7]) {
    const { assign, used } = scene()
    const shown = Array.from({ length: 7 }, () => assign(slots).claim(1)).flat()
    t.strictSame(shown, [1, 2, 3, 1, 2, 3, 1], `in claims with ${slots} slots, most of which find no contact`)
    t.strictSame(used(), [3, 2, 2])
  }
  const { assign } = scene()
  t.strictSame([assign(6).claim(2), assign(6).claim(0), assign(6).claim(2)], [[1, 2], [], [3, 1]])
})

t.test("given a contact that sees the same number as before, then the one intended for it is used next, and its own waits", async (t) => {
  const { assign, used } = scene()
  t.strictSame(assign(1).claim(1, { 0: 3 }), [3])
  t.strictSame(used(), [0, 0, 1])
  t.strictSame([assign(1).claim(1), assign(1).claim(1), assign(1).claim(1)].flat(), [1, 2, 3])
})

t.test("given two claims at once, when the first gives back what the second has taken since, then the order stays", async (t) => {
  const { assign } = scene()
  const [first, second] = [assign(2), assign(2)]
  t.strictSame([...first.digits, ...second.digits], [1, 2, 3, 1])
  second.claim(2)
  first.claim(0)
  t.strictSame([assign(1).claim(1), assign(1).claim(1)], [[2], [3]], "nobody has shown the second number")
})

t.test("given numbers with a limit of calls, then those at their limit are skipped", async (t) => {
  const { assign } = scene(new Map([[numbers[0] ?? "", 1]]))
  t.strictSame(assign(4).claim(4), [1, 2, 3, 2])
})
