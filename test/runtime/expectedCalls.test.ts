/** The voice of an agent that a page is about to call. */
import { Deferred, Effect, Layer } from "effect"
import t from "tap"
import { plannedOpening } from "#core/agent/conversation/Nodes.ts"
import type { BrowserRun } from "#core/call/BrowserRun.ts"
import { AgentDefinitionId, AgentId, OrganizationId, RunId } from "#core/Id.ts"
import { makeExpecting } from "#runtime/browser/expecting.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { agentsOf } from "#test/support/fakePorts.ts"
import { World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"
import { definition } from "#test/support/talkScript.ts"

const organizationId = OrganizationId.make(1)
const expected: BrowserRun = {
  id: RunId.make(1),
  agentId: AgentId.make(1),
  definitionId: AgentDefinitionId.make(1),
  name: "WR-1",
  createdAt: new Date(0),
  initialContext: { first_name: "Ada" }
}

/** What the voices that are warmed will say first. */
const warmed = (world: World, act: (expect: Effect.Success<typeof makeExpecting>) => Effect.Effect<unknown>) =>
  run(function* () {
    const greetings: Array<string> = []
    const isWarm = yield* Deferred.make<void>()
    const silent = yield* Effect.provide(VoiceAgent, VoiceAgent.layerNone)
    const warm: VoiceAgent["Service"]["warm"] = ({ conversation: { known, plan } }) => {
      greetings.push(plannedOpening({ plan, now: 0 }, known).greeting)
      return Effect.asVoid(Deferred.succeed(isWarm, undefined))
    }
    const voice = Layer.succeed(VoiceAgent, { ...silent, warm })
    yield* Effect.provide(
      Effect.flatMap(makeExpecting, (expect) => act(expect).pipe(Effect.andThen(Deferred.await(isWarm)))),
      Layer.merge(agentsOf(world), voice)
    )
    return greetings
  })

t.test("given an agent, when a call of it is expected, then its voice is warmed for what it will say first", async (t) => {
  const world = new World()
  world.definition = definition({ greeting: "Hello {{first_name}}." })
  t.strictSame(await warmed(world, (expect) => expect(organizationId, expected)), ["Hello Ada."])
})

t.test("given a database that does not answer, when a call is expected, then nobody waits or learns of it", async (t) => {
  const world = new World()
  world.definition = definition({ greeting: "Hello." })
  const greetings = await warmed(world, (expect) =>
    Effect.gen(function* () {
      world.finding = Effect.never
      yield* expect(organizationId, expected)
      world.finding = Effect.die("gone")
      yield* expect(organizationId, expected)
      world.finding = Effect.void
      yield* expect(organizationId, expected)
    })
  )
  t.strictSame(greetings, ["Hello."])
})
