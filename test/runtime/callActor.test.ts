/** One call, from the permit to its record, on a virtual clock: what goes over the wire, and what is written down, in which order. */
import { Deferred, type Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { AgentDefinitionId, AgentId, CallId, RunId } from "#core/Id.ts"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { Recorded } from "#runtime/call/CallJournal.ts"
import { Slots } from "#runtime/Slots.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { VoiceAgent, type VoiceEvent } from "#runtime/voice/VoiceSession.ts"
import { campaignId, configurationId, failing, layerOf, noReply, organizationId, refusal, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** A word goes through several fibers until it is a deed. */
const settled = Effect.repeat(TestClock.adjust(0), { times: 10 })
const wait = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled)

const callId = CallId.make("01890000-0000-7000-8000-000000000001")

/** A call that is about to be dialed at once, and whatever can happen to it. */
class Scene {
  readonly world = new World()
  readonly recorded: Array<Recorded> = []
  readonly waits = { entered: 0, left: 0 }
  permitted: () => boolean = () => true
  hears: (event: VoiceEvent) => void = () => {}
  preparing: Effect.Effect<void> = Effect.void
  /** For so long others' requests keep the trunk busy. */
  crowded: Effect.Effect<void> = Effect.void
  reserve = (now: number) => now + 500
  trunk: LiveTrunk | undefined
  readonly says = (event: TrunkEvent) =>
    Effect.andThen(
      Effect.sync(() => this.world.provider.onEvent?.(callId, event)),
      settled
    )
  readonly voice = Layer.succeed(VoiceAgent, {
    attach: (_plan, _media, emit) =>
      Effect.sync(() => {
        this.world.log.push("voice")
        this.hears = emit
        return {
          dtmf: (digit) => this.world.log.push(`key ${digit}`),
          finish: Effect.as(
            Effect.sync(() => this.world.log.push("finish")),
            {
              digits: "",
              events: [],
              firstAudioMillis: undefined,
              gathered: {},
              recordingKey: undefined,
              transcriptKey: undefined,
              transcriptText: "",
              usage: { call_duration_seconds: 0, llm: {}, stt: {}, tts: {} }
            }
          )
        }
      }),
    prepare: () =>
      Effect.andThen(
        Effect.suspend(() => this.preparing),
        Effect.sync(() => this.world.log.push("prepared"))
      )
  })
}

const dial = Effect.fnUntraced(function* (scene: Scene) {
  const { recorded, waits, world } = scene
  world.withContacts(1)
  world.attempts.set(callId, { contact: world.contacts[0], dialEpoch: 1, state: "intent" })
  const supervisor = yield* CallSupervisor
  const slots = yield* Slots
  const trunk = yield* (yield* TrunkPool).get(configurationId)
  if (trunk === undefined) return yield* Effect.die("no trunk")
  scene.trunk = trunk
  slots.adopt(callId, [{ key: "organization:1", limit: 1 }])
  yield* Effect.forkChild(trunk.originating.withPermits(trunk.adapter.manifest.originatesInFlight)(scene.crowded))
  yield* settled
  const permit = { entered: () => void waits.entered++, holds: () => scene.permitted(), left: () => void waits.left++ }
  const retry = { ...defaultRetryConfig, retryDelaySeconds: 60 }
  yield* supervisor.start(
    {
      agentDefinitionId: AgentDefinitionId.make(1),
      agentId: AgentId.make(1),
      callId,
      campaign: { breakerEnabled: false, campaignId, retriesUsed: 0, retry, rowNo: 1, settingsVersion: 1 },
      initialContext: {},
      organizationId,
      phoneNumber: "+15551",
      runId: RunId.make(1),
      telephonyConfigurationId: configurationId
    },
    trunk,
    { dialAt: 0, permit, reserve: scene.reserve },
    {
      lineFree: () => void world.log.push(`line free, ${slots.used("organization:1")} slots`),
      recorded: (_, record) => void recorded.push(record)
    }
  )
  yield* settled
})

/** `arrange` comes before the call is dialed, `act` after. The engine is closed at the end, as if it stopped. */
const play = (arrange: (scene: Scene) => void, act: (scene: Scene) => Effect.Effect<unknown>) =>
  run(
    Effect.gen(function* () {
      const scene = new Scene()
      arrange(scene)
      const played = yield* Deferred.make<ReadonlyArray<string>>()
      const engine = yield* dial(scene).pipe(
        Effect.andThen(Effect.suspend(() => act(scene))),
        Effect.andThen(Effect.suspend(() => Deferred.succeed(played, [...scene.world.log]))),
        Effect.provide(layerOf(scene.world, { DRAIN: "0", RECORDINGS: "on" }, scene.voice)),
        Effect.forkChild
      )
      yield* Effect.race(Deferred.await(played), Fiber.join(engine))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(engine)
      return { ...scene, log: yield* Deferred.await(played), stopped: scene.world.log.slice((yield* Deferred.await(played)).length) }
    })
  )
const nothing = () => {}
/** One after the other. */
const steps = (...all: ReadonlyArray<Effect.Effect<unknown>>) => Effect.all(all, { discard: true })
const accepted = ["prepared", "sent", "originate +15551"]
const hungUp = (cause: "normal_clearing" | "user_busy" | "no_answer"): TrunkEvent => ({ _tag: "HungUp", cause })
const answered: TrunkEvent = { _tag: "Answered" }

t.test(
  "given a call that is answered and hung up, then each step is recorded before the next is taken, and the line is free before the end is recorded",
  async (t) => {
    const { log, recorded, waits } = await play(nothing, ({ says }) =>
      steps(says({ _tag: "Rang" }), says(answered), wait("5 seconds"), says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"])
    t.strictSame(recorded, [{ dueAt: undefined, look: true }])
    t.strictSame(waits, { entered: 1, left: 1 })
  }
)

t.test("given a busy callee, then the contact waits for its retry", async (t) => {
  const { log, recorded, world } = await play(nothing, ({ says }) => says(hungUp("user_busy")))
  t.strictSame(log, [...accepted, "line free, 0 slots", "ended busy"])
  t.strictSame(recorded, [{ dueAt: 60_000, look: false }])
  t.match(world.contacts, [{ dueAt: 60_000, retriesUsed: 1, state: "retry_wait" }])
})

t.test("given a phone that rings on although the provider should have ended it, then it is hung up", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.lookup = Effect.succeed("ringing")
    },
    ({ says }) => steps(says({ _tag: "Rang" }), wait("91 seconds"), says(hungUp("no_answer")))
  )
  t.strictSame(log, [...accepted, "look", "hangup ring_timeout", "line free, 0 slots", "ended no_answer"])
})

t.test("given events that come before the reply to the request, then the call goes its way", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.originate = Effect.sleep("3 seconds")
    },
    ({ says }) => steps(says(answered), wait("5 seconds"), says(hungUp("normal_clearing")))
  )
  t.strictSame(log, [...accepted, "answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"])
})

t.test("given a request without a reply", async (t) => {
  const check = async (
    name: string,
    presence: Effect.Success<World["lookup"]>,
    act: (scene: Scene) => Effect.Effect<unknown>,
    rest: ReadonlyArray<string>
  ) => {
    const { log } = await play(({ world }) => Object.assign(world, { lookup: Effect.succeed(presence), originate: noReply }), act)
    t.strictSame(
      log.filter((entry) => entry !== "look"),
      [...accepted, ...rest],
      name
    )
  }
  const silent = () => wait("3 minutes")
  await check("rings and is answered", "ringing", ({ says }) => steps(wait("1 second"), says(answered), says(hungUp("normal_clearing"))), [
    "answered",
    "media",
    "voice",
    "line free, 0 slots",
    "finish",
    "ended answered"
  ])
  await check(
    "rings although the event came first",
    "ringing",
    ({ says }) => steps(says({ _tag: "Rang" }), wait("30 seconds"), says(hungUp("user_busy"))),
    ["line free, 0 slots", "ended busy"]
  )
  await check("is never found", "gone", silent, ["line free, 0 slots", "ended unknown"])
  await check("was never placed", "never_placed", silent, ["void", "line free, 0 slots"])
  await check("is up already", "up", () => Effect.void, ["hangup trunk_lost"])
})

t.test("given a request that is refused, then the attempt is void, and the trunk rests as long as it should", async (t) => {
  const check = async (reason: Parameters<typeof refusal>[0], restUntil: number, failures: number, retryAfterMillis?: number) => {
    const { log, trunk } = await play(
      ({ world }) => {
        world.originate = refusal(reason, retryAfterMillis)
      },
      () => Effect.void
    )
    t.strictSame(log, [...accepted, "void", "line free, 0 slots"], reason)
    t.equal(trunk?.restUntil(), restUntil, reason)
    t.equal(trunk?.failures(), failures, reason)
  }
  await check("unreachable", 5000, 1)
  await check("rate_limited", 5000, 0)
  await check("rate_limited", 17_000, 0, 17_000)
  await check("auth_refused", 0, 0)
  await check("no_credit", 0, 0)
  await check("misconfigured", 0, 0)
})

t.test("given a number that is refused, then the contact has failed, and the trunk is none the worse", async (t) => {
  const { log, trunk, world } = await play(
    ({ world }) => {
      world.originate = refusal("number_refused")
    },
    () => Effect.void
  )
  t.strictSame(log, [...accepted, "line free, 0 slots", "ended failed"])
  t.match(world.contacts, [{ state: "failed" }])
  t.equal(trunk?.restUntil(), 0)
})

t.test("given a permit that ends", async (t) => {
  t.test("before the attempt is marked, then nothing is marked and nothing is sent", async (t) => {
    const { log, waits } = await play(
      (scene) => {
        scene.permitted = () => false
      },
      () => Effect.void
    )
    t.strictSame(log, ["prepared", "void", "line free, 0 slots"])
    t.strictSame(waits, { entered: 1, left: 1 })
  })
  t.test("in the row, then nothing is sent", async (t) => {
    const { log } = await play(
      ({ world }) => world.pauseRow(),
      () => Effect.void
    )
    t.strictSame(log, ["prepared", "void", "line free, 0 slots"])
  })
  t.test("while the attempt is marked, then nothing is sent", async (t) => {
    const { log } = await play(
      (scene) => {
        scene.world.marking = steps(
          Effect.sleep(10),
          Effect.sync(() => {
            scene.permitted = () => false
          })
        )
      },
      () => wait(100)
    )
    t.strictSame(log, ["prepared", "sent", "void", "line free, 0 slots"])
  })
})

t.test("given a request that is held up", async (t) => {
  t.test("for a moment, then it takes a new moment of the rate", async (t) => {
    const { world } = await play(
      ({ world }) => {
        world.marking = Effect.sleep(300)
      },
      ({ says }) => steps(wait("2 seconds"), says(hungUp("user_busy")))
    )
    t.strictSame(
      world.dials.map(({ at }) => at),
      [800]
    )
  })
  t.test("for ever by the database, then it never leaves, and the contact is as it was", async (t) => {
    const { log, world } = await play(
      ({ world }) => {
        world.marking = Effect.never
      },
      () => wait("3 minutes")
    )
    t.strictSame(log, ["prepared", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("for long by others' requests, then it never leaves, and the contact is as it was", async (t) => {
    const { log } = await play(
      (scene) => {
        scene.crowded = Effect.sleep("12 seconds")
      },
      () => wait("3 minutes")
    )
    t.strictSame(log, ["prepared", "void", "line free, 0 slots"])
  })
  t.test("when the next moment is far off, then it never leaves, and the contact is as it was", async (t) => {
    const { log } = await play(
      (scene) => Object.assign(scene, { crowded: Effect.sleep("1 second"), reserve: (now: number) => now + 30_000 }),
      () => wait("3 minutes")
    )
    t.strictSame(log, ["prepared", "sent", "void", "line free, 0 slots"])
  })
  t.test("when the engine stops meanwhile, then it never leaves, and the contact is as it was", async (t) => {
    const { stopped, world } = await play(
      ({ world }) => {
        world.marking = Effect.sleep("8 seconds")
      },
      () => Effect.void
    )
    t.strictSame(stopped, ["void", "line free, 0 slots"])
    t.strictSame(world.dials, [])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
})

t.test("given a provider that never replies, then the call is doubtful in the end", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.originate = Effect.never
    },
    () => wait("2 minutes")
  )
  t.strictSame(
    log.filter((entry) => entry !== "look"),
    [...accepted, "line free, 0 slots", "ended unknown"]
  )
})

const talk = ({ says, world }: Scene) =>
  steps(
    says(answered),
    Effect.sync(() => world.log.splice(0))
  )

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
  await check("past the end of its ringing, then it goes on", () => wait("200 seconds"), [])
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
    ({ says }) => steps(says({ _tag: "MachineDetected" }), says(hungUp("normal_clearing"))),
    ["hangup machine_detected", ...ending, "ended voicemail"]
  )
  await check(
    "whose audio ends just before it, then that is no failure",
    (scene) =>
      steps(
        Effect.sync(() => scene.hears({ _tag: "MediaClosed", why: "socket" })),
        wait("1 second"),
        scene.says(hungUp("normal_clearing"))
      ),
    [...ending, "ended answered"]
  )
  await check(
    "whose audio ends, then it is ended",
    (scene) =>
      steps(
        Effect.sync(() => scene.hears({ _tag: "MediaClosed", why: "socket" })),
        wait("3 seconds"),
        scene.says(hungUp("normal_clearing"))
      ),
    ["hangup media_failure", ...ending, "ended error"]
  )
  await check("with keys, then the agent hears them", ({ says }) => says({ _tag: "Dtmf", digit: "5" }), ["key 5"])
  await check(
    "that the provider does not end when asked, then it is asked again",
    ({ says }) => steps(says({ _tag: "MachineDetected" }), wait("61 seconds"), Effect.void),
    ["hangup machine_detected", "look", ...ending, "ended voicemail"]
  )
})

t.test("given audio that cannot be opened, then the call is hung up", async (t) => {
  const check = async (name: string, media: World["media"]) => {
    const { log } = await play(
      ({ world }) => {
        world.media = media
      },
      ({ says }) => steps(says(answered), wait("10 seconds"), says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "answered", "media", "hangup media_failure", "line free, 0 slots", "ended error"], name)
  }
  await check("it fails", failing)
  await check("it hangs", Effect.never)
})

t.test("given keys that are pressed before the audio is there, then the agent hears them when it is", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.media = Effect.sleep(100)
    },
    ({ says }) => steps(says(answered), says({ _tag: "Dtmf", digit: "7" }), wait(200))
  )
  t.strictSame(log.slice(-3), ["media", "voice", "key 7"])
})

t.test("given a greeting that takes longer than the provider's reply, then it is prepared all the same", async (t) => {
  const { log } = await play(
    (scene) => {
      scene.preparing = Effect.sleep("2 seconds")
    },
    () => wait("3 seconds")
  )
  t.strictSame(log, ["sent", "originate +15551", "prepared"])
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
    t.strictSame(recorded, [{ dueAt: 60_000, look: false }])
  })
})

t.test("given an end whose record was written although the answer was lost, then the retry is still announced", async (t) => {
  const { recorded } = await play(nothing, ({ says, world }) =>
    steps(
      Effect.sync(() => world.attempts.set(callId, { contact: undefined, dialEpoch: 1, state: "ended" })),
      says(hungUp("user_busy"))
    )
  )
  t.strictSame(recorded, [{ dueAt: 60_000, look: true }])
})

t.test("given settings that changed during the call, then the retry goes by the new ones", async (t) => {
  const { recorded } = await play(nothing, ({ says, world }) =>
    steps(
      Effect.sync(() => world.change({ retry: { ...defaultRetryConfig, retryDelaySeconds: 600 }, settingsVersion: 2 })),
      says(hungUp("user_busy"))
    )
  )
  t.strictSame(recorded, [{ dueAt: 600_000, look: false }])
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

t.test("given a provider that cannot hang up just now, when it can again, then the call ends", async (t) => {
  const { log } = await play(
    ({ world }) => Object.assign(world, { hangup: failing, lookup: Effect.succeed("up") }),
    ({ says, world }) =>
      steps(
        says(answered),
        says({ _tag: "MachineDetected" }),
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
