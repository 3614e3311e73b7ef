/** What happens to calls is recorded, however long the database is away. */
import { Effect } from "effect"
import t from "tap"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answered, callId, hungUp, nothing, play, steps, wait } from "#test/support/callScene.ts"

t.test(
  "given a database that is away for half an hour, when a conversation ends in the meantime, then its end is recorded afterwards",
  async (t) => {
    const { log, recorded, world } = await play(nothing, (scene) =>
      steps(
        scene.says(answered),
        Effect.sync(() => (scene.world.isDown = true)),
        scene.says(hungUp("normal_clearing")),
        wait("30 minutes"),
        Effect.sync(() => (scene.world.isDown = false)),
        wait("10 seconds")
      )
    )
    t.equal(log.filter((entry) => entry === "ended answered").length, 1)
    t.equal(world.ends.at(-1)?.cause, "normal_clearing")
    t.equal(recorded.length, 1)
  }
)

t.test("given a full disk, when a call is about to leave, then it does not, and its contact is unchanged", async (t) => {
  const { contacts, dials } = await play(
    ({ world }) => (world.isDiskFull = true),
    ({ world }) => Effect.sync(() => void world.log.push("played"))
  ).then(({ world }) => world)
  t.strictSame(dials, [])
  t.match(contacts, [{ state: "pending" }])
})

t.test("given a process that is killed right after an event of a call, then its journal contains that event", async (t) => {
  const check = async (what: string, events: ReadonlyArray<TrunkEvent>, expected: ReadonlyArray<string>) => {
    let atOnce: ReadonlyArray<string> = []
    const { world } = await play(
      // The events arrive before the reply.
      (scene) => (scene.world.originate = Effect.never),
      (scene) =>
        Effect.sync(() => {
          for (const event of events) scene.world.provider.onEvent?.(callId, event)
          atOnce = [...scene.world.journal]
        }).pipe(Effect.andThen(wait("1 second")))
    )
    t.strictSame(atOnce, expected, what)
    t.strictSame(world.journal, expected, `${what}, and not again later`)
  }
  await check("the provider has the call", [{ _tag: "Placed" }], ["placed"])
  await check("the phone rings", [{ _tag: "Rang" }], ["placed"])
  await check("somebody has answered", [answered], ["answered"])
  await check("each thing once", [{ _tag: "Placed" }, { _tag: "Rang" }, answered, answered, { _tag: "Rang" }], ["placed", "answered"])
})
