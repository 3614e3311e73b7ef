/** A phone that is answered after the trunk is back, but before the call that a killed process left behind has its actor. */
import { Effect } from "effect"
import t from "tap"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { answered, callId, hungUp, Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { configurationId, layerOf } from "#test/support/fakes.ts"
import { adoptCall } from "#test/support/leftCall.ts"
import { run } from "#test/support/run.ts"

/** What comes within 20 s of these events, each so many seconds after the one before, when the call gets its actor a second after the last. */
const story = async (before: ReadonlyArray<readonly [seconds: number, event: TrunkEvent]>, found: "up" | "gone" = "up") => {
  const scene = new Scene()
  const { says, world } = scene
  const told: Array<string> = []
  world.attempts.set(callId, { contact: undefined, dialEpoch: 1, state: "sent" })
  world.lookup = Effect.succeed(found)
  await run(
    Effect.gen(function* () {
      // Events are heard once the trunk is open.
      yield* TrunkPool.use((pool) => pool.get(configurationId))
      const sentAt = yield* SteadyTime.now
      for (const [seconds, event] of before) yield* steps(wait(`${seconds} seconds`), says(event))
      yield* wait("1 second")
      yield* adoptCall(scene, sentAt, "placed")
      yield* steps(settled, wait("20 seconds"))
      told.push(...world.log)
      world.lookup = Effect.succeed("gone")
      yield* steps(says(hungUp("normal_clearing")), wait("5 minutes"))
    }).pipe(Effect.provide(layerOf(world, { DRAIN: "0", RECORDINGS: "on" }, scene.voice)))
  )
  return told
}
const ring: TrunkEvent = { _tag: "Rang" }

t.test("given a phone that was answered a second ago, then its callee hears the agent", async (t) => {
  const log = await story([
    [0, ring],
    [1, answered]
  ])
  t.ok(log.includes("voice"), log.join())
  t.notOk(log.some((entry) => entry.startsWith("hangup")))
})

t.test("given a callee who has also hung up, then the call has ended, and was answered", async (t) => {
  const log = await story([
    [0, answered],
    [1, hungUp("normal_clearing")]
  ])
  t.match(log.at(-1), /^ended answered/)
})

t.test("given a callee who has heard nothing for too long, then the call is hung up, as if nobody had heard of the answer", async (t) => {
  const log = await story([
    [0, answered],
    [10, ring]
  ])
  t.notOk(log.includes("voice"))
  t.ok(log.some((entry) => entry.startsWith("hangup")))
})

t.test("given an end without an answer, then it proves nothing, because the answer may have come before the trunk was back", async (t) => {
  const log = await story(
    [
      [0, ring],
      [1, hungUp("user_busy")]
    ],
    "gone"
  )
  t.equal(log.at(-1), "ended unknown")
})
