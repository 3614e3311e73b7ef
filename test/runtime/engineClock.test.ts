/** The wall clock of an engine follows that of its database, whatever is done to the machine's own. */
import { type Clock, Effect } from "effect"
import t from "tap"
import { nowOf } from "#core/SteadyTime.ts"
import { EngineClock } from "#runtime/lock/EngineClock.ts"

/** A machine whose clock is right, until something is done to it. Steady time began a minute before. */
const makeMachine = () => {
  const machine = { aheadMillis: 0, steady: 60_000, suspendedMillis: 0 }
  const wall = () => 1_000_000 + machine.steady + machine.suspendedMillis + machine.aheadMillis
  const clock: Clock.Clock = {
    currentTimeMillis: Effect.sync(wall),
    currentTimeMillisUnsafe: wall,
    currentTimeNanos: Effect.sync(() => BigInt(wall()) * 1_000_000n),
    currentTimeNanosUnsafe: () => BigInt(wall()) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(machine.steady) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(machine.steady) * 1_000_000n,
    sleep: () => Effect.void
  }
  const engine = new EngineClock({ clock, uptimeMillis: () => machine.steady + machine.suspendedMillis })
  const real = () => wall() - machine.aheadMillis
  /** Asks a database, whose clock is ahead by so much, and which answers after some milliseconds. */
  const ask = (answerMillis: number, databaseAhead = 0) => {
    const askedAt = nowOf(clock)
    machine.steady += answerMillis / 2
    const told = real() + databaseAhead
    machine.steady += answerMillis / 2
    engine.isTold(askedAt, told)
  }
  return { ask, errorOf: () => engine.currentTimeMillisUnsafe() - real(), engine, machine }
}

t.test("given a machine whose clock is right", async (t) => {
  const { ask, errorOf, machine } = makeMachine()
  t.equal(errorOf(), 0, "then the engine has it from the start")
  ask(2000)
  t.equal(errorOf(), 0, "when its database answers late, then nothing changes")
  machine.suspendedMillis = 3_600_000
  t.equal(errorOf(), 0, "when it was suspended, then the engine knows that before it asks")
  ask(10)
  t.equal(errorOf(), 0, "and afterwards")
  machine.aheadMillis = 7_200_000
  t.equal(errorOf(), 0, "when its clock is set forward, then nothing changes")
  ask(10)
  machine.aheadMillis = -7_200_000
  t.equal(errorOf(), 0, "nor when it is set back")
})

t.test("given a machine whose clock is wrong", async (t) => {
  for (const wrong of [5000, -5000]) {
    const { ask, engine, errorOf, machine } = makeMachine()
    ask(0)
    ask(2)
    t.equal(errorOf(), 0, "then a database on it, whose clock is as wrong, changes nothing")
    ask(100, wrong)
    t.ok(
      Math.abs(errorOf() - wrong) <= 50,
      `when a database elsewhere answers, then the engine has its time but for half of that: ${errorOf()}`
    )
    ask(4, wrong)
    t.ok(Math.abs(errorOf() - wrong) <= 2, `and the more exactly, the faster it answers: ${errorOf()}`)
    ask(3000, wrong)
    t.ok(Math.abs(errorOf() - wrong) <= 2, "and a slow answer makes it no less exact")
    t.ok(Math.abs(engine.machineAhead() + wrong) <= 2, "and it knows how wrong the machine's clock is")
    machine.steady += 500
    t.ok(Math.abs(errorOf() - wrong) <= 2, "and time goes on meanwhile")
  }
})
