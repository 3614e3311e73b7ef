/** The call's actor from the answer to the end, and what it does when things around it fail. */
import { Effect, Schedule } from "effect"
import t from "tap"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import { failing, type World } from "#test/support/fakes.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { stepWallClock } from "#test/support/run.ts"
import { wait, callId, type Scene, play, nothing, steps, accepted, hungUp, answered } from "#test/support/callScene.ts"

const talk = ({ says, world }: Scene) =>
  steps(
    says(answered),
    Effect.sync(() => world.log.splice(0))
  )

t.test("given a provider with shorter limits for ringing and talking than wanted, then its limits are requested", async (t) => {
  const { log, world } = await play(
    (scene) => void (scene.world.manifest = { longestCallSeconds: 120, longestRingSeconds: 40 }),
    (scene) =>
      steps(
        talk(scene),
        wait("119 seconds"),
        Effect.sync(() => scene.world.log.push("two minutes")),
        wait("2 seconds")
      )
  )
  t.match(world.dials, [{ maxDurationSeconds: 120, ringTimeoutSeconds: 40 }])
  t.strictSame(log, ["two minutes", "hangup duration_exceeded"])
  const another = await play((scene) => void (scene.world.manifest = { longestCallSeconds: 7200, longestRingSeconds: 120 }), talk)
  t.match(another.world.dials, [{ maxDurationSeconds: 300, ringTimeoutSeconds: 60 }])
})

t.test("given a conversation", async (t) => {
  const check = async (name: string, act: (scene: Scene) => Effect.Effect<unknown>, expected: ReadonlyArray<string>) => {
    const { log } = await play(nothing, (scene) => steps(talk(scene), act(scene)))
    t.strictSame(log, expected, name)
  }
  const ending = ["line free, 0 slots", "finish"]
  await check("of the longest length, then it is hung up", ({ says }) => steps(wait("301 seconds"), says(hungUp("normal_clearing"))), [
    "hangup duration_exceeded",
    ...ending,
    "ended answered"
  ])
  await check("past the ring timeout, then it continues", () => wait("200 seconds"), [])
  await check(
    "with a machine, then it is hung up",
    (scene) =>
      steps(
        Effect.sync(() => scene.hears({ _tag: "MachineDetected" })),
        wait(0),
        scene.says(hungUp("normal_clearing"))
      ),
    ["hangup machine_detected", ...ending, "ended voicemail"]
  )
  await check(
    "with a machine that the provider detects, then it is hung up",
    ({ says }) => steps(says({ _tag: "Detected", who: "machine" }), says(hungUp("normal_clearing"))),
    ["hangup machine_detected", ...ending, "ended voicemail"]
  )
  await check(
    "for which a plugin reports unknown values, then it ends anyway",
    // As a plugin in plain JavaScript might.
    ({ says }) => steps(says({ _tag: "Dtmf", digit: "\0" }), says({ _tag: "HungUp", cause: "\0" as "unknown" })),
    [...ending, "ended answered"]
  )
  await check(
    "with endless keys, then a limited number is kept",
    (scene) =>
      steps(
        ...Array.from({ length: 1010 }, () => Effect.sync(() => scene.world.provider.onEvent?.(callId, { _tag: "Dtmf", digit: "1" }))),
        wait(0),
        Effect.sync(() => scene.world.log.splice(0, 1000)),
        scene.says(hungUp("normal_clearing"))
      ),
    [...ending, "ended answered"]
  )
  const loses = (scene: Scene) => Effect.sync(() => scene.hears({ _tag: "MediaClosed", how: "unknown", why: "socket" }))
  for (const seconds of [1, 5, 9])
    await check(
      `whose audio ends ${seconds} s before it, then that is no failure`,
      (scene) => steps(loses(scene), wait(`${seconds} seconds`), scene.says(hungUp("normal_clearing"))),
      [...ending, "ended answered"]
    )
  await check(
    "whose audio ends while it is still up, then it is hung up",
    (scene) =>
      steps(
        Effect.sync(() => void (scene.world.lookup = Effect.succeed("up"))),
        loses(scene),
        wait("11 seconds"),
        scene.says(hungUp("normal_clearing"))
      ),
    ["look", "hangup media_failure", ...ending, "ended error"]
  )
  await check("whose audio ends and that no longer exists, then it has ended", (scene) => steps(loses(scene), wait("13 seconds")), [
    "look",
    "look",
    ...ending,
    "ended answered"
  ])
  await check(
    "whose audio ends while its provider's events do not arrive, then it waits for them",
    (scene) =>
      steps(
        loses(scene),
        Effect.sync(() => scene.world.provider.onStatus?.({ _tag: "Down", detail: "gone", reason: "unreachable" })),
        wait("25 seconds"),
        scene.says({ _tag: "HungUp", cause: "trunk_lost" })
      ),
    ["look", "look", ...ending, "ended error"]
  )
  await check("with keys, then the agent hears them", ({ says }) => says({ _tag: "Dtmf", digit: "5" }), ["key 5"])
  await check(
    "that the provider does not end when asked, then it is asked again",
    ({ says }) => steps(says({ _tag: "Detected", who: "machine" }), wait("61 seconds"), Effect.void),
    ["hangup machine_detected", "look", ...ending, "ended voicemail"]
  )
})

t.test("given audio that cannot be opened, then the call is hung up", async (t) => {
  const check = async (name: string, media: World["media"], until: "10 seconds" | "15 seconds") => {
    const { log } = await play(
      ({ world }) => {
        world.media = media
        world.lookup = Effect.succeed("up")
      },
      ({ says }) => steps(says(answered), wait(until), says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "answered", "media", "look", "hangup media_failure", "line free, 0 slots", "ended error"], name)
  }
  await check("it fails", failing, "10 seconds")
  await check("it hangs", Effect.never, "15 seconds")
})

t.test("given a callee who hangs up before the audio is there, then that is no failure", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.media = failing
    },
    ({ says }) => steps(says(answered), says(hungUp("normal_clearing")))
  )
  t.strictSame(log.at(-1), "ended answered")
})

t.test("given an end that arrives before the answer, then the call was answered, and is not repeated", async (t) => {
  const { log, recorded, world } = await play(nothing, ({ says }) =>
    steps(
      says({ _tag: "Rang" }),
      wait("20 seconds"),
      says({ _tag: "HungUp", at: 5_030_000, cause: "normal_clearing" }),
      wait("1 second"),
      says({ _tag: "Answered", at: 5_018_000 })
    )
  )
  t.strictSame(log, [...accepted, "prepared", "look", "line free, 0 slots", "ended answered"])
  t.match(world.ends, [{ answeredAt: 8000, endedAt: 20_000 }])
  t.strictSame(recorded, [{ dueAt: undefined, isEntry: false, look: true }])
})

t.test("given an end without an answer that an answered call may also have, then it is decided five seconds later", async (t) => {
  const { log, recorded } = await play(nothing, ({ says }) =>
    steps(says({ _tag: "Rang" }), wait("20 seconds"), says(hungUp("normal_clearing")), wait("6 seconds"))
  )
  t.strictSame(log, [...accepted, "prepared", "look", "line free, 0 slots", "ended no_answer"])
  t.strictSame(recorded, [{ dueAt: 80_000, isEntry: false, look: false }])
})

t.test(
  "given a conversation, when the wall clock is set an hour forward or back, then it continues, and its recorded length is right",
  async (t) => {
    for (const step of [3_600_000, -3_600_000]) {
      const { log, world } = await play(nothing, ({ says }) =>
        steps(says(answered), stepWallClock(step), wait("12 seconds"), says(hungUp("normal_clearing")))
      )
      t.strictSame(log, [...accepted, "answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"])
      t.match(world.ends, [{ answeredAt: step, endedAt: step + 12_000 }])
    }
  }
)

t.test("given keys that are pressed before the audio is there, then the agent hears them when it is", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.media = Effect.sleep(100)
    },
    ({ says }) => steps(says(answered), says({ _tag: "Dtmf", digit: "7" }), wait(200))
  )
  t.strictSame(log.slice(-3), ["media", "voice", "key 7"])
})

t.test("given a greeting that takes a while to prepare, when the phone rings, then it is prepared, and not before", async (t) => {
  const { log } = await play(
    (scene) => {
      scene.preparing = Effect.sleep("2 seconds")
    },
    ({ says, world }) =>
      steps(
        wait("3 seconds"),
        Effect.sync(() => world.log.push("rings")),
        says({ _tag: "Rang" }),
        wait("3 seconds")
      )
  )
  t.strictSame(log, ["sent", "originate +15551", "rings", "prepared"])
})

t.test("given a database that goes away", async (t) => {
  const away = (world: World, isDown: boolean) =>
    Effect.sync(() => {
      world.isDown = isDown
    })
  t.test("when the call is answered, then the conversation begins, and the record is caught up with", async (t) => {
    const { log } = await play(nothing, ({ says, world }) =>
      steps(away(world, true), says(answered), wait("2 minutes"), away(world, false), wait("10 seconds"))
    )
    t.strictSame(log, [...accepted, "media", "voice", "answered"])
  })
  t.test("when the call ends, then the line is free at once, and the end is recorded later, once", async (t) => {
    const { log, recorded } = await play(nothing, ({ says, world }) =>
      steps(away(world, true), says(hungUp("user_busy")), wait("3 minutes"), away(world, false), wait("10 seconds"))
    )
    t.strictSame(log, [...accepted, "line free, 0 slots", "ended busy"])
    t.strictSame(recorded, [{ dueAt: 60_000, isEntry: false, look: false }])
  })
})

t.test("given an end that was recorded although the database's reply was lost, then the retry is still announced", async (t) => {
  const { recorded } = await play(nothing, ({ says, world }) =>
    steps(
      Effect.sync(() => world.attempts.set(callId, { contact: undefined, dialEpoch: 1, state: "ended" })),
      says(hungUp("user_busy"))
    )
  )
  t.strictSame(recorded, [{ dueAt: 60_000, isEntry: true, look: true }])
})

t.test("given settings that changed during the call, then the retry follows the new ones", async (t) => {
  const { recorded } = await play(nothing, ({ says, world }) =>
    steps(
      Effect.sync(() => world.change({ retry: { ...defaultRetryConfig, retryDelaySeconds: 600 }, settingsVersion: 2 })),
      says(hungUp("user_busy"))
    )
  )
  t.strictSame(recorded, [{ dueAt: 600_000, isEntry: false, look: false }])
})

t.test("given the engine stops during a conversation, then the call is hung up and recorded", async (t) => {
  const { stopped } = await play(nothing, ({ says }) => says(answered))
  t.strictSame(stopped.slice(0, 1), ["hangup originator_cancel"])
  const gone = await play(
    ({ world }) => {
      world.lookup = Effect.succeed("gone")
    },
    ({ says, world }) =>
      steps(
        says(answered),
        Effect.sync(() => {
          world.hangup = Effect.sync(() => world.provider.onEvent?.(callId, hungUp("normal_clearing")))
        })
      )
  )
  t.strictSame(gone.stopped, ["hangup originator_cancel", "line free, 0 slots", "finish", "ended answered"])
})

t.test("given a provider that temporarily cannot hang up, when it can again, then the call ends", async (t) => {
  const { log } = await play(
    ({ world }) => Object.assign(world, { hangup: failing, lookup: Effect.succeed("up") }),
    ({ says, world }) =>
      steps(
        says(answered),
        says({ _tag: "Detected", who: "machine" }),
        wait("25 seconds"),
        Effect.sync(() => {
          world.hangup = Effect.sync(() => world.provider.onEvent?.(callId, hungUp("normal_clearing")))
        }).pipe(Effect.andThen(wait("10 seconds")))
      )
  )
  t.equal(log.filter((entry) => entry === "hangup machine_detected").length, 4)
  t.equal(log.at(-1), "ended voicemail")
})

t.test("given a mailbox that overflows, then the call still ends in time", async (t) => {
  const flood = ({ world }: Scene) =>
    Effect.sync(() => {
      for (let i = 0; i < 200; i++) world.provider.onEvent?.(callId, { _tag: "Rang" })
    })
  const { log } = await play(nothing, (scene) =>
    flood(scene).pipe(Effect.andThen(wait("1 second")), Effect.repeat(Schedule.recurs(3)), Effect.andThen(wait("3 minutes")))
  )
  t.equal(log.at(-1), "ended unknown")
})

t.test("given what follows from a call's record fails, then the log says so with the call's id, and the line is free", async (t) => {
  let used: number | undefined
  const { logged } = await play(
    (scene) => {
      scene.hearsRecord = () => {
        throw new Error("no inbox")
      }
    },
    ({ says }) =>
      steps(
        says(hungUp("user_busy")),
        Effect.map(Slots, (slots) => {
          used = slots.used("organization:1")
        })
      )
  )
  t.equal(used, 0)
  t.match(
    logged.filter(([message]) => message !== "a trunk is up"),
    [["a call's actor failed", { callId, campaignId: 7 }]]
  )
})

t.test("given a live call, when the engine stops, then nothing is logged as a failure of its actor", async (t) => {
  const { logged, stopped } = await play(nothing, talk)
  t.match(stopped, [/hangup/])
  t.notMatch(JSON.stringify(logged), /actor failed/)
})
