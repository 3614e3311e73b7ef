/** One trunk per configuration: what happens to it and to its calls when the configuration changes. */
import { Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import "ws"
import ari from "#adapters/ari/ari.ts"
import { CallId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { type Adapter, OriginateRefused, type Presence, ProviderError, type TrunkContext } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { Registry } from "#core/provider/Registry.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { Config } from "#runtime/config/config.ts"
import type { CallOfNode } from "#runtime/trunk/CallsOfNode.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import { awaitUp, type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { egress } from "#test/support/egress.ts"
import { noOutages } from "#test/support/fakePorts.ts"
import { run, runLive } from "#test/support/run.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { refTo } from "#test/support/refTo.ts"
import { usual } from "#test/support/usual.ts"

const id = TelephonyConfigId.make(3)
const callId = CallId.make("01890000-0000-7000-8000-000000000001")
const dialed = { callId, leave: () => true, ...usual, to: "+15550100011", from: undefined }

/** A session that an adapter has opened. */
interface Session {
  readonly credentials: Readonly<Record<string, unknown>>
  readonly context: TrunkContext
  readonly log: Array<string>
  presence: Presence
  isOpen: boolean
}

class World {
  readonly sessions: Array<Session> = []
  /** The calls of the node. */
  readonly live: Array<CallOfNode> = []
  /** Runs before a request can leave, while a real adapter would connect. */
  connecting: Effect.Effect<void> = Effect.void
  readonly heard: Array<TrunkEvent> = []
  finds = 0
  needsCallerId = false
  isDatabaseDown = false
  setting: TrunkSetting | undefined = {
    callerIds: { all: [], preferred: undefined },
    credentials: { account: "a" },
    id,
    isProven: false,
    maxConcurrentCalls: undefined,
    organizationId: OrganizationId.make(1),
    provider: "fake",
    version: "1"
  }
  change(setting: Partial<TrunkSetting>): void {
    if (this.setting !== undefined) this.setting = { ...this.setting, ...setting }
  }
  readonly logs = () => this.sessions.map(({ log }) => log.join(", "))
  readonly open = () => this.sessions.map(({ isOpen }) => isOpen)
}

const fake = (world: World): Adapter => ({
  fields: {},
  manifest: {
    callsPerSecond: 1,
    contract: 2,
    displayName: "Fake",
    docsUrl: "",
    needsCallerId: world.needsCallerId,
    originatesInFlight: 1,
    provider: "fake"
  },
  connect: Effect.fnUntraced(function* (credentials, context) {
    const session: Session = { context, credentials, isOpen: true, log: [], presence: "gone" }
    world.sessions.push(session)
    yield* Effect.addFinalizer(() => Effect.sync(() => void (session.isOpen = false)))
    context.onStatus({ _tag: "Up" })
    const note = (line: string) => Effect.sync(() => void session.log.push(line))
    return {
      adopt: () => void session.log.push("adopt"),
      hangup: () => note("hangup"),
      lookup: () => Effect.sync(() => ({ presence: session.presence, told: [] })),
      openMedia: () => Effect.fail(new ProviderError({ detail: "", operation: "openMedia", provider: "fake" })),
      originate: ({ from, leave }) =>
        Effect.flatMap(world.connecting, () =>
          leave()
            ? Effect.as(note(`originate from ${from}`), { providerCallId: "" })
            : Effect.fail(new OriginateRefused({ detail: "", reason: "permit_lapsed" }))
        ),
      reconnect: () => void session.log.push("reconnect"),
      sendDtmf: () => note("dtmf"),
      transfer: (_, { to }) => note(`transfer to ${to}`)
    }
  })
})

const layerOf = (world: World, adapter: Adapter) =>
  CallNodes.layerSignals.pipe(
    Layer.provide(CallNodes.layerNone),
    Layer.provideMerge(TrunkPool.layer),
    Layer.provide(Registry.layerOf([adapter])),
    Layer.provide(egress({ first: OrganizationId.make(1) })),
    Layer.provide([noOutages, Charge.layer]),
    Layer.provide(
      Layer.succeed(TrunkSettings, {
        find: () =>
          Effect.suspend(() => {
            world.finds++
            return world.isDatabaseDown ? Effect.die(new Error("the database is down")) : Effect.succeed(world.setting)
          }),
        prove: () => Effect.void,
        refuseCaller: () => Effect.void
      })
    ),
    // An invalid value is a mistake in the test.
    Layer.provide(Layer.orDie(Config.layerOf({ NODE_NAME: "here" })))
  )

interface Scene {
  readonly pool: TrunkPool["Service"]
  readonly signals: TrunkSignals["Service"]
  readonly trunk: LiveTrunk
}
const scene = Effect.fnUntraced(function* (world: World) {
  const pool = yield* TrunkPool
  pool.deliverTo({ isOthers: () => Effect.succeed(false), live: () => world.live, onEvent: (_, event) => void world.heard.push(event) })
  const signals = yield* TrunkSignals
  const trunk = (yield* pool.get(id)) ?? (yield* Effect.die("no trunk"))
  return { pool, signals, trunk } satisfies Scene
})

type Act = (scene: Scene, world: World) => Effect.gen.Return<unknown, unknown, Scope.Scope>
const playOn = async (world: World, adapter: Adapter, act: Act, runs: typeof run) => {
  const acting = Effect.flatMap(scene(world), (it) => Effect.gen(() => act(it, world)))
  await runs(Effect.provide(acting, layerOf(world, adapter)))
  return world
}
/** Runs on a manual clock, with one open trunk. */
const play = (act: Act, world = new World()) => playOn(world, fake(world), act, run)
/** Saves other credentials. */
const renewed = ({ signals }: Scene, world: World) => {
  world.change({ credentials: { account: "b" } })
  return signals.configurationChanged(id)
}

t.test("given other credentials", async (t) => {
  t.test("when a request waits for its connection, then it does not leave through the old trunk", async (t) => {
    const world = await play(function* (scene, world) {
      const { pool, trunk } = scene
      const connected = yield* Deferred.make<void>()
      world.connecting = Deferred.await(connected)
      const placing = yield* Effect.forkChild(Effect.flip(trunk.originate(dialed)), { startImmediately: true })
      world.live.push({ ref: refTo(callId), dialing: {}, trunk })
      yield* renewed(scene, world)
      yield* Deferred.succeed(connected, undefined)
      t.match(yield* Fiber.join(placing), { reason: "permit_lapsed" })
      // Claimed before the change, and sent after it.
      yield* trunk.originate(dialed)
      t.equal((yield* pool.get(id))?.isCurrent(), true)
    })
    t.strictSame(world.logs(), ["", "originate from undefined"], "and the new one does not take it for a call that has been placed")
  })

  t.test("when a call is up, then it keeps its trunk until it ends, and new calls go through the new one", async (t) => {
    const world = await play(function* (scene, world) {
      const { pool, trunk } = scene
      const woken: Array<string> = []
      trunk.watch(() => woken.push("woken"))
      world.live.push({ ref: refTo(callId), trunk })
      yield* renewed(scene, world)
      const next = yield* pool.get(id)
      t.strictSame([trunk.isCurrent(), next?.isCurrent(), pool.all().length], [false, true, 1])
      t.strictSame(woken, ["woken"], "whoever waits for the old one hears of it")
      yield* trunk.trunk.hangup(refTo(callId), "normal_clearing")
      yield* next?.originate(dialed) ?? Effect.void
      yield* TestClock.adjust("10 minutes")
      t.strictSame(world.open(), [true, true], "the old one lives with its call")
      world.live.pop()
      yield* TestClock.adjust("1 minute")
      t.strictSame(world.open(), [false, true], "and no longer")
    })
    const credentials = world.sessions.map(({ credentials }) => credentials)
    t.strictSame(credentials, [{ account: "a" }, { account: "b" }])
    t.strictSame(world.logs(), ["hangup", "adopt, originate from undefined"])
  })
  t.test("when the new trunk sees the call, then it is the new one's", async (t) => {
    const world = await play(function* (scene, world) {
      const { trunk } = scene
      world.live.push({ ref: refTo(callId), trunk })
      yield* renewed(scene, world)
      const [, next] = world.sessions
      if (next !== undefined) next.presence = "up"
      yield* trunk.trunk.hangup(refTo(callId), "normal_clearing")
      t.match(yield* trunk.trunk.lookup(refTo(callId)), { presence: "up" })
      const request = { kind: "blind", leave: () => true, timeoutSeconds: 20, to: "1000", transfer: 1 } as const
      yield* trunk.trunk.transfer?.(refTo(callId), request) ?? Effect.void
    })
    t.strictSame(world.logs(), ["", "adopt, hangup, transfer to 1000"])
  })
  t.test("when the old trunk is down, then it is closed first, so that it never comes back", async (t) => {
    await play(function* (scene, world) {
      world.sessions[0]?.context.onStatus({ _tag: "Down", detail: "gone", reason: "unreachable" })
      yield* renewed(scene, world)
      t.strictSame(world.open(), [false, true])
    })
  })
  t.test("when the database is away, then they are used as soon as it is back", async (t) => {
    const world = await play(function* (scene, world) {
      const { trunk } = scene
      world.isDatabaseDown = true
      yield* renewed(scene, world)
      t.ok(trunk.isCurrent())
      world.isDatabaseDown = false
      yield* TestClock.adjust("6 seconds")
      t.notOk(trunk.isCurrent())
    })
    t.equal(world.sessions.length, 2)
  })
})

t.test("given a configuration that is deleted, then its trunk is closed, and a late call is refused", async (t) => {
  const world = await play(function* ({ pool, signals, trunk }, world) {
    world.setting = undefined
    yield* signals.configurationChanged(id)
    t.equal(yield* pool.get(id), undefined)
    t.match(yield* Effect.flip(trunk.originate(dialed)), { _tag: "OriginateRefused", reason: "misconfigured" })
    yield* TestClock.adjust("1 minute")
    t.strictSame(world.open(), [false])
  })
  t.strictSame(world.logs(), [""])
})

t.test("given other numbers or limits, then the same trunk follows them", async (t) => {
  const world = await play(function* ({ signals, trunk }, world) {
    const woken: Array<string> = []
    trunk.watch(() => woken.push("woken"))
    yield* trunk.originate(dialed)
    world.change({ callerIds: { all: ["+15550000001"], preferred: undefined } })
    yield* signals.numbersChanged(id)
    yield* trunk.originate(dialed)
    yield* trunk.originate({ ...dialed, from: "+15550000009" })
    world.change({ maxConcurrentCalls: 4 })
    yield* signals.configurationChanged(id)
    t.strictSame([trunk.isCurrent(), trunk.maxConcurrentCalls(), woken.length], [true, 4, 2])
  })
  t.strictSame(world.logs(), ["originate from undefined, originate from +15550000001, originate from +15550000009"])
})

t.test("given a provider that needs a number, when there is none, then no call is placed", async (t) => {
  const world = Object.assign(new World(), { needsCallerId: true })
  await play(function* ({ trunk }) {
    t.match(yield* Effect.flip(trunk.originate(dialed)), { reason: "misconfigured" })
  }, world)
  t.strictSame(world.logs(), [""])
})

t.test("given a trunk that is not open, when its configuration changes, then nothing is done", async (t) => {
  const world = new World()
  const asked = Effect.flatMap(TrunkSignals, (signals) => signals.configurationChanged(id))
  await run(asked.pipe(Effect.provide(layerOf(world, fake(world)))))
  t.strictSame([world.finds, world.sessions.length], [0, 0])
})

t.test("given a trunk that is down", async (t) => {
  const down = (reason: "auth" | "replaced", world: World) =>
    world.sessions.at(-1)?.context.onStatus({ _tag: "Down", detail: "gone", reason })
  t.test("when somebody may have repaired it, then it tries again at once", async (t) => {
    const world = await play(function* ({ pool }, world) {
      down("auth", world)
      yield* pool.getRepaired(id)
    })
    t.strictSame(world.logs(), ["reconnect"])
  })
  t.test("when its configuration is saved unchanged, then it tries again at once; a change of numbers does not do that", async (t) => {
    const world = await play(function* ({ signals }, world) {
      down("auth", world)
      yield* signals.numbersChanged(id)
      yield* signals.configurationChanged(id)
    })
    t.strictSame(world.logs(), ["reconnect"])
  })
  t.test("when another client took its place, then it is reopened, together with its calls", async (t) => {
    const world = await play(function* ({ pool, trunk }, world) {
      world.live.push({ ref: refTo(callId), trunk })
      down("replaced", world)
      const next = yield* pool.getRepaired(id)
      t.strictSame([trunk.isCurrent(), next?.isCurrent(), next?.status()._tag], [false, true, "Up"])
      t.equal(yield* pool.getRepaired(id), next, "once")
    })
    t.strictSame(world.logs(), ["", "adopt"])
  })
})

t.test("given an emulated Asterisk", async (t) => {
  const emulator = await startAriEmulator({ ringMillis: 20, media: false })
  t.teardown(() => emulator.stop())
  const credentials = ariConfig(emulator)
  const onAsterisk = (act: Act) => {
    const world = new World()
    world.change({ credentials, provider: "ari" })
    return playOn(world, ari, act, runLive)
  }
  const heard = (world: World, tag: TrunkEvent["_tag"]) =>
    Effect.repeat(Effect.sleep(10), { until: () => world.heard.some(({ _tag }) => _tag === tag) }).pipe(Effect.timeout("60 seconds"))
  const up = (trunk: LiveTrunk | undefined) => (trunk === undefined ? Effect.succeed(false) : awaitUp(trunk, 5000))

  t.test("when the dial string changes during a call, then the call is followed to its end", async (t) => {
    const world = await onAsterisk(function* ({ pool, signals, trunk }, world) {
      yield* up(trunk)
      world.live.push({ ref: refTo(callId), trunk })
      yield* trunk.originate(dialed)
      yield* heard(world, "Answered")
      world.change({ credentials: { ...credentials, dial_string: "PJSIP/{digits}@trunk" } })
      yield* signals.configurationChanged(id)
      const next = yield* pool.get(id)
      t.ok(yield* up(next))
      yield* trunk.trunk.hangup(refTo(callId), "normal_clearing")
      yield* heard(world, "HungUp")
      yield* next?.originate({ ...dialed, callId: CallId.make(callId.replace(/1$/, "2")) }) ?? Effect.void
    })
    t.match(world.heard.at(-1), { _tag: "HungUp" })
    const numbers = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
    t.strictSame(numbers, ["+15550100011", "15550100011"])
  })
})
