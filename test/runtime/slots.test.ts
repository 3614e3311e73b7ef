/** Permission to have a call up. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t, { type Test } from "tap"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type SlotQueue, type SlotScope, Slots } from "#runtime/dispatch/Slots.ts"
import { run } from "#test/support/run.ts"

const slots = () => Effect.runSync(Slots.pipe(Effect.provide(Slots.layerMemory)))
const names = (from: number) => () => `call${from++}`
const organization = (limit: number): SlotScope => ({ key: "organization:1", limit })
const nobody = () => {}

t.test("given calls that were up before, when they are adopted, then they count whatever the limit, once each", async (t) => {
  const { adopt, tryTake, used } = slots()
  for (const holder of ["a", "b", "b"]) adopt(holder, [organization(1)])
  t.equal(used("organization:1"), 2)
  t.notOk(tryTake("c", [organization(2)]))
})

t.test("given a call that has a slot, when it is adopted in more scopes, then it counts in each until it is released", async (t) => {
  const { adopt, release, tryTake, used } = slots()
  const media = { key: "media", limit: 1 }
  tryTake("a", [media])
  adopt("a", [organization(1), media])
  t.strictSame([used("media"), used("organization:1")], [1, 1])
  release("a")
  t.strictSame([used("media"), used("organization:1")], [0, 0])
})

t.test("given a queue that wants three slots of two, then it gets two, and the third when one is free", async (t) => {
  const { queue, release, reserved, used } = slots()
  let woken = 0
  const waiter = queue(() => void woken++)
  t.strictSame(waiter.take(3, names(0), [organization(2)]), ["call0", "call1"])
  t.equal(woken, 0)
  release("call0")
  t.equal(woken, 1)
  t.strictSame([used("organization:1"), reserved("organization:1"), reserved("organization:2")], [2, 1, 0], "and it is reserved until then")
  t.strictSame(waiter.take(1, names(3), [organization(2)]), ["call3"])
  t.strictSame([used("organization:1"), reserved("organization:1")], [2, 0])
})

t.test("given a queue that waits, when slots become free, then those who take them know since when they were free", async (t) => {
  const told = await run(
    Effect.gen(function* () {
      const { freedAt, queue, release, tryTake } = yield* Slots
      const waiter = queue(nobody)
      const start = yield* SteadyTime.now
      yield* TestClock.adjust(1000)
      waiter.take(4, names(0), [organization(2)])
      yield* TestClock.adjust(7)
      release("call0")
      yield* TestClock.adjust(5)
      release("call1")
      yield* TestClock.adjust(100)
      waiter.take(2, names(4), [organization(3)])
      tryTake("single", [organization(3)])
      const taken = ["call0", "call4", "call5", "single"].map(freedAt)
      release("call4")
      return [...taken, freedAt("call4")].map((at) => at && at - start)
    }).pipe(Effect.provide(Slots.layerMemory))
  )
  t.strictSame(told, [undefined, 1007, 1012, undefined, undefined])
})

type Kept = Slots["Service"] & { readonly first: SlotQueue; readonly second: SlotQueue }
/** A slot is reserved for the first of two queues, and this happens. */
const reserved = (what: string, then: string, happens: (kept: Kept, t: Test) => void, expected: ReadonlyArray<string>) =>
  t.test(`given a slot that is reserved for a queue, ${what}, then ${then}`, async (t) => {
    const pool = slots()
    const woken: Array<string> = []
    const [first, second] = [pool.queue(() => woken.push("first")), pool.queue(() => woken.push("second"))] as const
    first.take(1, names(0), [organization(1)])
    first.take(1, names(1), [organization(1)])
    second.take(1, names(2), [organization(1)])
    pool.release("call0")
    happens({ ...pool, first, second }, t)
    t.strictSame(woken, expected)
  })
reserved(
  "when others want it",
  "nobody else gets it",
  ({ second, tryTake }, t) => {
    t.notOk(tryTake("x", [organization(1)]))
    t.strictSame(second.take(1, names(3), [organization(1)]), [])
  },
  ["first"]
)
reserved(
  "when the queue is left",
  "the slot goes to the next",
  ({ first, second }, t) => {
    first.leave()
    t.strictSame(second.take(1, names(3), [organization(1)]), ["call3"])
  },
  ["first", "second"]
)
reserved(
  "when its limits no longer let it use the slot",
  "the slot goes to the next",
  ({ first }, t) => t.strictSame(first.take(1, names(4), [{ key: "campaign:1", limit: 0 }, organization(1)]), []),
  ["first", "second"]
)
reserved("when it wants none after all", "the slot goes to the next", ({ first }) => first.take(0, names(4), [organization(1)]), [
  "first",
  "second"
])

type Story = (pool: Slots["Service"], queue: SlotQueue) => Effect.Effect<unknown>
/** Whether the claims count as over, for somebody who waits for them while a queue has been woken and this happens. */
const claims = (title: string, story: Story, isOver: boolean) =>
  t.test(`given slots that may still be given back, when somebody waits for the claims, ${title}`, async (t) => {
    let isOverNow = false
    const before = await run(
      Effect.gen(function* () {
        const pool = yield* Slots
        const [first, second] = [pool.queue(nobody), pool.queue(nobody)] as const
        first.take(1, names(0), [organization(1)])
        second.take(1, names(1), [organization(1)])
        pool.release("call0")
        yield* Effect.forkChild(Effect.map(pool.awaitClaims, () => (isOverNow = true)))
        yield* TestClock.adjust(1000)
        const before = isOverNow
        yield* story(pool, second)
        yield* TestClock.adjust(0)
        return before
      }).pipe(Effect.provide(Slots.layerMemory))
    )
    t.strictSame([before, isOverNow], [false, isOver])
  })
/** The queue that was woken begins a claim of half a second. */
const begins: Story = (pool, queue) =>
  Effect.forkChild(
    pool.claiming(
      Effect.suspend(() => {
        queue.take(1, names(2), [organization(1)])
        return Effect.sleep(500)
      })
    )
  )
claims("then a queue that has been woken and has not begun its claim is waited for", () => Effect.void, false)
claims("then the claim that it begins is waited for", begins, false)
claims("then not for longer than the claim takes", (...given) => Effect.andThen(begins(...given), TestClock.adjust(500)), true)
claims("then a queue that leaves instead is not waited for", (_, queue) => Effect.sync(queue.leave), true)

t.test("given a queue whose limit is raised while it waits, when a slot is free, then the new limit applies", async (t) => {
  const { queue, release, tryTake } = slots()
  let woken = 0
  const waiter = queue(() => void woken++)
  waiter.take(1, names(0), [{ key: "campaign:1", limit: 1 }, organization(2)])
  tryTake("other", [organization(2)])
  waiter.take(1, names(1), [{ key: "campaign:1", limit: 1 }, organization(2)])
  waiter.take(1, names(1), [{ key: "campaign:1", limit: 2 }, organization(2)])
  release("other")
  t.equal(woken, 1)
})

/** A campaign that always has more to dial, and dials until there is no room. */
const backlogged = (queue: SlotQueue, name: string, wanted: number, limit: number, up: Array<string>, dialed: Array<string>) => () => {
  for (let full = false; !full; ) {
    let next = 0
    const taken = queue.take(wanted, () => `${name}:${dialed.length}:${next++}`, [
      { key: `campaign:${name}`, limit: undefined },
      organization(limit)
    ])
    up.push(...taken)
    dialed.push(...taken.map(() => name))
    full = taken.length < wanted
  }
}

t.test("given two campaigns with endless backlogs under one limit, then of any hundred dials each gets its half", async (t) => {
  const share = (limit: number, wanted: number, endTogether: number, late: boolean) => {
    const { queue, release } = slots()
    const up: Array<string> = []
    const dialed: Array<string> = []
    const woken = new Set<string>()
    const queueOf = (name: string) => queue(() => woken.add(name))
    const campaigns = new Map(["a", "b"].map((name) => [name, backlogged(queueOf(name), name, wanted, limit, up, dialed)]))
    for (const dial of campaigns.values()) dial()
    while (dialed.length < 400) {
      for (const id of up.splice(0, endTogether)) release(id)
      // In the order in which they were woken, or in reverse.
      for (const name of late ? [...woken].reverse() : [...woken]) campaigns.get(name)?.()
      woken.clear()
    }
    return [0, 100, 200, 300].map((from) => dialed.slice(from, from + 100).filter((name) => name === "a").length)
  }
  const check = (name: string, shares: ReadonlyArray<number>) =>
    // The first one to come finds everything free. From the second hundred on, that has evened out.
    t.ok(
      shares.slice(1).every((share) => share >= 40 && share <= 60),
      `${name}: ${shares}`
    )
  check("calls end one at a time", share(10, 50, 1, false))
  check("calls end three at a time", share(10, 50, 3, false))
  check("calls end all together", share(10, 50, 10, false))
  check("the second woken is the first to come", share(10, 50, 10, true))
  check("a small backlog each time", share(10, 2, 4, false))
  check("one slot", share(1, 1, 1, false))
})

/** Arbitrary uses of the slots are compared with a list of who holds what. */
const scopes: ReadonlyArray<SlotScope> = [
  { key: "campaign:1", limit: 3 },
  { key: "campaign:2", limit: undefined },
  { key: "organization:1", limit: 5 },
  { key: "trunk:1", limit: 4 }
]
const anyScopes = fc.subarray([...scopes], { minLength: 1 })
const anyUse = fc.oneof(
  fc.record({ kind: fc.constant("take" as const), queue: fc.nat(2), wanted: fc.nat(4), scopes: anyScopes }),
  fc.record({ kind: fc.constant("tryTake" as const), scopes: anyScopes }),
  fc.record({ kind: fc.constant("release" as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant("leave" as const), queue: fc.nat(2) })
)

type AnyUse = ReturnType<typeof anyUse.generate>["value"]

t.test("given any uses of the slots, then no limit is ever passed, and released slots are free again", async () => {
  const law = (uses: ReadonlyArray<AnyUse>) => {
    const pool = slots()
    const queues = [nobody, nobody, nobody].map(pool.queue)
    const held = new Map<string, ReadonlyArray<SlotScope>>()
    const heldIn = (key: string) => [...held.values()].filter((of) => of.some((scope) => scope.key === key)).length
    let made = 0
    const isWithin = () =>
      scopes.every(({ key, limit }) => pool.used(key) >= heldIn(key) && pool.used(key) <= (limit ?? Number.POSITIVE_INFINITY))
    const next = () => `call${made++}`
    const act = (use: AnyUse) => {
      if (use.kind === "take") for (const id of queues[use.queue]?.take(use.wanted, next, use.scopes) ?? []) held.set(id, use.scopes)
      if (use.kind === "leave") queues[use.queue]?.leave()
      if (use.kind === "release") {
        pool.release(`call${use.which}`)
        held.delete(`call${use.which}`)
      }
      if (use.kind !== "tryTake") return
      const id = next()
      if (pool.tryTake(id, use.scopes)) held.set(id, use.scopes)
    }
    const kept = uses.every((use) => {
      act(use)
      return isWithin()
    })
    for (const queue of queues) queue.leave()
    const isExact = scopes.every(({ key }) => pool.used(key) === heldIn(key))
    for (const id of held.keys()) pool.release(id)
    return kept && isExact && scopes.every(({ key }) => pool.used(key) === 0)
  }
  fc.assert(fc.property(fc.array(anyUse, { maxLength: 60, size: "max" }), law), { numRuns: 2000, seed: 1 })
})
