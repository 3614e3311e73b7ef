/** The status of a trunk whose credentials are checked from time to time. */
import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { keepStatus } from "#adapters/shared/keepStatus.ts"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { run } from "#test/support/run.ts"

const up: TrunkStatus = { _tag: "Up" }
const down = (reason: "auth" | "unreachable", detail = reason): TrunkStatus => ({ _tag: "Down", reason, detail })

/** A trunk whose checks give the results that the test sets. */
const checked = Effect.fnUntraced(function* (first: TrunkStatus) {
  const world = { status: first, checks: 0, told: [] as string[], hurry: Latch.makeUnsafe(false) }
  const check = Effect.sync(() => {
    world.checks += 1
    return world.status
  })
  const onStatus = (status: TrunkStatus) => void world.told.push(status._tag === "Down" ? status.detail : status._tag)
  yield* Effect.forkScoped(keepStatus({ check, onStatus, hurry: world.hurry }))
  yield* TestClock.adjust(0)
  return world
})

t.test("when the carrier cannot be reached, then the check is retried after growing pauses, and reported once", async (t) => {
  await run(function* () {
    const world = yield* checked(down("unreachable"))
    const checksIn = Effect.fnUntraced(function* (seconds: number) {
      const before = world.checks
      yield* TestClock.adjust(`${seconds} seconds`)
      return world.checks - before
    })
    t.ok((yield* checksIn(15)) >= 3)
    t.ok((yield* checksIn(60)) <= 6)
    t.ok((yield* checksIn(300)) <= 15)
    t.strictSame(world.told, ["Connecting", "unreachable"])
    world.status = up
    yield* TestClock.adjust("1 minute")
    t.strictSame(world.told, ["Connecting", "unreachable", "Up"])
  })
})

t.test("when the trunk is up, then a single check without an answer is not an outage, but two are", async (t) => {
  await run(function* () {
    const world = yield* checked(up)
    const failAt = Effect.fnUntraced(function* (failures: number) {
      const until = world.checks + 1
      while (world.checks < until) yield* TestClock.adjust("100 millis")
      world.status = down("unreachable")
      const failed = world.checks + failures
      while (world.checks < failed) yield* TestClock.adjust("100 millis")
      world.status = up
      yield* TestClock.adjust("10 seconds")
    })
    yield* failAt(1)
    t.strictSame(world.told, ["Connecting", "Up"])
    yield* failAt(2)
    t.strictSame(world.told, ["Connecting", "Up", "unreachable", "Up"])
  })
})

t.test("when a check is hurried, then its result is reported at once, whatever it was before", async (t) => {
  await run(function* () {
    const world = yield* checked(up)
    world.status = down("unreachable")
    world.hurry.openUnsafe()
    yield* TestClock.adjust(0)
    t.strictSame(world.told, ["Connecting", "Up", "unreachable"])
    world.status = down("auth")
    world.hurry.openUnsafe()
    yield* TestClock.adjust(0)
    world.hurry.openUnsafe()
    yield* TestClock.adjust(0)
    t.strictSame(world.told, ["Connecting", "Up", "unreachable", "auth", "auth"])
    const before = world.checks
    yield* TestClock.adjust("20 seconds")
    t.equal(world.checks, before, "then wrong credentials are not tried often")
  })
})
