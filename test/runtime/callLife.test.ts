/** The call's actor from the answer to the end, and what it does when things around it fail. */
import { Effect, Schedule } from "effect"
import t from "tap"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import { failing } from "#test/support/fakes.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { stepWallClock } from "#test/support/run.ts"
import { accepted, answered, callId, hungUp, nothing, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { check, detected, given, notes, overAfterTalk, rang, sets } from "#test/support/callTable.ts"

const talk = ({ says, world }: Scene) =>
  steps(
    says(answered),
    Effect.sync(() => world.log.splice(0))
  )
const isBusy = ({ says }: Scene) => says(hungUp("user_busy"))
const end = ({ says }: Scene) => says(hungUp("normal_clearing"))
const isUp = Effect.succeed("up" as const)

t.test("given a provider with shorter limits for ringing and talking than wanted, then its limits are requested", async (t) => {
  const { log, world } = await play(given({ world: { manifest: { longestCallSeconds: 120, longestRingSeconds: 40 } } }), (scene) =>
    steps(talk(scene), wait("119 seconds"), notes(scene, "two minutes"), wait("2 seconds"))
  )
  t.match(world.dials, [{ maxDurationSeconds: 120, ringTimeoutSeconds: 40 }])
  t.strictSame(log, ["two minutes", "hangup duration_exceeded"])
  const another = await play(given({ world: { manifest: { longestCallSeconds: 7200, longestRingSeconds: 120 } } }), talk)
  t.match(another.world.dials, [{ maxDurationSeconds: 300, ringTimeoutSeconds: 60 }])
})

/** The conversation has found a machine. */
const endsForMachine = (scene: Scene) =>
  Effect.andThen(
    Effect.sync(() => scene.hears({ _tag: "EndWanted", cause: "machine_detected" })),
    wait(0)
  )

t.test("given a conversation", async (t) => {
  const during = (name: string, act: (scene: Scene) => Effect.Effect<unknown>, expected: ReadonlyArray<string>) =>
    check(t, name, {}, (scene) => steps(talk(scene), act(scene)), expected)
  const machine = ["hangup machine_detected", "line free, 0 slots", "finish", "ended voicemail"]
  const failed = ["line free, 0 slots", "finish", "ended error"]
  await during("with a machine, then it is hung up", (scene) => steps(endsForMachine(scene), end(scene)), machine)
  await during("with a machine that the provider detects, then the agent decides", ({ says }) => says(detected), ["told of a machine"])
  await during(
    "that the provider does not end when asked, then it is asked again",
    (scene) => steps(endsForMachine(scene), wait("61 seconds")),
    ["hangup machine_detected", "look", "line free, 0 slots", "finish", "ended voicemail"]
  )
  await during(
    "for which a plugin reports unknown values, then it ends anyway",
    // As a plugin in plain JavaScript might.
    ({ says }) => steps(says({ _tag: "Dtmf", digit: "\0" }), says({ _tag: "HungUp", cause: "\0" as "unknown" })),
    overAfterTalk
  )
  await during("with keys, then the agent hears them", ({ says }) => says({ _tag: "Dtmf", digit: "5" }), ["key 5"])
  const endlessKeys = (scene: Scene) =>
    steps(
      ...Array.from({ length: 1010 }, () => Effect.sync(() => scene.world.provider.onEvent?.(callId, { _tag: "Dtmf", digit: "1" }))),
      wait(0),
      Effect.sync(() => scene.world.log.splice(0, 1000)),
      end(scene)
    )
  await during("with endless keys, then a limited number is kept", endlessKeys, overAfterTalk)

  const loses = (scene: Scene) => Effect.sync(() => scene.hears({ _tag: "MediaClosed", how: "unknown", why: "socket" }))
  const freed = (scene: Scene) =>
    steps(
      loses(scene),
      wait("5 seconds"),
      Effect.sync(() => scene.world.log.push("5 s later"))
    )
  await during("whose audio ends and that no longer exists, then its line is free before its end is recorded", freed, [
    "look",
    "look",
    "line free, 0 slots",
    "finish",
    "5 s later"
  ])
  const isCutOff = (scene: Scene) =>
    steps(
      loses(scene),
      Effect.sync(() => scene.world.provider.onStatus?.({ _tag: "Down", detail: "gone", reason: "unreachable" })),
      wait("25 seconds"),
      scene.says({ _tag: "HungUp", cause: "trunk_lost" })
    )
  await during("whose audio ends while its provider's events do not arrive, then it waits for them", isCutOff, [
    "look",
    "look",
    "look",
    ...failed
  ])
})

t.test("given audio that cannot be opened, then the call is hung up", async (t) => {
  for (const [name, media, until] of [
    ["it fails", failing, "10 seconds"],
    ["it hangs", Effect.never, "15 seconds"]
  ] as const)
    await check(t, name, { world: { media, lookup: isUp } }, (scene) => steps(scene.says(answered), wait(until), end(scene)), [
      ...accepted,
      "answered",
      "media",
      "look",
      "hangup media_failure",
      "line free, 0 slots",
      "ended error"
    ])
  const { log } = await play(given({ world: { media: failing } }), (scene) => steps(scene.says(answered), end(scene)))
  t.equal(log.at(-1), "ended answered", "no failure if the callee hangs up before")
})

t.test("given an end without an answer that an answered call may also have, then it is decided five seconds later", async (t) => {
  const ended = async (name: string, act: (scene: Scene) => Effect.Effect<unknown>, outcome: string, recorded: object) => {
    const told = (scene: Scene) => steps(scene.says(rang), wait("20 seconds"), act(scene))
    const log = [...accepted, "prepared", "look", "line free, 0 slots", `ended ${outcome}`]
    const played = await check(t, name, {}, told, log)
    t.strictSame(played.recorded, [recorded], name)
    return played.world.ends
  }
  const noAnswer = (scene: Scene) => steps(end(scene), wait("6 seconds"))
  await ended("no answer comes", noAnswer, "no_answer", { dueAt: 80_000, isEntry: false, look: false })
  const late = ({ says }: Scene) =>
    steps(says({ _tag: "HungUp", at: 5_030_000, cause: "normal_clearing" }), wait("1 second"), says({ _tag: "Answered", at: 5_018_000 }))
  const ends = await ended("the answer comes late, then it is not repeated", late, "answered", {
    dueAt: undefined,
    isEntry: false,
    look: true
  })
  t.match(ends, [{ answeredAt: 8000, endedAt: 20_000 }])
})

t.test("given a conversation, when the wall clock is set an hour forward or back, then it goes on, and its length is right", async (t) => {
  for (const step of [3_600_000, -3_600_000]) {
    const act = (scene: Scene) => steps(scene.says(answered), stepWallClock(step), wait("12 seconds"), end(scene))
    const { world } = await check(t, `${step}`, {}, act, [...accepted, "answered", "media", "voice", ...overAfterTalk])
    t.match(world.ends, [{ answeredAt: step, endedAt: step + 12_000 }])
  }
})

t.test("given keys that are pressed before the audio is there, then the agent hears them when it is", (t) =>
  check(
    t,
    "its log",
    { world: { media: Effect.sleep(100) } },
    ({ says }) => steps(says(answered), says({ _tag: "Dtmf", digit: "7" }), wait(200)),
    [...accepted, "answered", "media", "voice", "key 7"]
  )
)

t.test("given a greeting that takes a while to prepare, when the phone rings, then it is prepared, and not before", (t) =>
  check(
    t,
    "its log",
    { preparing: Effect.sleep("2 seconds") },
    (scene) => steps(wait("3 seconds"), notes(scene, "rings"), scene.says(rang), wait("3 seconds")),
    [...accepted, "rings", "prepared"]
  )
)

t.test("given a row that has changed during the call, then its retry follows that", async (t) => {
  const retried = async (name: string, change: (scene: Scene) => unknown, expected: object) => {
    const { recorded } = await play(nothing, (scene) =>
      Effect.andThen(
        Effect.sync(() => change(scene)),
        isBusy(scene)
      )
    )
    t.strictSame(recorded, [expected], name)
  }
  await retried(
    "an end that was recorded although the database's reply was lost: it is still announced",
    ({ world }) => world.attempts.set(callId, { contact: undefined, dialEpoch: 1, state: "ended" }),
    { dueAt: 60_000, isEntry: true, look: true }
  )
  const slower = { retry: { ...defaultRetryConfig, retryDelaySeconds: 600 }, settingsVersion: 2 }
  await retried("new settings", ({ world }) => world.change(slower), { dueAt: 600_000, isEntry: false, look: false })
})

const hangsUp = ({ world }: Scene) => Effect.sync(() => world.provider.onEvent?.(callId, hungUp("normal_clearing")))

t.test("given the engine stops during a conversation, then the call is hung up and recorded, and its actor has not failed", async (t) => {
  const { logged, stopped } = await play(nothing, talk)
  t.strictSame(stopped.slice(0, 1), ["hangup originator_cancel"])
  t.notMatch(JSON.stringify(logged), /actor failed/)
  const gone = await play(nothing, (scene) => steps(scene.says(answered), sets(scene, { hangup: hangsUp(scene) })))
  t.strictSame(gone.stopped, ["hangup originator_cancel", ...overAfterTalk])
})

t.test("given a provider that temporarily cannot hang up, when it can again, then the call ends", async (t) => {
  const { log } = await play(given({ world: { hangup: failing, lookup: isUp } }), (scene) =>
    steps(scene.says(answered), endsForMachine(scene), wait("25 seconds"), sets(scene, { hangup: hangsUp(scene) }), wait("10 seconds"))
  )
  t.equal(log.filter((entry) => entry === "hangup machine_detected").length, 4)
  t.equal(log.at(-1), "ended voicemail")
})

t.test("given a mailbox that overflows, then the call still ends in time", async (t) => {
  const flood = ({ world }: Scene) =>
    Effect.sync(() => {
      for (let i = 0; i < 200; i++) world.provider.onEvent?.(callId, rang)
    })
  const { log } = await play(nothing, (scene) =>
    flood(scene).pipe(Effect.andThen(wait("1 second")), Effect.repeat(Schedule.recurs(3)), Effect.andThen(wait("3 minutes")))
  )
  t.equal(log.at(-1), "ended unknown")
})

t.test("given what follows from a call's record fails, then the log says so with the call's id, and the line is free", async (t) => {
  let used: number | undefined
  const hearsRecord = () => {
    throw new Error("no inbox")
  }
  const { logged } = await play(given({ hearsRecord }), (scene) =>
    steps(
      isBusy(scene),
      Effect.map(Slots, (slots) => void (used = slots.used("organization:1")))
    )
  )
  t.equal(used, 0)
  const lines = logged.filter(([message]) => message !== "a trunk is up")
  t.match(lines, [["a call's actor failed", { callId, campaignId: 7 }]])
})
