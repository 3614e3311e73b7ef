/** A call whose reply was lost is searched for at its provider by its numbers and time. What is found may be another call of ours. */
import { Effect } from "effect"
import t from "tap"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answered, callId, dialOther, hungUp, otherCallId, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { noReply } from "#test/support/fakes.ts"

const named = (providerCallId: string): TrunkEvent => ({ _tag: "Named", providerCallId })
const isEnd = (entry: string) => entry.startsWith("ended")
const unnamed = ({ world }: Scene) => {
  world.originate = noReply
  world.lookup = Effect.succeed("gone")
}

/** From now on a search for the call finds this. */
const find = ({ world }: Scene, presence: Presence, ...told: ReadonlyArray<TrunkEvent>) =>
  Effect.sync(() => {
    world.isFound = (call) => call.callId === callId
    Object.assign(world, { lookup: Effect.succeed(presence), told: [named("theirs"), ...told] })
  })

/** The other call gets its name from its own callback. */
const nameOther = ({ world }: Scene, name = "theirs") => Effect.sync(() => world.provider.onEvent?.(otherCallId, named(name)))

const namesSeen = ({ refs }: Scene["world"], id: string) =>
  refs.flatMap(({ callId, providerCallId = "" }) => (callId === id && providerCallId !== "" ? [providerCallId] : []))

t.test("given a call without a name, when a search finds what is another call, then nothing of it is taken", async (t) => {
  const owners = {
    "of a former process": ({ world }: Scene) => Effect.sync(() => void world.owners.set(otherCallId, "theirs")),
    "to the same number at the same time": (scene: Scene) => steps(dialOther(scene), nameOther(scene))
  } as const
  for (const [whose, own] of Object.entries(owners)) {
    const finds = { busy: hungUp("user_busy"), answered }
    for (const [end, event] of Object.entries(finds)) {
      const { log, logged, world } = await play(unnamed, (scene) =>
        steps(own(scene), find(scene, end === "busy" ? "ended" : "up", event), wait("3 minutes"))
      )
      t.ok(log.includes("ended unknown"), `${whose}, ${end}: it counts as not found`)
      t.strictSame(
        log.filter(isEnd).filter((entry) => entry !== "ended unknown"),
        []
      )
      t.strictSame(namesSeen(world, callId), [], "then its verbs are told no name")
      t.strictSame(
        [...world.owners].filter(([id]) => id === callId),
        [],
        "nor is one kept"
      )
      t.ok(
        logged.some(([said]) => String(said).includes("another call than")),
        "the log tells"
      )
    }
  }
})

t.test("given two calls to one number, both without a name, when a search finds one, then neither takes it", async (t) => {
  const { log, world } = await play(unnamed, (scene) =>
    steps(dialOther(scene), find(scene, "ended", hungUp("user_busy")), wait("20 seconds"))
  )
  t.strictSame(log.filter(isEnd), [])
  t.strictSame(world.names, [])
  const after = await play(unnamed, (scene) =>
    steps(dialOther(scene), nameOther(scene, "its-own"), find(scene, "ended", hungUp("user_busy")), wait("20 seconds"))
  )
  t.ok(after.log.includes("ended busy"), "when the other has a name of its own, then it is this one's")
  t.strictSame(after.world.names, ["its-own", "theirs"])
})

t.test("given a search that finds the call itself, then it is taken, under a second name as well", async (t) => {
  const { world } = await play(unnamed, (scene) =>
    steps(
      scene.says(named("its-request")),
      find(scene, "ringing"),
      wait("20 seconds"),
      find(scene, "ended", hungUp("user_busy")),
      wait("3 minutes")
    )
  )
  t.strictSame(world.names, ["its-request", "theirs"])
  t.equal(world.ends.at(-1)?.outcome, "busy")
})

t.test("given an event that gives a call the name of another, then neither is hung up in place of the other", async (t) => {
  const { world } = await play(unnamed, (scene) =>
    steps(
      dialOther(scene),
      nameOther(scene),
      scene.says(named("theirs")),
      scene.says({ _tag: "Detected", who: "machine" }),
      wait("3 minutes")
    )
  )
  t.strictSame(world.names, ["theirs"])
  t.strictSame(namesSeen(world, callId), [])
})

t.test("given a call that was written off and appears, when a search finds another, then that one is not hung up", async (t) => {
  const { log, world } = await play(unnamed, (scene) =>
    steps(
      wait("3 minutes"),
      Effect.sync(() => void scene.world.owners.set(otherCallId, "theirs")),
      find(scene, "up", answered),
      scene.says({ _tag: "Rang" }),
      wait("3 seconds")
    )
  )
  t.ok(log.some((entry) => entry.startsWith("hangup")))
  t.strictSame(namesSeen(world, callId), [])
})

t.test("given a call that appears late and tells its name, then the name is kept with its attempt", async (t) => {
  const { world } = await play(unnamed, (scene) =>
    steps(wait("3 minutes"), scene.says(named("its-own")), scene.says({ _tag: "Rang" }), wait("3 seconds"))
  )
  t.ok(world.names.includes("its-own"))
})

t.test("given a database that is away, when a search finds a call, then it is not taken before it is known whose it is", async (t) => {
  const { log } = await play(unnamed, (scene) =>
    steps(
      Effect.sync(() => void Object.assign(scene.world, { isDown: true })),
      find(scene, "ended", hungUp("user_busy")),
      wait("20 seconds"),
      Effect.sync(() => void scene.world.log.push("back")),
      Effect.sync(() => void Object.assign(scene.world, { isDown: false })),
      wait("40 seconds")
    )
  )
  t.ok(log.indexOf("ended busy") > log.indexOf("back"))
  t.notOk(
    log.slice(0, log.indexOf("back")).some((entry) => entry.startsWith("line free")),
    "nor has it ended in memory"
  )
})
