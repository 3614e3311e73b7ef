/** When calls may leave: the departure times of a campaign and of its trunk, and whose turn it is. */
import { setImmediate } from "node:timers/promises"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t, { type Test } from "tap"
import { lateMillis, spacing } from "#core/campaign/Pacing.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate, type Departure, type RateScope, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { campaign, most, trunk } from "#test/support/rates.ts"
import { run } from "#test/support/run.ts"
import { seeded } from "#test/support/seeded.ts"

const nobody = () => {}

/** `realMillis` stands still, because a busy machine must not look like a process that stood still as a call left. */
const play = <A>(
  act: (rates: CallRate["Service"], start: number) => Generator<Effect.Effect<unknown>, A, never>,
  realMillis: () => number = () => 0,
  firstAfter = Number.NEGATIVE_INFINITY
) =>
  run(
    Effect.gen(function* () {
      const start = yield* SteadyTime.now
      return yield* CallRate.use((rates) =>
        Effect.gen(function* () {
          rates.begin(start + firstAfter)
          return yield* Effect.gen(() => act(rates, start))
        })
      ).pipe(Effect.provide(CallRate.layerMemory))
    }).pipe(Effect.provideService(RealMillis, realMillis))
  )
/** What is seen before any time passes. */
const seenAtOnce = <A>(look: (rates: CallRate["Service"], start: number) => A, firstAfter?: number) =>
  play(
    function* (rates, start) {
      yield* Effect.void
      return look(rates, start)
    },
    undefined,
    firstAfter
  )
/** Waits for the departure time, and leaves `late` milliseconds after it. */
const leave = Effect.fnUntraced(function* (departure: Departure, late = 0) {
  while (true) {
    const early = departure.readyAt() - (yield* SteadyTime.now)
    if (early <= 0.01) break
    yield* TestClock.adjust(Math.ceil(early))
  }
  yield* TestClock.adjust(late)
  return departure.leave() ? yield* SteadyTime.now : undefined
})

/** No rolling second had more than the rate, and at least this share of it was used. */
const judge = (t: Test, left: ReadonlyArray<number>, rate: number, share = 0) => {
  const achieved = (left.length - 1) / (((left.at(-1) ?? 0) - (left[0] ?? 0)) / 1000)
  t.ok(achieved >= share * rate, `${achieved} a second`)
  t.ok(most(left, 1010) <= rate)
}
/** Lets all departures that may leave do so, each from the time in `ready` on, and records in `left` when they left, relative to `start`. */
const millisecond = Effect.fnUntraced(function* (ready: Map<Departure, number>, left: Array<number>, start: number) {
  const now = yield* SteadyTime.now
  for (const [departure, from] of ready) {
    if (now < from || departure.readyAt() > now || !departure.leave()) continue
    ready.delete(departure)
    left.push(now - start)
  }
  yield* TestClock.adjust(1)
})

t.test("given another engine that dialed a moment ago, when calls are about to leave, then none does within that second", async (t) => {
  const readyAt = await seenAtOnce((rates, start) => {
    const queue = rates.queue(nobody)
    const scopes = [campaign(1, 20), trunk(20)]
    t.equal(queue.room(scopes, start, start + 900), 0, "before, there is no moment for a campaign")
    t.equal(queue.turnAt() - start, 1000, "whose turn comes then")
    return [rates.reserve(scopes), ...queue.reserve(scopes, 1, start)].map((departure) => departure.readyAt() - start)
  }, 1000)
  const gap = (readyAt[1] ?? 0) - (readyAt[0] ?? 0)
  t.equal(readyAt[0], 1000)
  t.ok(gap > 1.09 * spacing(20) && gap < 1.11 * spacing(20), `and they are further apart at first: ${gap} ms`)
})

t.test("given a rate, when departure times are reserved, then they are one spacing apart, and no trunk exceeds its own rate", async (t) => {
  const moments = await seenAtOnce((rates, start) => {
    const at = (...scopes: ReadonlyArray<RateScope>) => rates.reserve(scopes).readyAt() - start
    const both = Array.from({ length: 40 }, () => [at(campaign(1, 10), trunk(5)), at(campaign(2, 2), trunk(5))] as const)
    return { first: both.map(([fast]) => fast), second: both.map(([, slow]) => slow) }
  })
  t.strictSame(moments.first.slice(0, 1), [0])
  t.ok(most(moments.second, 1000) <= 2)
  t.ok(most([...moments.first, ...moments.second], 1000) <= 5)
  const all = [...moments.first, ...moments.second].sort((a, b) => a - b)
  t.ok(Math.min(...all.slice(1).map((at, i) => at - (all[i] ?? 0))) >= spacing(5) - 0.001)
})

t.test("given any rate, any times of asking and any lateness, then no rolling second holds more than the rate", async () => {
  const anyCall = fc.record({ gone: fc.boolean(), late: fc.nat(120), pause: fc.nat(300) })
  const law = fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.array(anyCall, { maxLength: 40, size: "max" }), async (rate, calls) => {
    const left = await play(function* (rates) {
      const left: Array<number> = []
      for (const { gone, late, pause } of calls) {
        yield* TestClock.adjust(pause)
        const departure = rates.reserve([trunk(rate), campaign(1, rate * 2)])
        if (gone) departure.giveBack()
        else left.push((yield* leave(departure, late)) ?? Number.NaN)
      }
      return left.filter((at) => !Number.isNaN(at))
    })
    // The rest of the margin is left for the network.
    return most(left, 1010) <= rate
  })
  await fc.assert(law, { numRuns: 150, seed: 2 })
})

t.test("given a call that misses its departure time, then it leaves between the next two, and the calls behind it at theirs", async (t) => {
  const ready = await play(function* (rates, start) {
    const alone = rates.reserve([trunk(1)])
    const [first, second] = [rates.reserve([campaign(2, 1)]), rates.reserve([campaign(2, 1)])] as const
    yield* TestClock.adjust(400)
    return [alone, first, second].map((departure) => departure.readyAt() - start)
  })
  t.strictSame(ready, [400, 400, 1030])
})

t.test("given calls that are late again and again, when others have all times behind them, then the rate is used in full", async (t) => {
  const rate = 20
  const left = await play(function* (rates, start) {
    const left: Array<number> = []
    const going = Array.from({ length: 100 }, () => rates.reserve([trunk(rate)]))
    // Every fifth call learns only long after its departure time that it may leave.
    const ready = new Map(going.map((departure, i) => [departure, i % 5 === 0 ? departure.readyAt() + 70 : Number.NEGATIVE_INFINITY]))
    while (left.length < going.length) yield* millisecond(ready, left, start)
    return left
  })
  judge(t, left, rate, 0.95)
})

t.test("given calls that once left late, then the following seconds make up for that, and nobody stays late", async (t) => {
  const rate = 40
  const count = 20 * rate
  const held = [60, 61]
  const left = await play(function* (rates, start) {
    const left: Array<number> = []
    const ready = new Map<Departure, number>()
    let reserved = 0
    while (left.length < count) {
      while (ready.size < 10) {
        const departure = rates.reserve([trunk(rate)])
        ready.set(departure, held.includes(reserved++) ? departure.readyAt() + 60 : Number.NEGATIVE_INFINITY)
      }
      yield* millisecond(ready, left, start)
    }
    return left
  })
  const late = left.map((at, i) => at - i * spacing(rate))
  const worstIn = (from: number) => Math.max(...late.slice(from, from + rate)) - Math.min(...late.slice(from, from + rate))
  t.ok(worstIn(50) > 30, `${worstIn(50)} ms late at first`)
  t.ok(worstIn(count - rate) < 5, `${worstIn(count - rate)} ms late at last`)
  judge(t, left, rate)
})

t.test("given claims and timers that are late again and again, then the rate is still achieved, and never exceeded", async (t) => {
  const rate = 20
  const claim = { every: 30, least: 5, most: 40, timer: 4 }
  const chance = seeded(1)
  const random = (most: number) => chance() * most
  const left = await play(function* (rates, start) {
    const left: Array<number> = []
    const queue = rates.queue(nobody)
    const scopes = [campaign(1, rate), trunk(100)]
    let claimed: { readonly at: number; readonly departures: ReadonlyArray<Departure> } | undefined
    const ready = new Map<Departure, number>()
    while (left.length < 30 * rate) {
      const now = yield* SteadyTime.now
      if (claimed === undefined) {
        const from = now + claim.least
        const room = queue.room(scopes, from, now + 2 * claim.every)
        if (room > 0) claimed = { at: from + random(claim.most - claim.least), departures: queue.reserve(scopes, room, from) }
      } else if (now >= claimed.at) {
        for (const departure of claimed.departures) ready.set(departure, departure.readyAt() + random(claim.timer))
        claimed = undefined
      }
      for (const [departure, from] of ready) {
        if (now < from) continue
        const at = departure.readyAt()
        if (at > now) {
          ready.set(departure, at + random(claim.timer))
          continue
        }
        ready.delete(departure)
        if (departure.leave()) left.push(now - start)
      }
      yield* TestClock.adjust(1)
    }
    return left
  })
  judge(t, left, rate, 0.968)
})

t.test("given a departure time that is given back, then the next to ask gets it, and the one whose turn it is is told", async (t) => {
  const seen = await seenAtOnce((rates, start) => {
    let woken = 0
    const queue = rates.queue(() => void woken++)
    const first = rates.reserve([trunk(1)])
    const room = queue.room([trunk(1)], start, start + 20)
    const expected = queue.turnAt() - start
    first.giveBack()
    first.giveBack()
    return { again: queue.room([trunk(1)], start, start + 20), expected, room, woken }
  })
  t.strictSame(seen, { again: 1, expected: 1030, room: 0, woken: 1 })
})

t.test("given thirty campaigns on one trunk, when all want more than it gives, then they take turns", async (t) => {
  const counts = await play(function* (rates, start) {
    const queues = Array.from({ length: 30 }, () => rates.queue(nobody))
    const counts = queues.map(() => 0)
    const departures: Array<number> = []
    for (let millis = 0; millis < 9000; millis += 5) {
      const now = start + millis
      for (const [i, queue] of queues.entries()) {
        const scopes = [campaign(i, 50), trunk(100)]
        const room = queue.room(scopes, now, now + 20)
        if (room === 0) continue
        departures.push(...queue.reserve(scopes, room, now).map((departure) => departure.readyAt()))
        counts[i] = (counts[i] ?? 0) + room
      }
      yield* TestClock.adjust(5)
    }
    t.ok(most(departures, 1000) <= 100)
    return counts
  })
  const sum = counts.reduce((total, count) => total + count, 0)
  t.ok(sum >= 0.96 * 100 * 9, `the trunk is used: ${sum}`)
  t.ok(Math.max(...counts) - Math.min(...counts) <= 0.4 * (sum / 30), `evenly: ${Math.min(...counts)} to ${Math.max(...counts)}`)
})

t.test("given a process that stands still as a call leaves, then the second is counted from when that call may have arrived", async (t) => {
  const standstill = 60
  let realMillis = 0
  const next = await play(
    function* (rates, start) {
      rates.reserve([trunk(1)]).leave()
      realMillis += standstill
      yield* Effect.promise(() => setImmediate())
      return rates.reserve([trunk(1)]).readyAt() - start
    },
    () => realMillis
  )
  t.ok(next >= 1025 + standstill, `the next one leaves after ${next} ms`)
})

t.test("given rates that are no longer used, then they are forgotten", async (t) => {
  const sizes = await play(function* (rates) {
    for (let id = 0; id < 500; id++) yield* leave(rates.reserve([campaign(id, 1000), trunk(1000)]))
    const queue = rates.queue(nobody)
    const now = yield* SteadyTime.now
    rates.reserve([campaign(1, 1)])
    queue.room([campaign(1, 1)], now, now)
    const before = rates.size()
    queue.leave()
    yield* TestClock.adjust("3 seconds")
    rates.reserve([trunk(1000)]).giveBack()
    return { after: rates.size(), before }
  })
  t.ok(sizes.before > 100)
  t.ok(sizes.after <= 1, `${sizes.after} of ${sizes.before} are left`)
})

t.test("given a rate that is lowered, then the next call keeps the distance of the new rate", async (t) => {
  const at = await play(function* (rates, start) {
    yield* leave(rates.reserve([campaign(1, 100)]))
    return rates.reserve([campaign(1, 1)]).readyAt() - start
  })
  t.ok(at >= 1020, `${at} ms later`)
  t.ok(lateMillis < 30)
})

t.test("given an account that was called too fast, then it is called at half the rate at least, and later as before", async (t) => {
  const rate = 20
  const gaps = await play(function* (rates) {
    /** The spacing between calls when there is no delay to make up for. */
    const gap = () => {
      const departures = Array.from({ length: 40 }, () => rates.reserve([trunk(rate)]))
      const [from = 0, until = 0] = [departures[20], departures[39]].map((departure) => departure?.readyAt())
      for (const departure of departures) departure.giveBack()
      return (until - from) / 19 / spacing(rate)
    }
    const gaps = [gap()]
    rates.slowDown(trunk(rate))
    // These were in flight when the first one was refused.
    rates.slowDown(trunk(rate))
    gaps.push(gap())
    for (let refused = 0; refused < 20; refused++) {
      yield* TestClock.adjust("2 seconds")
      rates.slowDown(trunk(rate))
    }
    gaps.push(gap())
    for (let calls = 0; calls < 20_000; calls++) {
      yield* TestClock.adjust(110)
      rates.reserve([trunk(rate)]).leave()
    }
    yield* TestClock.adjust("2 seconds")
    return [...gaps, gap()]
  })
  const rounded = gaps.map((gap) => Math.round(gap * 100) / 100)
  t.strictSame(rounded, [1, 1.1, 2, 1])
})

t.test("given an account that was called too fast, when it is not called for a long time, then that is forgotten", async (t) => {
  const sizes = await play(function* (rates) {
    const sizeAfter = function* (time: "1 minute" | "10 minutes") {
      yield* TestClock.adjust(time)
      rates.reserve([campaign(1, 1000)]).giveBack()
      return rates.size()
    }
    rates.slowDown(trunk(20))
    return [yield* sizeAfter("1 minute"), yield* sizeAfter("10 minutes")]
  })
  t.strictSame(sizes, [2, 1], "then only the rate in use is left")
})

t.test("given a network that brings calls closer together, and a carrier that counts arrivals, then few are refused", async (t) => {
  const rate = 20
  const chance = seeded(1)
  /** How many of the calls of two minutes are refused. */
  const refusals = (isHeard: boolean) =>
    play(function* (rates, start) {
      const taken: Array<number> = []
      let refused = 0
      while ((yield* SteadyTime.now) < start + 120_000) {
        const at = yield* leave(rates.reserve([trunk(rate)]))
        const arrival = (at ?? 0) + chance() * 120
        if (taken.filter((one) => Math.abs(one - arrival) < 1000 && one <= arrival).length < rate) taken.push(arrival)
        else {
          refused++
          if (isHeard) rates.slowDown(trunk(rate))
        }
      }
      return refused
    })
  const [deaf, learning] = [await refusals(false), await refusals(true)]
  t.ok(deaf > 20, `${deaf} otherwise`)
  t.ok(learning < 5, `${learning}`)
})
