/** A call whose reply was lost is searched for at its provider by numbers and time. What is found may be another of our calls. */
import { Effect } from "effect"
import t from "tap"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answered, callId, dialOther, hungUp, otherCallId, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { detected, given, notes, rang, sets } from "#test/support/callTable.ts"
import { noReply } from "#test/support/fakes.ts"

const named = (providerCallId: string): TrunkEvent => ({ _tag: "Named", providerCallId })
const unnamed = (act: Parameters<typeof play>[1]) => play(given({ world: { originate: noReply, lookup: Effect.succeed("gone") } }), act)

/** Sets what a search for the call finds from now on. */
const find = (scene: Scene, presence: Presence, ...told: ReadonlyArray<TrunkEvent>) =>
  sets(scene, { isFound: (call) => call.callId === callId, lookup: Effect.succeed(presence), told: [named("theirs"), ...told] })
const findsBusy = (scene: Scene) => find(scene, "ended", hungUp("user_busy"))

/** Names the other call by its own callback. */
const nameOther = ({ world }: Scene, name = "theirs") => Effect.sync(() => world.provider.onEvent?.(otherCallId, named(name)))
const ownsName = ({ world }: Scene) => Effect.sync(() => void world.owners.set(otherCallId, "theirs"))

const namesSeen = ({ refs }: Scene["world"], id: string) =>
  refs.flatMap(({ callId, providerCallId = "" }) => (callId === id && providerCallId !== "" ? [providerCallId] : []))
const endsIn = (log: ReadonlyArray<string>) => log.filter((entry) => entry.startsWith("ended"))

t.test("given a call without a name, when a search finds another call, then nothing of it is used", async (t) => {
  for (const [whose, own] of [
    ["of a former process", ownsName],
    ["to the same number at the same time", (scene: Scene) => steps(dialOther(scene), nameOther(scene))]
  ] as const)
    for (const [how, finds] of [
      ["busy", findsBusy],
      ["answered", (scene: Scene) => find(scene, "up", answered)]
    ] as const) {
      const { log, logged, world } = await unnamed((scene) => steps(own(scene), finds(scene), wait("3 minutes")))
      t.strictSame([...new Set(endsIn(log))], ["ended unknown"], `${whose}, ${how}: it counts as not found`)
      t.strictSame(namesSeen(world, callId), [], "then its operations get no name")
      t.notOk(world.owners.has(callId), "nor is one kept")
      const isTold = logged.some(([said]) => String(said).includes("another call than"))
      t.ok(isTold, "the log tells")
    }
})

t.test("given two calls to one number, both without a name, when a search finds one, then it is assigned to neither", async (t) => {
  const { log, world } = await unnamed((scene) => steps(dialOther(scene), findsBusy(scene), wait("20 seconds")))
  t.strictSame([endsIn(log), world.names], [[], []])
  const after = await unnamed((scene) => steps(dialOther(scene), nameOther(scene, "its-own"), findsBusy(scene), wait("20 seconds")))
  t.ok(after.log.includes("ended busy"), "when the other gets a name of its own, then it belongs to this one")
  t.strictSame(after.world.names, ["its-own", "theirs"])
})

t.test("given a search that finds the call itself, then it is accepted, under a second name as well", async (t) => {
  const { world } = await unnamed((scene) =>
    steps(scene.says(named("its-request")), find(scene, "ringing"), wait("20 seconds"), findsBusy(scene), wait("3 minutes"))
  )
  t.strictSame(world.names, ["its-request", "theirs"])
  t.equal(world.ends.at(-1)?.outcome, "busy")
})

t.test("given an event that gives a call the name of another, then neither is hung up in place of the other", async (t) => {
  const { world } = await unnamed((scene) =>
    steps(dialOther(scene), nameOther(scene), scene.says(named("theirs")), scene.says(detected), wait("3 minutes"))
  )
  t.strictSame([world.names, namesSeen(world, callId)], [["theirs"], []])
})

t.test("given a call that was written off, and appears late", async (t) => {
  const { log, world } = await unnamed((scene) =>
    steps(wait("3 minutes"), ownsName(scene), find(scene, "up", answered), scene.says(rang), wait("3 seconds"))
  )
  t.ok(log.some((entry) => entry.startsWith("hangup")))
  t.strictSame(namesSeen(world, callId), [], "when a search finds another, then that one is not hung up")
  const reported = await unnamed(({ says }) => steps(wait("3 minutes"), says(named("its-own")), says(rang), wait("3 seconds")))
  t.ok(reported.world.names.includes("its-own"), "when it reports its name, then that is stored with its attempt")
})

t.test("given a database that is away, when a search finds a call, then it is not accepted before it is known whose it is", async (t) => {
  const { log } = await unnamed((scene) =>
    steps(
      sets(scene, { isDown: true }),
      findsBusy(scene),
      wait("20 seconds"),
      notes(scene, "back"),
      sets(scene, { isDown: false }),
      wait("40 seconds")
    )
  )
  t.ok(log.indexOf("ended busy") > log.indexOf("back"))
  const isFree = log.slice(0, log.indexOf("back")).some((entry) => entry.startsWith("line free"))
  t.notOk(isFree, "nor has it ended in memory")
})
