/** Calls that appear, or live on, when they are no longer followed, and the slots of calls that may still appear. */
import { Effect } from "effect"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { accepted, answered, callId, hungUp, nothing, play, type Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { failing, noReply } from "#test/support/fakes.ts"

const unlooked = (log: ReadonlyArray<string>) => log.filter((entry) => entry !== "look")

/** A request without a reply, whose call is never seen. */
const unseen = ({ world }: Scene) => {
  world.originate = noReply
  world.lookup = Effect.succeed("gone")
}
/** Changes something in the world of the call. */
const sets = ({ world }: Scene, changes: Partial<Scene["world"]>) => Effect.sync(() => void Object.assign(world, changes))
const note = ({ world }: Scene, what: string) =>
  Effect.flatMap(Slots, ({ used }) => Effect.sync(() => world.log.push(`${what}: ${used("organization:1")}`)))
const recovered = Effect.flatMap(CallSupervisor, (supervisor) => Effect.sync(supervisor.recovered))
const ring: TrunkEvent = { _tag: "Rang" }
type Needs = Effect.Effect<unknown, never, CallSupervisor | Slots | TrunkPool>
/** What comes of a call that was written off unseen, and then meets this. */
const writtenOff = (acts: (scene: Scene) => ReadonlyArray<Needs>) =>
  play(unseen, (scene) => steps<CallSupervisor | Slots | TrunkPool>(wait("3 minutes"), ...acts(scene)))

t.test("given a call that was written off unseen", async (t) => {
  t.test("when nothing rules it out, then it keeps its slot until ten minutes after its request", async (t) => {
    const { log } = await writtenOff((scene) => [
      note(scene, "in doubt"),
      wait("6 minutes"),
      note(scene, "later"),
      wait("70 seconds"),
      note(scene, "in the end")
    ])
    const told = log.filter((entry) => /doubt|later|end/.test(entry))
    t.strictSame(told, ["ended unknown", "in doubt: 1", "later: 1", "in the end: 0"])
  })
  t.test("when its provider rules it out, then its slot is free", async (t) => {
    const { log } = await writtenOff((scene) => [
      note(scene, "in doubt"),
      sets(scene, { mayAppear: false }),
      wait("1 second"),
      note(scene, "ruled out")
    ])
    t.strictSame(log.slice(-2), ["in doubt: 1", "ruled out: 0"])
  })
  t.test("when it appears, then it is hung up until it is gone, its slot is free, and its run says so", async (t) => {
    const { log, world } = await writtenOff((scene) => [
      sets(scene, { hangup: failing, lookup: Effect.succeed("ringing") }),
      scene.says(ring),
      note(scene, "there"),
      wait("1 second"),
      scene.says(answered),
      sets(scene, { hangup: Effect.void }),
      wait("1 second"),
      sets(scene, { lookup: Effect.succeed("gone") }),
      wait("1 second"),
      note(scene, "gone")
    ])
    const hangups = Array.from({ length: 3 }, () => "hangup originator_cancel")
    t.strictSame(unlooked(log).slice(accepted.length), [
      "line free, 1 slots",
      "ended unknown",
      "hangup originator_cancel",
      "there: 1",
      ...hangups,
      "gone: 0"
    ])
    t.match(world.annotated, [[callId, { answered_at: /^1970/, appeared_at: /^1970/, ended_at: /^1970/, rang_at: /^1970/ }]])
    t.equal(world.ends.length, 1, "and nothing that was recorded is changed")
  })
  t.test("when it appears while the database is away, then it is hung up anyway", async (t) => {
    const { log } = await writtenOff((scene) => [sets(scene, { isDown: true }), scene.says(answered), wait("5 seconds")])
    t.strictSame(unlooked(log).slice(-1), ["hangup originator_cancel"])
  })
  t.test("when the provider reports that it is over, then its slot is free, and its run says so", async (t) => {
    const { log, world } = await writtenOff((scene) => [scene.says(hungUp("user_busy")), note(scene, "over")])
    t.match(world.annotated, [[callId, { hangup_cause: "user_busy" }]])
    t.strictSame(unlooked(log).slice(-1), ["over: 0"])
  })
})

/** Reports what the carrier of another configuration says about the call, which the owner of that configuration can forge. */
const forges = Effect.fnUntraced(function* (scene: Scene, event: TrunkEvent) {
  const { provider, trunk } = scene.world
  if (trunk !== undefined) scene.world.trunk = { ...trunk, id: TelephonyConfigId.make(4) }
  const other = yield* (yield* TrunkPool).get(TelephonyConfigId.make(4))
  scene.world.provider = provider
  other?.hear(callId, event)
  yield* settled
})

t.test("given a call that was written off unseen, when another configuration reports it", async (t) => {
  t.test("as over, then it keeps its slot, and its run does not mention it", async (t) => {
    const { log, world } = await writtenOff((scene) => [forges(scene, hungUp("user_busy")), note(scene, "afterwards")])
    t.equal(log.at(-1), "afterwards: 1")
    t.strictSame(world.annotated, [])
  })
  t.test("as alive, then that one does not learn about the call, which is hung up when it appears", async (t) => {
    const { log, world } = await writtenOff((scene) => [
      note(scene, "in doubt"),
      forges(scene, answered),
      wait("2 seconds"),
      note(scene, "forged"),
      scene.says(ring),
      wait("1 second")
    ])
    t.strictSame(unlooked(log).slice(-3), ["in doubt: 1", "forged: 1", "hangup originator_cancel"])
    t.equal(world.annotated.length, 1)
  })
})

t.test("given a conversation whose end was inferred, when the provider reports it later, then only its run is annotated", async (t) => {
  const end = hungUp("normal_clearing")
  const { log, world } = await play(nothing, (scene) =>
    steps(
      scene.says(answered),
      Effect.sync(() => scene.hears({ _tag: "MediaClosed", how: "unknown", why: "socket" })),
      wait("15 seconds"),
      scene.says(end),
      scene.says(end)
    )
  )
  t.equal(unlooked(log).at(-1), "ended answered")
  t.match(world.annotated[0], [callId, { ended_at: "1970-01-01T00:00:15.000Z", hangup_cause: "normal_clearing" }])
})

t.test("given a call that has ended, when its events come again, then nothing happens", async (t) => {
  const busy = hungUp("user_busy")
  const { log, world } = await play(nothing, ({ says }) => steps(...[ring, busy, ring, answered, busy].map(says)))
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
  const known = (scene: Scene, state: "ended" | "sent", more: { readonly node?: string; readonly hasJustEnded?: boolean } = {}) =>
    Effect.sync(() => void scene.world.attempts.set(strangerId, { contact: undefined, dialEpoch: 1, state, ...more }))
  const log = (scene: Scene, what: string) => Effect.sync(() => scene.world.log.push(what))
  const check = (title: string, acts: (scene: Scene) => ReadonlyArray<Needs>, expected: ReadonlyArray<string>, from = "from here") =>
    t.test(title, async (t) => {
      const { log } = await play(nothing, (scene) => steps<CallSupervisor | Slots | TrunkPool>(...acts(scene)))
      const hangups = log.filter((entry) => entry.startsWith("hangup"))
      t.equal(hangups.length, expected.filter((entry) => entry.startsWith("hangup")).length)
      t.strictSame(log.slice(log.indexOf(from)), [from, ...expected])
    })

  check(
    "and that belong to no attempt of the configuration, then they are not touched",
    (scene) => [
      recovered,
      log(scene, "from here"),
      hear(scene, strangerId, answered),
      hear(scene, "media-01890000", answered),
      hear(scene, "1763774088.12", ring),
      wait("1 minute")
    ],
    []
  )
  let late = 0
  check(
    "and whose attempt is over, then they are hung up and counted",
    (scene) => [
      known(scene, "ended"),
      log(scene, "from here"),
      hear(scene, strangerId, { _tag: "Placed" }),
      wait("1 second"),
      Effect.flatMap(CurrentCallMetrics, (figures) => Effect.sync(() => void (late = figures.late)))
    ],
    ["hangup originator_cancel", "look"]
  )
  t.test("in the metrics", async (t) => t.ok(late > 0))
  check(
    "and that another engine has just followed to its end, then they are hung up only if they are heard of again",
    (scene) => [
      known(scene, "ended", { hasJustEnded: true, node: "another" }),
      log(scene, "from here"),
      hear(scene, strangerId, answered),
      wait("1 second"),
      known(scene, "ended", { node: "another" }),
      log(scene, "again"),
      hear(scene, strangerId, answered),
      wait("1 second")
    ],
    ["again", "hangup originator_cancel", "look"]
  )
  check(
    "and that a former process left, then they are left to the recovery, and hung up if it does not adopt them",
    (scene) => [
      known(scene, "sent"),
      hear(scene, strangerId, answered),
      wait("5 seconds"),
      log(scene, "recovered"),
      recovered,
      wait("1 second")
    ],
    ["hangup originator_cancel", "look"],
    "recovered"
  )
  check(
    "while the database is away, then they are kept until it is back",
    (scene) => [
      known(scene, "ended"),
      sets(scene, { isDown: true }),
      hear(scene, strangerId, answered),
      wait("1 minute"),
      log(scene, "back"),
      sets(scene, { isDown: false }),
      wait("2 seconds")
    ],
    ["hangup originator_cancel", "look"],
    "back"
  )
})
