/** The call's actor until the answer: what it sends, when, and never twice. */
import { Effect } from "effect"
import t from "tap"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { noReply, organizationId, type World } from "#test/support/fakes.ts"
import { accepted, answered, callId, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { check, given, notes, overAfterTalk, rang, sets, withheld } from "#test/support/callTable.ts"

const talked = ["answered", "media", "voice", ...overAfterTalk]
const busy = ["line free, 0 slots", "ended busy"]
const isBusy = ({ says }: Scene) => says(hungUp("user_busy"))
const untouched = [{ retriesUsed: 0, state: "pending" }]

t.test("given an answered call, then each step is recorded before the next, and the line is free before the end is recorded", async (t) => {
  const act = ({ says }: Scene) => steps(says(rang), says(answered), wait("5 seconds"), says(hungUp("normal_clearing")))
  const { recorded } = await check(t, "its log", {}, act, [...accepted, "prepared", ...talked])
  t.strictSame(recorded, [{ dueAt: undefined, isEntry: false, look: true }])
})

t.test("given a database that is away, then the call does not wait for it, and its record is caught up with, once", async (t) => {
  const away = (scene: Scene, act: Effect.Effect<unknown>) =>
    steps(sets(scene, { isDown: true }), act, sets(scene, { isDown: false }), wait("1 minute"))
  const audio = ["prepared", "media", "voice"]
  await check(t, "at the answer", {}, (scene) => steps(scene.says(rang), away(scene, steps(scene.says(answered), wait("2 minutes")))), [
    ...accepted,
    ...audio,
    "answered"
  ])
  await check(
    t,
    "from the answer until after the end",
    {},
    (scene) =>
      steps(scene.says(rang), away(scene, steps(scene.says(answered), notes(scene, "they talk"), scene.says(hungUp("normal_clearing"))))),
    [...accepted, ...audio, "they talk", "line free, 0 slots", "finish", "answered", "ended answered"]
  )
  const conversation = (scene: Scene) =>
    steps(scene.says(rang), scene.says(answered), away(scene, steps(scene.says(hungUp("normal_clearing")), wait("30 minutes"))))
  const { recorded, world } = await check(t, "half an hour, in which a conversation ends", {}, conversation, [
    ...accepted,
    "prepared",
    ...talked
  ])
  t.equal(world.ends.at(-1)?.cause, "normal_clearing")
  t.equal(recorded.length, 1)
  const unanswered = await check(t, "at the end", {}, (scene) => away(scene, steps(isBusy(scene), wait("3 minutes"))), [
    ...accepted,
    ...busy
  ])
  t.strictSame(unanswered.recorded, [{ dueAt: 60_000, isEntry: false, look: false }])
})

t.test("given a phone that is not answered", async (t) => {
  const { recorded, world } = await check(t, "busy, then the contact waits for its retry", {}, isBusy, [...accepted, ...busy])
  t.strictSame(recorded, [{ dueAt: 60_000, isEntry: false, look: false }])
  t.match(world.contacts, [{ dueAt: 60_000, retriesUsed: 1, state: "retry_wait" }])
  await check(
    t,
    "while its greeting is being prepared, then the preparation is interrupted",
    (scene) => {
      scene.preparing = Effect.onInterrupt(Effect.never, () => Effect.sync(() => scene.world.log.push("not prepared")))
    },
    (scene) => steps(scene.says(rang), wait("20 seconds"), isBusy(scene), wait("10 seconds")),
    [...accepted, "line free, 0 slots", "not prepared", "ended busy"]
  )
  await check(
    t,
    "although the provider should have ended the call, then it is hung up",
    { world: { lookup: Effect.succeed("ringing") } },
    ({ says }) => steps(says(rang), wait("91 seconds"), says(hungUp("no_answer"))),
    [...accepted, "prepared", "look", "hangup ring_timeout", "line free, 0 slots", "ended no_answer"]
  )
})

t.test(
  "given a recognizer that is opened while the phone rings, then it is closed once nobody will answer, or with the call",
  async (t) => {
    const arrange = (scene: Scene) => {
      const noted = (entry: string) => Effect.sync(() => void scene.world.log.push(entry))
      scene.listening = Effect.andThen(
        noted("listens"),
        Effect.onInterrupt(Effect.never, () => noted("closed"))
      )
    }
    const rings = [...accepted, "listens", "prepared"]
    const refused = (scene: Scene) => steps(scene.says(rang), wait("20 seconds"), isBusy(scene))
    await check(t, "refused", arrange, refused, [...rings, "line free, 0 slots", "closed", "ended busy"])
    const tooLong = (scene: Scene) =>
      steps(scene.says(rang), wait("91 seconds"), notes(scene, "still no end"), scene.says(hungUp("no_answer")))
    await check(
      t,
      "rings for too long, and its provider does not report its end yet",
      (scene) => {
        arrange(scene)
        scene.world.lookup = Effect.succeed("ringing")
      },
      tooLong,
      [...rings, "look", "closed", "hangup ring_timeout", "still no end", "line free, 0 slots", "ended no_answer"]
    )
    const talks = (scene: Scene) => steps(scene.says(rang), scene.says(answered), wait("5 seconds"), scene.says(hungUp("normal_clearing")))
    const talk = ["answered", "media", "voice", "line free, 0 slots", "finish", "closed", "ended answered"]
    await check(t, "answered", arrange, talks, [...rings, ...talk])
    const { stopped } = await play(arrange, ({ says }) => says(rang))
    t.ok(stopped.includes("closed"), "the engine stops")
    const unreported = (scene: Scene) => steps(scene.says(answered), scene.says(hungUp("normal_clearing")))
    await check(t, "answered without a report of ringing", arrange, unreported, [...accepted, ...talked])
  }
)

t.test("given events that come before the reply to the request, then the call takes its normal course", (t) =>
  check(
    t,
    "its log",
    { world: { originate: Effect.sleep("3 seconds") } },
    ({ says }) => steps(says(answered), wait("5 seconds"), says(hungUp("normal_clearing"))),
    [...accepted, ...talked]
  )
)

t.test("given a request without a reply, then looks decide", async (t) => {
  const found = async (name: string, world: Partial<World>, act: (scene: Scene) => Effect.Effect<unknown>, rest: ReadonlyArray<string>) => {
    const { log } = await play(given({ world: { originate: noReply, ...world } }), act)
    const entries = log.filter((entry) => entry !== "look")
    t.strictSame(entries, [...accepted, ...rest], name)
    return log.filter((entry) => entry === "look").length
  }
  const is = (presence: Effect.Success<World["lookup"]>) => ({ lookup: Effect.succeed(presence) })
  const silent = () => wait("3 minutes")
  const end = ({ says }: Scene) => says(hungUp("normal_clearing"))
  const ringsAndIsAnswered = (scene: Scene) => steps(wait("1 second"), scene.says(answered), end(scene))
  await found("rings and is answered", is("ringing"), ringsAndIsAnswered, ["prepared", ...talked])
  // It could still appear.
  await found("is never found", is("gone"), silent, ["line free, 1 slots", "ended unknown"])
  await found("was never placed", is("never_placed"), silent, withheld)
  const ended = (...told: World["told"]) => ({ ...is("ended"), told })
  t.equal(await found("has ended busy, as its record says", ended(hungUp("user_busy")), () => wait("1 minute"), busy), 1, "in one look")
  const spoken = ended(answered, hungUp("normal_clearing"))
  t.equal(await found("was answered, as its record says", spoken, () => wait("1 minute"), talked), 1, "in one look, too")
})

t.test("given a process that is frozen right before the first byte, then the request leaves at its next moment", async (t) => {
  const { world } = await play(given({ world: { freezes: 2 } }), () => wait("3 seconds"))
  const dialed = world.dials.map(({ to }) => to)
  t.strictSame(dialed, ["+15551"])
})

t.test("given an attempt that was claimed as sent, then it is not marked again", async (t) => {
  const { world } = await check(t, "its log", { marked: true }, () => Effect.void, ["originate +15551"])
  t.notOk(world.statements.includes("sent"))
})

t.test("given a request that may no longer leave, then nothing leaves, and the contact is as it was", async (t) => {
  const stays = async (name: string, arrange: Parameters<typeof check>[2], act: Parameters<typeof play>[1], log = withheld) => {
    const { world } = await check(t, name, arrange, act, log)
    t.strictSame(world.dials, [], name)
    t.match(world.contacts, untouched, name)
  }
  const marked = ["sent", ...withheld]
  const idle = () => Effect.void
  const permitted = () => false
  const forbids = (scene: Scene) => Effect.sync(() => void (scene.permitted = permitted))
  await stays("its permit ends before the attempt is marked", { permitted }, idle)
  await stays("its permit ends in the row", ({ world }) => world.pauseRow(), idle)
  await stays("its permit ends, and its attempt was claimed as sent", { permitted, marked: true }, idle)
  const whileMarked = (scene: Scene) => void (scene.world.marking = steps(Effect.sleep(10), forbids(scene)))
  await stays("its permit ends while the attempt is marked", whileMarked, () => wait(100), marked)
  await stays("the disk is full", { world: { isDiskFull: true } }, idle, marked)
  await stays("the process is frozen right before each first byte", { world: { freezes: Infinity } }, () => wait("3 minutes"), marked)

  const slow =
    (seconds: number, meanwhile: (scene: Scene) => Effect.Effect<unknown> = idle) =>
    (scene: Scene) =>
      void (scene.world.connecting = Effect.andThen(meanwhile(scene), Effect.sleep(`${seconds} seconds`)))
  const aMoment = () => wait("4 seconds")
  await stays("its permit ends while it connects", slow(3.5, forbids), aMoment, marked)
  const optsOut = steps(
    Effect.map(RecentOptOuts, (optOuts) => optOuts.add(organizationId, ["+15551"])),
    wait("4 seconds")
  )
  await stays("its callee opts out while it connects", slow(3.5), () => optsOut, marked)
  const losesLock = (scene: Scene) => sets(scene, { isLockHeld: false })
  await stays("the engine loses its lock while it connects", slow(3.5, losesLock), aMoment, marked)
  await stays("it never connects", slow(60), () => wait("3 minutes"), marked)

  await stays("the database holds it up forever", { world: { marking: Effect.never } }, () => wait("3 minutes"))
  await stays("others' requests hold it up for long", { crowded: Effect.sleep("12 seconds") }, () => wait("3 minutes"))
  // It is too late to leave half a spacing before the call behind it, and the next departure time is half a spacing after that call.
  const behindOther = { behind: 1, crowded: Effect.sleep("7 seconds"), rate: 1 / 12 }
  await stays("the next departure time is far off", behindOther, () => wait("3 minutes"), marked)

  let asked = 0
  // Asked before the attempt is marked, after that, and on behalf of the adapter, which is not known to call `leave`.
  const forbidden = { permitted: () => ++asked <= 3, world: { isAskedFor: true } }
  await stays("its permit ends, and the engine asks for its adapter", forbidden, () => wait("1 second"), marked)

  for (const [name, arrange] of [
    ["connects", slow(8)],
    ["is marked", given({ world: { marking: Effect.sleep("8 seconds") } })]
  ] as const) {
    const { stopped, world } = await play(arrange, idle)
    t.strictSame([stopped, world.dials], [withheld, []], `the engine stops while it ${name}`)
    t.match(world.contacts, untouched, `the engine stops while it ${name}`)
  }
})

t.test("given a request that is held up for a moment, then it leaves", async (t) => {
  const leaves = async (name: string, arrange: Parameters<typeof check>[2]) => {
    const { world } = await check(t, name, arrange, (scene) => steps(wait("4 seconds"), isBusy(scene)), [...accepted, ...busy])
    const [dialed = Number.NaN, ...more] = world.dials.map(({ at }) => at)
    t.strictSame(more, [], name)
    return dialed
  }
  await leaves("a connection is established in time", { world: { connecting: Effect.sleep("3 seconds") } })
  await leaves("its adapter calls `leave` again after the engine", { world: { isAskedFor: true } })
  t.equal(await leaves("a slow statement", { world: { marking: Effect.sleep(300) } }), 300, "with a new departure time from the rate")
  const turn = await leaves("others have left meanwhile, and the rate has no room for it", (scene) => {
    Object.assign(scene, { behind: 1, rate: 1 })
    const others = Effect.andThen(
      Effect.sleep(1030),
      Effect.sync(() => scene.departures.pop()?.leave())
    )
    scene.world.connecting = Effect.suspend(() => (scene.departures.length > 0 ? others : Effect.void))
  })
  t.ok(turn >= 2030 && turn < 2100, `it waits for its turn: ${turn} ms later`)
})

t.test("given a process that is killed right after an event of a call, then its journal contains that event", async (t) => {
  const journaled = async (what: string, events: ReadonlyArray<TrunkEvent>, expected: ReadonlyArray<string>) => {
    let atOnce: ReadonlyArray<string> = []
    // The events arrive before the reply.
    const { world } = await play(given({ world: { originate: Effect.never } }), ({ world }) =>
      Effect.sync(() => {
        for (const event of events) world.provider.onEvent?.(callId, event)
        atOnce = [...world.journal]
      }).pipe(Effect.andThen(wait("1 second")))
    )
    t.strictSame(atOnce, expected, what)
    t.strictSame(world.journal, expected, `${what}, and not again later`)
  }
  await journaled("the provider has the call", [{ _tag: "Placed" }], ["placed"])
  await journaled("the phone rings", [rang], ["placed"])
  await journaled("somebody has answered", [answered], ["answered"])
  await journaled("each thing once", [{ _tag: "Placed" }, rang, answered, answered, rang], ["placed", "answered"])
})
