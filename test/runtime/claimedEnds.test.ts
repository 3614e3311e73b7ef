/** Ends that are claimed, possibly by somebody who lies: a call of the engine on a test clock, and how often its provider is asked. */
import { Effect } from "effect"
import t from "tap"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { answered, callId, hungUp, nothing, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { given, rang, sets } from "#test/support/callTable.ts"
import { noReply } from "#test/support/fakes.ts"

const claim: TrunkEvent = { _tag: "EndClaimed" }

/** Sets what the provider's record says from now on. */
const record = (scene: Scene, presence: Presence, ...told: ReadonlyArray<TrunkEvent>) =>
  sets(scene, { lookup: Effect.succeed(presence), told })

/** How often the provider was asked, what else the log says of the end, and whether the call still had its actor. */
const claimed = async (act: (scene: Scene) => Effect.Effect<unknown>, arrange: (scene: Scene) => void = nothing) => {
  let isCarried = false
  const carried = Effect.map(CallSupervisor, (supervisor) => void (isCarried = supervisor.find(callId)?.isOver === false))
  const { log } = await play(arrange, (scene) => Effect.andThen(act(scene), carried))
  const looks = log.filter((entry) => entry === "look").length
  return { looks, ends: log.filter((entry) => /^(ended|hangup|line free)/.test(entry)), isCarried }
}
const goesOn = (looks: number) => ({ looks, ends: [], isCarried: true })
const over = (looks: number, how: string) => ({ looks, ends: ["line free, 0 slots", `ended ${how}`], isCarried: false })

const slowly = given({ world: { originate: Effect.sleep("10 seconds") } })
for (const [name, reach, arrange] of [
  ["whose request is under way", () => wait(0), slowly],
  ["that rings", ({ says }: Scene) => says(rang), nothing],
  ["that is up", ({ says }: Scene) => steps(says(rang), says(answered)), nothing]
] as const) {
  t.test(`given a call ${name}, when its end is claimed`, async (t) => {
    for (const presence of ["up", "ringing", "gone", "ended"] as const) {
      const seen = await claimed((scene) => steps(reach(scene), record(scene, presence), scene.says(claim), wait("40 seconds")), arrange)
      t.strictSame(seen, goesOn(5), `and lookups say ${presence} and report no end, then the call continues`)
    }
    const told = await claimed((scene) =>
      steps(reach(scene), record(scene, "ended", answered, hungUp("normal_clearing")), scene.says(claim), wait(0))
    )
    t.strictSame(told, over(1, "answered"), "and its record reports it, then it ends at once")
  })
}

t.test("given a claim, when the record comes two seconds late, then the end is found", async (t) => {
  const isBusy = (scene: Scene) => record(scene, "ended", hungUp("user_busy"))
  const seen = await claimed((scene) =>
    steps(scene.says(rang), record(scene, "gone"), scene.says(claim), wait("2 seconds"), isBusy(scene), wait("2 seconds"))
  )
  t.strictSame(seen, over(3, "busy"))
})

t.test("given two hundred claims within ten seconds, then there are no more lookups than for one", async (t) => {
  const many = ({ says }: Scene) => Effect.repeat(Effect.andThen(says(claim), wait(50)), { times: 199 })
  const seen = await claimed((scene) => steps(scene.says(answered), record(scene, "up"), many(scene), wait("25 seconds")))
  t.strictSame(seen, goesOn(5))
})

t.test("given a false claim, when the call ends while it is checked, then that claim is not lost", async (t) => {
  const seen = await claimed((scene) =>
    steps(
      scene.says(answered),
      record(scene, "up"),
      scene.says(claim),
      wait("31 seconds"),
      scene.says(claim),
      wait("2 seconds"),
      record(scene, "ended", hungUp("normal_clearing")),
      wait("4 seconds")
    )
  )
  t.strictSame(seen, over(8, "answered"), "then the lookups started again")
})

t.test("given a provider that does not answer, then a claim changes nothing", async (t) => {
  const seen = await claimed((scene) =>
    steps(scene.says(answered), sets(scene, { lookup: Effect.never }), scene.says(claim), wait("4 minutes"))
  )
  t.strictSame(seen, goesOn(4))
})

t.test("given a call without an actor, when its end is claimed, then it is neither looked up nor hung up", async (t) => {
  const stranger = "01890000-0000-7000-8000-0000000000ff"
  const strangers = ({ world }: Scene) => Effect.sync(() => world.provider.onEvent?.(stranger, claim))
  const seen = await claimed((scene) =>
    steps(scene.says(hungUp("user_busy")), wait("1 second"), scene.says(claim), strangers(scene), wait("1 minute"))
  )
  t.strictSame(seen, over(0, "busy"))
})

t.test("given a call that was written off, when its end is claimed, then that does not count as a sign of life", async (t) => {
  const { ends } = await claimed(
    ({ says }) => steps(wait("3 minutes"), says(claim), wait("10 seconds")),
    given({ world: { lookup: Effect.succeed("gone"), originate: noReply } })
  )
  t.strictSame(ends, ["line free, 1 slots", "ended unknown"])
})
