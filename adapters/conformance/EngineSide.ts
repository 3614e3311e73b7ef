/**
 * The engine as an adapter sees it, as far as cases need it: it opens a trunk, gives a carrier addresses and serves them, keeps a reference to each
 * call, and records events. It decides nothing.
 */
import { lookup } from "node:dns"
import { Effect, Exit, Result, Schema, Scope } from "effect"
import type { Egress, Lookup } from "#core/egress/Egress.ts"
import { type CallId, TelephonyConfigId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { isAlive, type OriginateRequest, type Presence, type Trunk, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CarrierDoor } from "./CarrierDoor.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { nowMillis } from "./now.ts"
import { PlacedCall, type Tag } from "./PlacedCall.ts"
import type { Stage } from "./Stage.ts"
import type { Config } from "./World.ts"

export interface EngineOptions {
  readonly config?: Config
  readonly apiOrigin?: URL
  /** False: carriers cannot reach the engine. */
  readonly isPublic?: boolean
}

/** The longest ring timeout of the engine: a phone must not stop ringing before the case needs it. */
const RING_SECONDS = 300
const MAX_SECONDS = 600
/** Records lag behind callbacks, and requests are limited. */
const LOOK_MILLIS = 500

const openLookup: Lookup = (hostname, { all }, done) =>
  lookup(hostname, { all: true }, (error, addresses) => {
    const [first] = addresses
    if (error !== null || all === true || first === undefined) done(error, addresses)
    else done(null, first.address, first.family)
  })
/** The carrier's stand-in is on this machine. */
export const everywhere: Egress = { refuses: () => false, lookup: () => openLookup, maySendTo: () => true }

export const configurationId = Schema.decodeSync(TelephonyConfigId)(1)
/** The number of the latest engine; a restart keeps the number. */
let lastNode = 0

export class EngineSide {
  readonly statuses: Array<TrunkStatus> = []
  readonly calls = new Map<string, PlacedCall>()
  readonly door: CarrierDoor
  trunk!: Trunk // set by `open`, the only maker
  /** All events are lost; only looks report on calls. */
  isDeaf = false
  readonly #stage: Stage
  readonly #options: EngineOptions
  readonly #node = `conformance-${++lastNode}`
  #scope = Scope.makeUnsafe()

  private constructor(stage: Stage, options: EngineOptions) {
    this.#stage = stage
    this.#options = options
    const config = options.config ?? stage.world.config
    this.door = new CarrierDoor({
      adapter: stage.adapter,
      config,
      callOf: (callId) => this.calls.get(callId),
      named: (providerCallId) => [...this.calls.values()].find((call) => call.providerCallId === providerCallId),
      take: (callId, event) => this.#take(callId, event)
    })
  }

  static async open(stage: Stage, options: EngineOptions): Promise<EngineSide> {
    const engine = new EngineSide(stage, options)
    await engine.door.listen()
    await engine.#connect()
    return engine
  }

  /** Starts a new process, which has only the references to calls. */
  async restart(): Promise<void> {
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
    this.#scope = Scope.makeUnsafe()
    this.statuses.length = 0
    await this.#connect()
    await this.untilUp()
    for (const call of this.calls.values()) this.trunk.adopt(call.ref())
  }

  async untilUp(): Promise<void> {
    const why = "nothing is dialed on a trunk that is not up"
    const isUp = () => this.statuses.at(-1)?._tag === "Up" || undefined
    await this.#stage.until("the trunk is up", isUp, () => `the statuses ${inWords(this.statuses)}`, why)
  }

  /** Requests a call. The result is in the call. */
  async place(to: string, more: Partial<Pick<OriginateRequest, "detect" | "ringTimeoutSeconds" | "leave">> = {}): Promise<PlacedCall> {
    const call = new PlacedCall(to, this.#stage.world.callerId)
    this.calls.set(call.callId, call)
    const leave = (endpoint?: string): boolean => {
      call.asked += 1
      call.sentAt = nowMillis()
      call.endpoint = endpoint
      return more.leave?.() ?? true
    }
    const usual = { detect: "no", maxDurationSeconds: MAX_SECONDS, ringTimeoutSeconds: RING_SECONDS } as const
    const request = { ...usual, ...more, callId: call.callId, from: call.from, leave, to }
    const result = await Effect.runPromise(Effect.result(this.trunk.originate(request)))
    if (Result.isFailure(result)) call.failure = result.failure
    // An event may have named the call in the meantime, and the id of a request never replaces that of its call.
    else if (!call.has("Named")) call.providerCallId = result.success.providerCallId
    return call
  }

  /** Requests a call that the carrier must accept. */
  async accepted(to: string, more: Parameters<EngineSide["place"]>[1] = {}): Promise<PlacedCall> {
    const call = await this.place(to, more)
    demand(call.failure === undefined, "the carrier to accept the call", () => inWords(call.failure), "this is an ordinary call")
    return call
  }

  /** Requests a call and waits until it is answered. */
  async answered(to: string, more: Parameters<EngineSide["place"]>[1] = {}): Promise<PlacedCall> {
    const call = await this.accepted(to, more)
    await this.told(call, "Answered", "without a report of the answer, nobody talks to the callee")
    return call
  }

  /** Waits until this event of the call has been reported. */
  async told(call: PlacedCall, tag: Tag, why: string): Promise<void> {
    await this.#stage.until(
      `${tag} is reported`,
      () => call.has(tag) || undefined,
      () => call.story(),
      why
    )
  }

  /** Waits for the end of a call. A claim that it has ended is not proof, so the call is looked up until its record says so, as in the engine. */
  async ended(call: PlacedCall): Promise<HangupCause> {
    let lookedAt = Number.NEGATIVE_INFINITY
    const cause = async () => {
      if (call.has("EndClaimed") && !call.has("HungUp") && performance.now() - lookedAt > LOOK_MILLIS) {
        lookedAt = performance.now()
        await this.look(call)
      }
      return call.cause()
    }
    return await this.#stage.until(
      "the end of the call is reported",
      cause,
      () => call.story(),
      "a call without an end occupies its slot for hours"
    )
  }

  /** Looks the call up, and takes the events in its record. Undefined: the carrier did not say. */
  async look(call: PlacedCall): Promise<Presence | undefined> {
    const result = await Effect.runPromise(Effect.result(this.trunk.lookup(call.ref())))
    if (Result.isFailure(result)) return undefined
    for (const event of result.success.told) call.take(event)
    return result.success.presence
  }

  /** Hangs up, which must succeed, and must end the call at the phone. */
  async hangUp(call: PlacedCall, cause: HangupCause = "agent_hangup"): Promise<void> {
    call.isWanted = false
    const result = await Effect.runPromise(Effect.result(this.trunk.hangup(call.ref(), cause)))
    demand(Result.isSuccess(result), "the hang-up to succeed", () => inWords(result), "a call that cannot be ended continues to cost money")
  }

  /** Demands that the carrier no longer has the call. */
  async isGone(call: PlacedCall): Promise<void> {
    let presence: Presence | undefined
    const isGone = async () => {
      presence = await this.look(call)
      return (presence !== undefined && !isAlive(presence)) || undefined
    }
    await this.#stage.until("a look finds the call ended", isGone, () => inWords(presence), "the engine waits for calls that are live")
  }

  /** The audio of an answered call, whichever side connects. It ends with the engine. */
  async audio(call: PlacedCall): Promise<MediaStream> {
    if (this.#stage.adapter.media !== undefined) {
      const why = "without audio the callee hears nothing and hangs up"
      const streamed = () => this.door.media.streamOf(call.callId)
      return await this.#stage.until("the carrier opens the call's audio", streamed, () => this.door.media.story(call.callId), why)
    }
    const { openMedia } = this.trunk
    if (openMedia === undefined) throw new NotAsked("its calls have no audio")
    return await Effect.runPromise(openMedia(call.ref()).pipe(Effect.provideService(Scope.Scope, this.#scope)))
  }

  async close(): Promise<void> {
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
    await this.door.close()
  }

  async #connect(): Promise<void> {
    const { adapter, world } = this.#stage
    const { apiOrigin = world.apiOrigin, config = world.config, isPublic = true } = this.#options
    const isHosted = adapter.read !== undefined || adapter.media !== undefined
    this.trunk = await Effect.runPromise(
      adapter
        .connect(config, {
          apiOrigin,
          callbackUrl: isHosted && isPublic ? (kind: string, callId?: CallId) => this.door.address(kind, callId) : undefined,
          configurationId,
          egress: everywhere,
          isOthers: (call, found) => Effect.sync(() => this.#isOthers(call.callId, found)),
          mediaUrl: isHosted && isPublic ? (callId: CallId) => this.door.media.address(callId) : undefined,
          node: this.#node,
          onEvent: (callId, event) => this.#take(callId, event),
          onStatus: (status) => void this.statuses.push(status)
        })
        .pipe(Effect.provideService(Scope.Scope, this.#scope))
    )
  }

  #isOthers(callId: CallId, found: string): boolean {
    return [...this.calls.values()].some((call) => call.callId !== callId && call.providerCallId === found)
  }

  #take(callId: string, event: TrunkEvent): void {
    if (!this.isDeaf) this.calls.get(callId)?.take(event)
  }
}
