/** A call on a test clock: its actor, surrounded by fakes of our own ports, and a record of what its trunk was asked to do. */
import { Deferred, type Duration, Effect, Fiber, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { plannedOpening } from "#core/agent/conversation/Nodes.ts"
import { CallId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AttemptStore } from "#core/call/AttemptStore.ts"
import type { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { CallWatcher } from "#runtime/call/LiveCall.ts"
import type { Recorded } from "#runtime/call/Recorded.ts"
import type { MediaSockets } from "#runtime/call/MediaSockets.ts"
import { CallRate, type Departure } from "#runtime/dispatch/CallRate.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import type { CallVerbs, VoiceEvent, VoicePlan, VoiceSession } from "#runtime/voice/VoiceSession.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { attemptIds, campaignId, configurationId, layerOf, World } from "./fakes.ts"
import { run } from "./run.ts"

/** Lets messages pass through all fibers involved. */
export const settled = Effect.repeat(TestClock.adjust(0), { times: 10 })
export const wait = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled)

export const callId = CallId.make("01890000-0000-7000-8000-000000000001")

/** A call that is about to be dialed, and whatever can happen to it. */
export class Scene {
  readonly world = new World()
  /** Whether the attempt was already marked as sent when it was claimed. */
  marked = false
  readonly recorded: Array<Recorded> = []
  /** One entry for each report that the callee heard nothing. */
  readonly missed: Array<true> = []
  /** Called with the record when it is written, as the campaign is. */
  hearsRecord: (record: Recorded) => void = (record) => void this.recorded.push(record)
  /** What the engine logs about the call: message and annotations. */
  readonly logged: Array<readonly [unknown, Readonly<Record<string, unknown>>]> = []
  readonly logger = Logger.layer([
    Logger.make(({ fiber, message }) => {
      const [said, ...fields] = [message].flat()
      this.logged.push([said, Object.assign({}, fiber.getRef(References.CurrentLogAnnotations), ...fields)])
    })
  ])
  permitted: () => boolean = () => true
  recordings: "on" | "off" = "on"
  /** The plan that the conversation was started with. */
  plan: VoicePlan | undefined
  /** The agent's, as far as it is known without the fetch. */
  greeting: string | undefined
  /** The operations that the call gave to the conversation. */
  verbs: CallVerbs | undefined
  /** Whether the conversation found that only a machine spoke. */
  isVoicemail = false
  /** The hangup causes that the conversation was given at the end of the call. */
  readonly hangups: Array<string> = []
  /** The contact's data. */
  context: Readonly<Record<string, unknown>> = {}
  hears: (event: VoiceEvent) => void = () => {}
  /** Called with each stream that the agent is given. */
  onMedia: (media: MediaStream) => void = () => {}
  /** Milliseconds from the attachment of the audio until the agent is first heard. */
  firstAudioAfter: number | undefined = 0
  preparing: Effect.Effect<void> = Effect.void
  /** While this runs, the agent's recognizer is open for the answer. */
  listening: Effect.Effect<void> = Effect.void
  /** While this runs, other requests keep the trunk busy. */
  crowded: Effect.Effect<void> = Effect.void
  /** The trunk's rate, and the number of other calls that have reserved the next departures. */
  rate = 2
  behind = 0
  /** The departures of those other calls. */
  readonly departures: Array<Departure> = []
  trunk: LiveTrunk | undefined
  readonly says = (event: TrunkEvent) =>
    Effect.andThen(
      Effect.sync(() => this.world.provider.onEvent?.(callId, event)),
      settled
    )
  readonly voice = Layer.succeed(VoiceAgent, {
    attach: (plan, media, emit, verbs) =>
      Effect.gen({ self: this }, function* () {
        const { known, later, plan: conversation } = plan.conversation
        const attachedAt = yield* SteadyTime.now
        this.plan = plan
        this.verbs = verbs
        this.world.log.push("voice")
        this.hears = emit
        this.onMedia(media)
        const greetingFor = (context: JsonObject) => plannedOpening({ plan: conversation, now: 0 }, context).greeting
        this.greeting = greetingFor(known)
        if (later !== undefined)
          yield* Effect.forkScoped(Effect.map(later, (context) => this.world.log.push(`says ${greetingFor(context)}`)))
        const session: VoiceSession = {
          dtmf: (digit) => this.world.log.push(`key ${digit}`),
          greetingEnded: () => this.world.log.push("told that the greeting is over"),
          resume: (media) => {
            this.world.log.push("resumed")
            this.onMedia(media)
          },
          machineDetected: () => this.world.log.push("told of a machine"),
          hungUp: (cause) => void this.hangups.push(cause),
          finish: Effect.sync(() => {
            this.world.log.push("finish")
            return {
              firstAudioAt: this.firstAudioAfter === undefined ? undefined : attachedAt + this.firstAudioAfter,
              wasToSpeak: true,
              gathered: {},
              isVoicemail: this.isVoicemail,
              recordingKey: undefined
            }
          })
        }
        return session
      }),
    salvage: () => Effect.undefined,
    warm: () => Effect.void,
    isCrowdedBy: () => false,
    prepare: ({ conversation: { later = Effect.void } }) =>
      Effect.andThen(
        Effect.andThen(later, () => this.preparing),
        Effect.sync(() => this.world.log.push("prepared"))
      ),
    listenEarly: () => this.listening
  })
}

const dial = Effect.fnUntraced(function* (scene: Scene) {
  const { world } = scene
  world.withContacts(1)
  const slots = yield* Slots
  const rate = yield* CallRate
  const trunk = yield* (yield* TrunkPool).get(configurationId)
  if (trunk === undefined) return yield* Effect.die("no trunk")
  scene.trunk = trunk
  yield* Effect.forkChild(trunk.originating.withPermits(trunk.adapter.manifest.originatesInFlight)(scene.crowded))
  yield* settled
  const scopes = [{ key: "trunk:3", rate: scene.rate }]
  const departure = rate.reserve(scopes)
  scene.departures.push(...Array.from({ length: scene.behind }, () => rate.reserve(scopes)))
  yield* begin(scene, callId, trunk, departure, {
    lineFree: () => void world.log.push(`line free, ${slots.used("organization:1")} slots`),
    greetingMissed: () => void scene.missed.push(true),
    recorded: (_, record) => scene.hearsRecord(record)
  })
})

const begin = Effect.fnUntraced(function* (scene: Scene, id: CallId, trunk: LiveTrunk, departure: Departure, watcher: CallWatcher) {
  const { world } = scene
  world.attempts.set(id, { contact: world.contacts[0], dialEpoch: 1, state: scene.marked ? "sent" : "intent" })
  const slots = yield* Slots
  slots.adopt(id, [{ key: "organization:1", limit: 2 }])
  const permit = { holds: () => scene.permitted() }
  const retry = { ...defaultRetryConfig, retryDelaySeconds: 60 }
  const supervisor = yield* CallSupervisor
  yield* supervisor.start(
    {
      ...attemptIds,
      callId: id,
      campaign: { breakerEnabled: false, breakerEpoch: 1, campaignId, retriesUsed: 0, retry, rowNo: 1, settingsVersion: 1 },
      initialContext: scene.context,
      phoneNumber: "+15551"
    },
    trunk,
    { departure, marked: scene.marked, permit },
    watcher
  )
  yield* settled
})

export const otherCallId = CallId.make("01890000-0000-7000-8000-000000000002")

/** Dials the same number again, as another organization might. */
export const dialOther = Effect.fnUntraced(function* (scene: Scene) {
  const rate = yield* CallRate
  if (scene.trunk === undefined) return yield* Effect.die("no trunk")
  yield* begin(scene, otherCallId, scene.trunk, rate.reserve([{ key: "trunk:3", rate: scene.rate }]), {})
})

/** `arrange` runs before the call is dialed, `act` after it. At the end, the engine is closed as if it stopped. */
export const play = (
  arrange: (scene: Scene) => void,
  act: (
    scene: Scene
  ) => Effect.Effect<unknown, never, AttemptStore | CallRate | CallSupervisor | MediaSockets | RecentOptOuts | Slots | TrunkPool>
) =>
  run(function* () {
    const scene = new Scene()
    arrange(scene)
    const played = yield* Deferred.make<ReadonlyArray<string>>()
    const engine = yield* dial(scene).pipe(
      Effect.andThen(Effect.suspend(() => act(scene))),
      Effect.andThen(Effect.suspend(() => Deferred.succeed(played, [...scene.world.log]))),
      Effect.provide(layerOf(scene.world, { DRAIN: "0", RECORDINGS: scene.recordings }, scene.voice)),
      Effect.provide(scene.logger),
      Effect.forkChild
    )
    yield* Effect.race(Deferred.await(played), Fiber.join(engine))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(engine)
    return { ...scene, log: yield* Deferred.await(played), stopped: scene.world.log.slice((yield* Deferred.await(played)).length) }
  })
export const nothing = () => {}
export const steps = <R = never>(...all: ReadonlyArray<Effect.Effect<unknown, never, R>>) => Effect.all(all, { discard: true })
export const accepted = ["sent", "originate +15551"]
export const hungUp = (cause: "normal_clearing" | "user_busy" | "no_answer"): TrunkEvent => ({ _tag: "HungUp", cause })
export const answered: TrunkEvent = { _tag: "Answered" }
