/** Calls that appear, or live on, when they are no longer followed, and the slots of calls that may still appear. */
import { Effect } from "effect"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { accepted, callId, hungUp, play, type Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { failing, noReply } from "#test/support/fakes.ts"

const unlooked = (log: ReadonlyArray<string>) => log.filter((entry) => entry !== "look")

/** A request without a reply, whose call is never seen. */
const unseen = ({ world }: Scene) => {
  world.originate = noReply
  world.lookup = Effect.succeed("gone")
}
const slotsHeld = Effect.flatMap(Slots, ({ used }) => Effect.succeed(used("organization:1")))
const note = (scene: Scene, what: string) =>
  Effect.flatMap(slotsHeld, (used) => Effect.sync(() => scene.world.log.push(`${what}: ${used}`)))
const recovered = Effect.flatMap(CallSupervisor, (supervisor) => Effect.sync(supervisor.recovered))
const ring: TrunkEvent = { _tag: "Rang" }

t.test("given a call that was written off unseen", async (t) => {
  t.test("when nothing rules it out, then it keeps its slot until ten minutes after its request", async (t) => {
    const { log } = await play(unseen, (scene) =>
      steps(
        wait("3 minutes"),
        note(scene, "in doubt"),
        wait("6 minutes"),
        note(scene, "later"),
        wait("70 seconds"),
        note(scene, "in the end")
      )
    )
    t.strictSame(
      log.filter((entry) => entry.includes("doubt") || entry.includes("later") || entry.includes("end")),
      ["ended unknown", "in doubt: 1", "later: 1", "in the end: 0"]
    )
  })
  t.test("when its provider rules it out, then its slot is free", async (t) => {
    const { log } = await play(unseen, (scene) =>
      steps(
        wait("3 minutes"),
        note(scene, "in doubt"),
        Effect.sync(() => void (scene.world.mayAppear = false)),
        wait("1 second"),
        note(scene, "ruled out")
      )
    )
    t.strictSame(log.slice(-2), ["in doubt: 1", "ruled out: 0"])
  })
  t.test("when it appears, then it is hung up until it is gone, its slot is free, and its run says so", async (t) => {
    const { log, world } = await play(unseen, (scene) =>
      steps(
        wait("3 minutes"),
        Effect.sync(() => {
          scene.world.hangup = failing
          scene.world.lookup = Effect.succeed("ringing")
        }),
        scene.says(ring),
        note(scene, "there"),
        wait("1 second"),
        scene.says({ _tag: "Answered" }),
        Effect.sync(() => void (scene.world.hangup = Effect.void)),
        wait("1 second"),
        Effect.sync(() => void (scene.world.lookup = Effect.succeed("gone"))),
        wait("1 second"),
        note(scene, "gone")
      )
    )
    t.strictSame(unlooked(log).slice(accepted.length), [
      "line free, 1 slots",
      "ended unknown",
      "hangup originator_cancel",
      "there: 1",
      "hangup originator_cancel",
      "hangup originator_cancel",
      "hangup originator_cancel",
      "gone: 0"
    ])
    t.match(world.annotated, [[callId, { answered_at: /^1970/, appeared_at: /^1970/, ended_at: /^1970/, rang_at: /^1970/ }]])
    t.equal(world.ends.length, 1, "and nothing that was recorded is changed")
  })
  t.test("when it appears while the database is away, then it is hung up anyway", async (t) => {
    const { log } = await play(unseen, (scene) =>
      steps(
        wait("3 minutes"),
        Effect.sync(() => void (scene.world.isDown = true)),
        scene.says({ _tag: "Answered" }),
        wait("5 seconds")
      )
    )
    t.strictSame(unlooked(log).slice(-1), ["hangup originator_cancel"])
  })
  t.test("when the provider reports that it is over, then its slot is free, and its run says so", async (t) => {
    const { log, world } = await play(unseen, (scene) => steps(wait("3 minutes"), scene.says(hungUp("user_busy")), note(scene, "over")))
    t.match(world.annotated, [[callId, { hangup_cause: "user_busy" }]])
    t.strictSame(unlooked(log).slice(-1), ["over: 0"])
  })
})

/** Reports what the carrier of another configuration says about the call, which the owner of that configuration can forge. */
const forges = (scene: Scene, ...events: ReadonlyArray<TrunkEvent>) =>
  Effect.gen(function* () {
    const { provider, trunk } = scene.world
    if (trunk !== undefined) scene.world.trunk = { ...trunk, id: TelephonyConfigId.make(4) }
    const other = yield* (yield* TrunkPool).get(TelephonyConfigId.make(4))
    scene.world.provider = provider
    for (const event of events) {
      other?.hear(callId, event)
      yield* settled
    }
  })

t.test("given a call that was written off unseen, when another configuration reports it", async (t) => {
  t.test("as over, then it keeps its slot, and its run does not mention it", async (t) => {
    const { log, world } = await play(unseen, (scene) =>
      steps<Slots | TrunkPool>(wait("3 minutes"), forges(scene, hungUp("user_busy")), note(scene, "afterwards"))
    )
    t.equal(log.at(-1), "afterwards: 1")
    t.strictSame(world.annotated, [])
  })
  t.test("as alive, then that one does not learn about the call, which is hung up when it appears", async (t) => {
    const { log, world } = await play(unseen, (scene) =>
      steps<Slots | TrunkPool>(
        wait("3 minutes"),
        note(scene, "in doubt"),
        forges(scene, { _tag: "Answered" }),
        wait("2 seconds"),
        note(scene, "forged"),
        scene.says(ring),
        wait("1 second")
      )
    )
    t.strictSame(unlooked(log).slice(-3), ["in doubt: 1", "forged: 1", "hangup originator_cancel"])
    t.equal(world.annotated.length, 1)
  })
})

t.test("given a conversation whose end was inferred, when the provider reports it later, then only its run is annotated", async (t) => {
  const { log, world } = await play(
    () => {},
    (scene) =>
      steps(
        scene.says({ _tag: "Answered" }),
        Effect.sync(() => scene.hears({ _tag: "MediaClosed", how: "unknown", why: "socket" })),
        wait("15 seconds"),
        scene.says(hungUp("normal_clearing")),
        scene.says(hungUp("normal_clearing"))
      )
  )
  t.equal(unlooked(log).at(-1), "ended answered")
  t.match(world.annotated[0], [callId, { ended_at: "1970-01-01T00:00:15.000Z", hangup_cause: "normal_clearing" }])
})

t.test("given a call that has ended, when its events come again, then nothing happens", async (t) => {
  const { log, world } = await play(
    () => {},
    ({ says }) => steps(says(ring), says(hungUp("user_busy")), says(ring), says({ _tag: "Answered" }), says(hungUp("user_busy")))
  )
  t.strictSame(log, [...accepted, "prepared", "line free, 0 slots", "ended busy"])
  t.strictSame(world.annotated, [])
})

t.test("given calls that this process does not know", async (t) => {
  const strangerId = CallId.make("01890000-0000-7000-8000-00000000000f")
  const hear = (scene: Scene, id: string, event: TrunkEvent) =>
    Effect.andThen(
      Effect.sync(() => scene.world.provider.onEvent?.(id, event)),
      settled
    )
  const known = (scene: Scene, state: "ended" | "sent") =>
    Effect.sync(() => void scene.world.attempts.set(strangerId, { contact: undefined, dialEpoch: 1, state }))
  const hangups = (log: ReadonlyArray<string>) => log.filter((entry) => entry.startsWith("hangup")).length

  t.test("and that belong to no attempt of the configuration, then they are not touched", async (t) => {
    const { log } = await play(
      () => {},
      (scene) =>
        steps(
          recovered,
          hear(scene, strangerId, { _tag: "Answered" }),
          hear(scene, "media-01890000", { _tag: "Answered" }),
          hear(scene, "1763774088.12", ring),
          wait("1 minute")
        )
    )
    t.equal(hangups(log), 0)
  })
  t.test("and whose attempt is over, then they are hung up and counted", async (t) => {
    let late = 0
    const { log } = await play(
      () => {},
      (scene) =>
        steps(
          known(scene, "ended"),
          hear(scene, strangerId, { _tag: "Placed" }),
          wait("1 second"),
          Effect.flatMap(CurrentCallMetrics, (figures) => Effect.sync(() => void (late = figures.late)))
        )
    )
    t.equal(hangups(log), 1)
    t.ok(late > 0)
  })
  t.test("and that a former process left, then they are left to the recovery, and hung up if it does not adopt them", async (t) => {
    const { log } = await play(
      () => {},
      (scene) =>
        steps(
          known(scene, "sent"),
          hear(scene, strangerId, { _tag: "Answered" }),
          wait("5 seconds"),
          Effect.sync(() => scene.world.log.push("recovered")),
          recovered,
          wait("1 second")
        )
    )
    t.strictSame(log.slice(log.indexOf("recovered")), ["recovered", "hangup originator_cancel", "look"])
    t.equal(hangups(log), 1)
  })
  t.test("while the database is away, then they are kept until it is back", async (t) => {
    const { log } = await play(
      () => {},
      (scene) =>
        steps(
          known(scene, "ended"),
          Effect.sync(() => void (scene.world.isDown = true)),
          hear(scene, strangerId, { _tag: "Answered" }),
          wait("1 minute"),
          Effect.sync(() => scene.world.log.push("back")),
          Effect.sync(() => void (scene.world.isDown = false)),
          wait("2 seconds")
        )
    )
    t.strictSame(log.slice(log.indexOf("back")), ["back", "hangup originator_cancel", "look"])
  })
})
