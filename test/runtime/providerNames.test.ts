/** The provider's own id of a call: however it becomes known, the next operation gets it, and it is stored on disk and in the database. */
import { Effect } from "effect"
import t from "tap"
import { callId, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { noReply } from "#test/support/fakes.ts"

const named = (providerCallId: string) => (scene: Scene) => scene.says({ _tag: "Named", providerCallId })
const rings = ({ world }: Scene) => {
  world.lookup = Effect.succeed("ringing")
}
const namedLines = (lines: ReadonlyArray<string>) => lines.filter((line) => line.startsWith("named "))
/** Long enough for the call to be looked up. */
const looked = wait("3 minutes")

t.test("given a provider that names its call in the reply to the request", async (t) => {
  const { world } = await play(
    (scene) => {
      scene.world.providerCallId = "CA1"
      rings(scene)
    },
    () => looked
  )
  t.match(
    world.refs[0],
    { callId, providerCallId: "CA1", to: "+15551" },
    "then the next operation gets the name, and the number that was called"
  )
  t.equal(world.refs[0]?.sentAt, world.dials[0]?.at, "then it gets the time of the request")
  t.strictSame([namedLines(world.journal), world.names], [["named CA1"], ["CA1"]], "then disk and database have it, once")
})

t.test("given a provider that uses our own id", async (t) => {
  const { world } = await play(rings, () => looked)
  t.equal(world.refs[0]?.providerCallId, undefined)
  t.strictSame([namedLines(world.journal), world.names], [[], []], "then nothing is written for it")
})

t.test("given a provider that names the call in an event, and only the request in its reply", async (t) => {
  const { world } = await play(
    (scene) => {
      scene.world.providerCallId = "request"
      scene.world.originate = Effect.sleep("3 seconds")
      rings(scene)
    },
    (scene) => steps(named("call")(scene), looked)
  )
  t.equal(world.refs[0]?.providerCallId, "call", "then a reply that comes later does not replace the call's name")
  t.strictSame([namedLines(world.journal), world.names], [["named call"], ["call"]])
})

t.test("given a reply that is lost", async (t) => {
  const lost = (scene: Scene) => {
    scene.world.originate = noReply
    rings(scene)
  }
  t.test("when an event names the call, twice, then it is found by that name", async (t) => {
    const { world } = await play(lost, (scene) => steps(named("CA1")(scene), named("CA1")(scene), looked))
    t.equal(world.refs.at(-1)?.providerCallId, "CA1")
    t.strictSame([namedLines(world.journal), world.names], [["named CA1"], ["CA1"]])
  })
  t.test("when the name of the request is replaced by that of the call, then the later one is used", async (t) => {
    const { world } = await play(lost, (scene) => steps(named("request")(scene), named("call")(scene), looked))
    t.equal(world.refs.at(-1)?.providerCallId, "call")
    t.strictSame(world.names, ["request", "call"])
  })
  t.test("when a name could break a line or an address, then it is ignored", async (t) => {
    const { world } = await play(lost, (scene) =>
      steps(named("CA1\nended")(scene), named("")(scene), named("x".repeat(201))(scene), looked)
    )
    t.equal(world.refs.at(-1)?.providerCallId, undefined)
    t.strictSame([namedLines(world.journal), world.names], [[], []])
  })
})

t.test("given a call that was written off, when it appears, then it is hung up by the name that it was given", async (t) => {
  const { world } = await play(
    (scene) => {
      scene.world.providerCallId = "CA1"
      scene.world.lookup = Effect.succeed("gone")
      scene.world.originate = noReply
    },
    (scene) => steps(named("CA1")(scene), wait("3 minutes"), scene.says({ _tag: "Rang" }), wait("1 second"))
  )
  t.match(world.refs.at(-1), { callId, providerCallId: "CA1" })
})

t.test("given a call without a name, when its late appearance reports one, then it is hung up by that name", async (t) => {
  const { world } = await play(
    (scene) => {
      scene.world.lookup = Effect.succeed("gone")
      scene.world.originate = noReply
    },
    (scene) => steps(wait("3 minutes"), named("CA2")(scene), wait("1 second"))
  )
  t.ok(world.log.includes("hangup originator_cancel"))
  t.match(world.refs.at(-1), { callId, providerCallId: "CA2" })
})
