/** The provider's own id of a call: however it becomes known, the next operation gets it, and it is stored on disk and in the database. */
import { Effect } from "effect"
import t from "tap"
import { callId, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { noReply } from "#test/support/fakes.ts"

const named = (scene: Scene, ...names: ReadonlyArray<string>) =>
  steps(...names.map((providerCallId) => scene.says({ _tag: "Named", providerCallId })))
const namedLines = (lines: ReadonlyArray<string>) => lines.filter((line) => line.startsWith("named "))

/** A call that is looked up, or hung up, by the name that is known after what happens. */
const check = (
  title: string,
  world: Partial<Scene["world"]>,
  happens: (scene: Scene) => Effect.Effect<unknown>,
  name: string | undefined,
  kept: ReadonlyArray<string> = name === undefined ? [] : [name]
) =>
  t.test(title, async (t) => {
    const played = await play(
      (scene) => void Object.assign(scene.world, { lookup: Effect.succeed("ringing") }, world),
      (scene) => steps(happens(scene), wait("3 minutes"))
    )
    const { dials, journal, names, refs } = played.world
    t.match(refs.at(-1), { callId, to: "+15551" }, "then the next operation gets the number that was called")
    t.equal(refs.at(-1)?.providerCallId, name, "then the next operation gets the name")
    t.equal(refs[0]?.sentAt, dials[0]?.at, "then it gets the time of the request")
    t.strictSame([namedLines(journal), names], [kept.map((one) => `named ${one}`), kept], "then disk and database have it, once")
  })
const lost = { originate: noReply }

check("given a provider that names its call in the reply to the request", { providerCallId: "CA1" }, () => Effect.void, "CA1")
check("given a provider that uses our own id", {}, () => Effect.void, undefined)
check(
  "given a provider that names the call in an event, and only the request in its reply, which comes later",
  { originate: Effect.sleep("3 seconds"), providerCallId: "request" },
  (scene) => named(scene, "call"),
  "call"
)
check("given a lost reply, when an event names the call, twice", lost, (scene) => named(scene, "CA1", "CA1"), "CA1")
check(
  "given a lost reply, when the name of the request is replaced by that of the call",
  lost,
  (scene) => named(scene, "request", "call"),
  "call",
  ["request", "call"]
)
check(
  "given a lost reply, when a name could break a line or an address",
  lost,
  (scene) => named(scene, "CA1\nended", "", "x".repeat(201)),
  undefined
)

const unseen: Partial<Scene["world"]> = { lookup: Effect.succeed("gone"), originate: noReply }
check(
  "given a call that was written off, when it appears, then it is hung up by the name that it was given",
  { ...unseen, providerCallId: "CA1" },
  (scene) => steps(named(scene, "CA1"), wait("3 minutes"), scene.says({ _tag: "Rang" })),
  "CA1"
)

t.test("given a call without a name, when its late appearance reports one, then it is hung up by that name", async (t) => {
  const { world } = await play(
    (scene) => void Object.assign(scene.world, unseen),
    (scene) => steps(wait("3 minutes"), named(scene, "CA2"), wait("1 second"))
  )
  t.ok(world.log.includes("hangup originator_cancel"))
  t.match(world.refs.at(-1), { callId, providerCallId: "CA2" })
})
