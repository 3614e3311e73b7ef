/** What happens to calls is written down, however long the database is away. */
import { Effect } from "effect"
import t from "tap"
import { answered, hungUp, nothing, play, steps, wait } from "#test/support/callScene.ts"

t.test(
  "given a database that is away for half an hour, when a conversation ends meanwhile, then its end is recorded afterwards",
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

t.test("given a full disk, when a call is to leave, then it does not, and its contact is as it was", async (t) => {
  const { contacts, dials } = await play(
    ({ world }) => (world.isDiskFull = true),
    ({ world }) => Effect.sync(() => void world.log.push("played"))
  ).then(({ world }) => world)
  t.strictSame(dials, [])
  t.match(contacts, [{ state: "pending" }])
})
