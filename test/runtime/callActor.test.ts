/** The call's actor until the answer: what it sends, when, and never twice. */
import { Effect } from "effect"
import t from "tap"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { noReply, organizationId, type World } from "#test/support/fakes.ts"
import { wait, type Scene, play, nothing, steps, accepted, hungUp, answered } from "#test/support/callScene.ts"

t.test(
  "given a call that is answered and hung up, then each step is recorded before the next is taken, and the line is free before the end is recorded",
  async (t) => {
    const { log, recorded } = await play(nothing, ({ says }) =>
      steps(says({ _tag: "Rang" }), says(answered), wait("5 seconds"), says(hungUp("normal_clearing")))
    )
    t.strictSame(log, [...accepted, "prepared", "answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"])
    t.strictSame(recorded, [{ dueAt: undefined, isEntry: false, look: true }])
  }
)

t.test(
  "given a database that is away at the answer, then the conversation does not wait for it, and its end is recorded after the answer",
  async (t) => {
    const { log } = await play(nothing, (scene) =>
      steps(
        scene.says({ _tag: "Rang" }),
        Effect.sync(() => void (scene.world.isDown = true)),
        scene.says(answered),
        Effect.sync(() => void scene.world.log.push("they talk")),
        scene.says(hungUp("normal_clearing")),
        Effect.sync(() => void (scene.world.isDown = false)),
        wait("1 minute")
      )
    )
    t.strictSame(log, [
      ...accepted,
      "prepared",
      "media",
      "voice",
      "they talk",
      "line free, 0 slots",
      "finish",
      "answered",
      "ended answered"
    ])
  }
)

t.test("given a busy callee, then the contact waits for its retry", async (t) => {
  const { log, recorded, world } = await play(nothing, ({ says }) => says(hungUp("user_busy")))
  t.strictSame(log, [...accepted, "line free, 0 slots", "ended busy"])
  t.strictSame(recorded, [{ dueAt: 60_000, isEntry: false, look: false }])
  t.match(world.contacts, [{ dueAt: 60_000, retriesUsed: 1, state: "retry_wait" }])
})

t.test("given a greeting that is still being prepared, when the phone is not answered, then the preparation is interrupted", async (t) => {
  const { log } = await play(
    (scene) => {
      scene.preparing = Effect.onInterrupt(Effect.never, () => Effect.sync(() => scene.world.log.push("not prepared")))
    },
    ({ says }) => steps(says({ _tag: "Rang" }), wait("20 seconds"), says(hungUp("user_busy")), wait("10 seconds"))
  )
  t.strictSame(log, [...accepted, "line free, 0 slots", "not prepared", "ended busy"])
})

t.test("given a phone that keeps ringing although the provider should have ended the call, then it is hung up", async (t) => {
  const { log } = await play(
    ({ world }) => {
      world.lookup = Effect.succeed("ringing")
    },
    ({ says }) => steps(says({ _tag: "Rang" }), wait("91 seconds"), says(hungUp("no_answer")))
  )
  t.strictSame(log, [...accepted, "prepared", "look", "hangup ring_timeout", "line free, 0 slots", "ended no_answer"])
})

t.test("given events that come before the reply to the request, then the call takes its normal course", async (t) => {
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
    "prepared",
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
    ["prepared", "line free, 0 slots", "ended busy"]
  )
  // It could still appear.
  await check("is never found", "gone", silent, ["line free, 1 slots", "ended unknown"])
  await check(
    "waits in the provider's queue, and rings later",
    "queued",
    ({ says }) => steps(wait("40 seconds"), says({ _tag: "Rang" }), wait("1 second"), says(hungUp("user_busy"))),
    ["prepared", "line free, 0 slots", "ended busy"]
  )
  await check("was never placed", "never_placed", silent, ["void", "line free, 0 slots"])
  await check("is up already, and nothing tells so", "up", () => wait("6 seconds"), ["prepared", "hangup trunk_lost"])
  await check(
    "is up already, as is told late",
    "up",
    ({ says }) => steps(wait("3 seconds"), says(answered), says(hungUp("normal_clearing"))),
    ["prepared", "answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"]
  )
})

t.test("given a look that tells more than the call's state", async (t) => {
  const check = async (name: string, told: World["told"], rest: ReadonlyArray<string>) => {
    const { log } = await play(
      ({ world }) => Object.assign(world, { lookup: Effect.succeed("ended"), originate: noReply, told }),
      () => wait("1 minute")
    )
    t.strictSame(log, [...accepted, "look", ...rest], name)
  }
  await check("how it ended, then it needs no second look", [hungUp("user_busy")], ["line free, 0 slots", "ended busy"])
  await check(
    "that somebody talked, then it counts as answered",
    [answered, hungUp("normal_clearing")],
    ["answered", "media", "voice", "line free, 0 slots", "finish", "ended answered"]
  )
})

t.test("given an attempt that was claimed as sent, then it is not marked again", async (t) => {
  const { log, world } = await play(
    (scene) => {
      scene.marked = true
    },
    () => Effect.void
  )
  t.strictSame(log, ["originate +15551"])
  t.notOk(world.statements.includes("sent"))
})

t.test("given a permit that ends", async (t) => {
  t.test("before the attempt is marked, then nothing is marked and nothing is sent", async (t) => {
    const { log } = await play(
      (scene) => {
        scene.permitted = () => false
      },
      () => Effect.void
    )
    t.strictSame(log, ["void", "line free, 0 slots"])
  })
  t.test("in the row, then nothing is sent", async (t) => {
    const { log } = await play(
      ({ world }) => world.pauseRow(),
      () => Effect.void
    )
    t.strictSame(log, ["void", "line free, 0 slots"])
  })
  t.test("of an attempt that was claimed as sent, then nothing is sent, and the contact is as it was", async (t) => {
    const { log, world } = await play(
      (scene) => {
        scene.marked = true
        scene.permitted = () => false
      },
      () => Effect.void
    )
    t.strictSame(log, ["void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
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
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
  })
})

t.test("given a connection that is slow to be established", async (t) => {
  const slow =
    (seconds: number, arrange: (scene: Scene) => void = () => {}) =>
    (scene: Scene) => {
      scene.world.connecting = Effect.andThen(
        Effect.sync(() => arrange(scene)),
        Effect.sleep(`${seconds} seconds`)
      )
    }
  t.test("when the permit ends meanwhile, then nothing leaves, and the contact is as it was", async (t) => {
    const { log, world } = await play(
      slow(3.5, (scene) => {
        scene.permitted = () => false
      }),
      () => wait("4 seconds")
    )
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("when its callee opts out meanwhile, then nothing leaves, and the contact is as it was", async (t) => {
    const { log, world } = await play(slow(3.5), () =>
      steps(
        Effect.map(RecentOptOuts, (optOuts) => optOuts.add(organizationId, ["+15551"])),
        wait("4 seconds")
      )
    )
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("when the engine loses its lock meanwhile, then nothing leaves, and the contact is as it was", async (t) => {
    const { log, world } = await play(
      slow(3.5, (scene) => {
        scene.world.isLockHeld = false
      }),
      () => wait("4 seconds")
    )
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("when it is asked to end meanwhile, then nothing leaves", async (t) => {
    const { stopped, world } = await play(slow(8), () => Effect.void)
    t.strictSame(stopped, ["void", "line free, 0 slots"])
    t.strictSame(world.dials, [])
  })
  t.test("when it is established in time, then the request leaves", async (t) => {
    const { log } = await play(slow(3), ({ says }) => steps(wait("4 seconds"), says(hungUp("user_busy"))))
    t.strictSame(log, [...accepted, "line free, 0 slots", "ended busy"])
  })
  t.test("when others have left meanwhile, and the rate has no room for it, then it waits for its turn, and leaves", async (t) => {
    const { world } = await play(
      (scene) => {
        Object.assign(scene, { behind: 1, rate: 1 })
        const others = Effect.andThen(
          Effect.sleep(1030),
          Effect.sync(() => scene.departures.pop()?.leave())
        )
        scene.world.connecting = Effect.suspend(() => (scene.departures.length > 0 ? others : Effect.void))
      },
      ({ says }) => steps(wait("4 seconds"), says(hungUp("user_busy")))
    )
    const [dialed, ...more] = world.dials.map(({ at }) => at)
    t.ok(dialed !== undefined && dialed >= 2030 && dialed < 2100, `${dialed} ms later`)
    t.strictSame(more, [])
    t.strictSame(world.log, [...accepted, "line free, 0 slots", "ended busy"])
  })
  t.test("when it is never established, then the request never left, and the contact is as it was", async (t) => {
    const { log, world } = await play(slow(60), () => wait("3 minutes"))
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
})

t.test("given an adapter that is not known to call `leave`, so that the engine calls it before handing over the request", async (t) => {
  const askedFor = (arrange: (scene: Scene) => void) => (scene: Scene) => {
    scene.world.isAskedFor = true
    arrange(scene)
  }
  t.test("when the adapter calls it then, then the request leaves", async (t) => {
    const { log } = await play(askedFor(nothing), ({ says }) => says(hungUp("user_busy")))
    t.strictSame(log, [...accepted, "line free, 0 slots", "ended busy"])
  })
  t.test("when the permit has ended by then, then the request does not leave, and the contact is unchanged", async (t) => {
    let asked = 0
    const { log, world } = await play(
      askedFor((scene) => {
        // Asked before the attempt is marked, after that, and on behalf of the adapter.
        scene.permitted = () => ++asked <= 3
      }),
      () => wait("1 second")
    )
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
})

t.test("given a request that is held up", async (t) => {
  t.test("for a moment, then it gets a new departure time from the rate", async (t) => {
    const { world } = await play(
      ({ world }) => {
        world.marking = Effect.sleep(300)
      },
      ({ says }) => steps(wait("2 seconds"), says(hungUp("user_busy")))
    )
    t.strictSame(
      world.dials.map(({ at }) => at),
      [300]
    )
  })
  t.test("forever by the database, then it never leaves, and the contact is as it was", async (t) => {
    const { log, world } = await play(
      ({ world }) => {
        world.marking = Effect.never
      },
      () => wait("3 minutes")
    )
    t.strictSame(log, ["void", "line free, 0 slots"])
    t.match(world.contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("for long by others' requests, then it never leaves, and the contact is as it was", async (t) => {
    const { log } = await play(
      (scene) => {
        scene.crowded = Effect.sleep("12 seconds")
      },
      () => wait("3 minutes")
    )
    t.strictSame(log, ["void", "line free, 0 slots"])
  })
  t.test("when the next departure time is far off, then it never leaves, and the contact is as it was", async (t) => {
    const { log } = await play(
      // It is too late to leave half a spacing before the call behind it, and the next departure time is half a spacing after that call.
      (scene) => Object.assign(scene, { behind: 1, crowded: Effect.sleep("7 seconds"), rate: 1 / 12 }),
      () => wait("3 minutes")
    )
    t.strictSame(log, ["sent", "void", "line free, 0 slots"])
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
    [...accepted, "line free, 1 slots", "ended unknown"]
  )
})
