/** A call whose reply was lost is searched for at its provider by numbers and time. What is found may be another of our calls. */
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

/** Sets what a search for the call finds from now on. */
const find = ({ world }: Scene, presence: Presence, ...told: ReadonlyArray<TrunkEvent>) =>
  Effect.sync(() => {
    world.isFound = (call) => call.callId === callId
    Object.assign(world, { lookup: Effect.succeed(presence), told: [named("theirs"), ...told] })
  })

/** Names the other call by its own callback. */
const nameOther = ({ world }: Scene, name = "theirs") => Effect.sync(() => world.provider.onEvent?.(otherCallId, named(name)))

const namesSeen = ({ refs }: Scene["world"], id: string) =>
  refs.flatMap(({ callId, providerCallId = "" }) => (callId === id && providerCallId !== "" ? [providerCallId] : []))

t.test("given a call without a name, when a search finds another call, then nothing of it is used", async (t) => {
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
      t.strictSame(namesSeen(world, callId), [], "then its operations get no name")
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

t.test("given two calls to one number, both without a name, when a search finds one, then it is assigned to neither", async (t) => {
  const { log, world } = await play(unnamed, (scene) =>
    steps(dialOther(scene), find(scene, "ended", hungUp("user_busy")), wait("20 seconds"))
  )
  t.strictSame(log.filter(isEnd), [])
  t.strictSame(world.names, [])
  const after = await play(unnamed, (scene) =>
    steps(dialOther(scene), nameOther(scene, "its-own"), find(scene, "ended", hungUp("user_busy")), wait("20 seconds"))
  )
  t.ok(after.log.includes("ended busy"), "when the other gets a name of its own, then it belongs to this one")
  t.strictSame(after.world.names, ["its-own", "theirs"])
})

t.test("given a search that finds the call itself, then it is accepted, under a second name as well", async (t) => {
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

t.test("given a call that appears late and reports its name, then the name is stored with its attempt", async (t) => {
  const { world } = await play(unnamed, (scene) =>
    steps(wait("3 minutes"), scene.says(named("its-own")), scene.says({ _tag: "Rang" }), wait("3 seconds"))
  )
  t.ok(world.names.includes("its-own"))
})

t.test("given a database that is away, when a search finds a call, then it is not accepted before it is known whose it is", async (t) => {
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
