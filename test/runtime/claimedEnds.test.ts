/** Ends that are claimed, possibly by somebody who lies: a call of the engine on a test clock, and how often its provider is asked. */
import { Effect } from "effect"
import t from "tap"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { answered, callId, hungUp, nothing, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { noReply } from "#test/support/fakes.ts"

const claim: TrunkEvent = { _tag: "EndClaimed" }
const looksIn = (log: ReadonlyArray<string>) => log.filter((entry) => entry === "look").length
const isEnded = (entry: string) => entry.startsWith("ended")

/** Sets what the provider's record says from now on. */
const record = ({ world }: Scene, presence: Presence, ...told: ReadonlyArray<TrunkEvent>) =>
  Effect.sync(() => Object.assign(world, { lookup: Effect.succeed(presence), told }))

const isCarried = Effect.map(CallSupervisor, (supervisor) => supervisor.find(callId)?.isOver === false)

const states = {
  "whose request is under way": (scene: Scene) => wait(0).pipe(Effect.as(scene)),
  "that rings": ({ says }: Scene) => says({ _tag: "Rang" }),
  "that is up": ({ says }: Scene) => steps(says({ _tag: "Rang" }), says(answered))
} as const

for (const [name, reach] of Object.entries(states)) {
  t.test(`given a call ${name}, when its end is claimed`, async (t) => {
    for (const presence of ["up", "ringing", "gone", "ended"] as const) {
      let carried = false
      const { log } = await play(
        ({ world }) => {
          if (name.startsWith("whose")) world.originate = Effect.sleep("10 seconds")
        },
        (scene) =>
          steps(
            reach(scene),
            record(scene, presence),
            scene.says(claim),
            wait("40 seconds"),
            Effect.map(isCarried, (is) => void (carried = is))
          )
      )
      t.ok(carried, `and a lookup says ${presence} and reports no end, then the call continues`)
      t.equal(log.filter((entry) => isEnded(entry) || entry.startsWith("hangup") || entry.startsWith("line free")).length, 0)
      t.equal(looksIn(log), 5, "then the provider is asked five times")
    }
    const { log } = await play(nothing, (scene) =>
      steps(reach(scene), record(scene, "ended", answered, hungUp("normal_clearing")), scene.says(claim), wait(0))
    )
    t.ok(log.includes("ended answered"), "and its record reports it, then it ends at once")
    t.equal(looksIn(log), 1)
  })
}

t.test("given a claim, when the record comes two seconds late, then the end is found", async (t) => {
  const { log } = await play(nothing, (scene) =>
    steps(
      scene.says({ _tag: "Rang" }),
      record(scene, "gone"),
      scene.says(claim),
      wait("2 seconds"),
      record(scene, "ended", hungUp("user_busy")),
      wait("2 seconds")
    )
  )
  t.strictSame(log.slice(-2), ["line free, 0 slots", "ended busy"])
  t.equal(looksIn(log), 3)
})

t.test("given two hundred claims within ten seconds, then there are no more lookups than for one", async (t) => {
  const { log } = await play(nothing, (scene) =>
    steps(
      scene.says(answered),
      record(scene, "up"),
      Effect.repeat(Effect.andThen(scene.says(claim), wait(50)), { times: 199 }),
      wait("25 seconds")
    )
  )
  t.equal(looksIn(log), 5)
})

t.test("given a false claim, when the call ends while it is checked, then that claim is not lost", async (t) => {
  const { log } = await play(nothing, (scene) =>
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
  t.ok(log.includes("ended answered"))
  t.equal(looksIn(log), 8, "then the lookups started again")
})

t.test("given a provider that does not answer, then a claim changes nothing", async (t) => {
  let carried = false
  const { log } = await play(nothing, (scene) =>
    steps(
      scene.says(answered),
      Effect.sync(() => Object.assign(scene.world, { lookup: Effect.never })),
      scene.says(claim),
      wait("4 minutes"),
      Effect.map(isCarried, (is) => void (carried = is))
    )
  )
  t.equal(looksIn(log), 4)
  t.ok(carried)
})

t.test("given a call without an actor, when its end is claimed, then it is neither looked up nor hung up", async (t) => {
  const stranger = "01890000-0000-7000-8000-0000000000ff"
  const { log } = await play(nothing, (scene) =>
    steps(
      scene.says(hungUp("user_busy")),
      wait("1 second"),
      scene.says(claim),
      Effect.sync(() => scene.world.provider.onEvent?.(stranger, claim)),
      wait("1 minute")
    )
  )
  t.equal(looksIn(log), 0)
  t.notOk(log.some((entry) => entry.startsWith("hangup")))
})

t.test("given a call that was written off, when its end is claimed, then that does not count as a sign of life", async (t) => {
  const { log } = await play(
    ({ world }) => Object.assign(world, { lookup: Effect.succeed("gone"), originate: noReply }),
    ({ says }) => steps(wait("3 minutes"), says(claim), wait("10 seconds"))
  )
  t.ok(log.includes("ended unknown"))
  t.notOk(log.some((entry) => entry.startsWith("hangup")))
})
