/**
 * A line to a hosted carrier: the adapter's trunk, and a server at the addresses that the carrier is given (`CarrierDoor`). A test knows about a call
 * what the engine would know: an end that is only claimed is looked up.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Result } from "effect"
import { CarrierDoor } from "#adapters/conformance/CarrierDoor.ts"
import { PlacedCall } from "#adapters/conformance/PlacedCall.ts"
import type { CallId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Adapter, OriginateRequest, Presence } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { refTo } from "#test/support/refTo.ts"
import { usual } from "#test/support/usual.ts"
import { Line } from "./Line.ts"

/** A number of the account at every emulator. */
export const OUR_NUMBER = "+15550009000"

/** How often, and after which growing pauses, a claimed end is looked up. */
const MOST_CHECKS = 5
const CHECK_MILLIS = 500

interface HostedOptions {
  /** The origin of the emulator. */
  readonly apiOrigin: string
  /** False: the engine has no public address. */
  readonly isPublic?: boolean
}

export class Hosted {
  line!: Line // set by `open`, the only maker
  readonly door: CarrierDoor
  /** The carrier's ids of calls that are known to be other ones. */
  readonly others = new Set<string>()
  readonly #calls = new Map<string, PlacedCall>()
  /** Calls whose claimed end is being looked up. */
  readonly #checked = new Set<string>()
  #isClosed = false

  private constructor(adapter: Adapter, config: Readonly<Record<string, unknown>>) {
    this.door = new CarrierDoor({
      adapter,
      config,
      callOf: (callId) => this.#calls.get(callId),
      named: (providerCallId) => [...this.#calls.values()].find((call) => call.providerCallId === providerCallId),
      take: (callId, event) => this.#take(callId, event)
    })
    // It would show answers as well, before or after what is reported about them.
    this.door.media.isDeaf = true
  }

  static async open(adapter: Adapter, config: Readonly<Record<string, unknown>>, { apiOrigin, isPublic }: HostedOptions): Promise<Hosted> {
    const hosted = new Hosted(adapter, config)
    await hosted.door.listen()
    hosted.line = await Line.open(adapter, config, undefined, {
      apiOrigin: new URL(apiOrigin),
      callbackUrl: isPublic === false ? undefined : hosted.address,
      mediaUrl: (callId) => hosted.address("media", callId),
      isOthers: (_, providerCallId) => Effect.succeed(hosted.others.has(providerCallId)),
      onEvent: (callId, event) => hosted.#take(callId, event)
    })
    return hosted
  }

  static async up(...given: Parameters<typeof Hosted.open>): Promise<Hosted> {
    const hosted = await Hosted.open(...given)
    await hosted.line.status("Up")
    return hosted
  }

  /** The address that the carrier gets. */
  readonly address = (kind: string, callId?: CallId): string =>
    kind === "media" ? this.door.media.address(callId ?? "") : this.door.address(kind, callId)

  /** What the engine knows about the call. */
  ref(callId: CallId): CallRef {
    return this.#calls.get(callId)?.ref() ?? refTo(callId)
  }

  /** Nobody wants the call any more. */
  giveUp(callId: CallId): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.isWanted = false
  }

  /** Undefined `failure`: success. */
  async originate(to: string, more: Partial<OriginateRequest> = {}) {
    const call = new PlacedCall(to, more.from ?? OUR_NUMBER)
    const { callId } = call
    const leave = () => {
      call.sentAt = Date.now()
      return more.leave?.() ?? true
    }
    this.#calls.set(callId, call)
    const request = { callId, to, from: OUR_NUMBER, ...usual, ...more, leave }
    const result = await Effect.runPromise(Effect.result(this.line.trunk.originate(request)))
    // An event may have named the call in the meantime, and the id of a request never replaces that of its call.
    if (Result.isSuccess(result) && !call.has("Named")) call.providerCallId = result.success.providerCallId
    return { callId, to, failure: Result.isFailure(result) ? result.failure : undefined }
  }

  /** Returns undefined on success. */
  async hangup(call: CallRef, cause: HangupCause = "agent_hangup") {
    const result = await Effect.runPromise(Effect.result(this.line.trunk.hangup(call, cause)))
    return Result.isFailure(result) ? result.failure : undefined
  }

  /** `timeoutSeconds`: how long the destination may ring. */
  transfer(call: CallRef, to: string, transfer: number, timeoutSeconds = 300) {
    const request = { from: OUR_NUMBER, kind: "attended", leave: () => true, timeoutSeconds, to, transfer } as const
    return Effect.runPromise(Effect.result(this.line.trunk.transfer?.(call, request) ?? Effect.die("it cannot transfer calls")))
  }

  async lookup(call: CallRef): Promise<Presence | "silent"> {
    const result = await Effect.runPromise(Effect.result(this.line.trunk.lookup(call)))
    if (Result.isFailure(result)) return "silent"
    for (const event of result.success.told) this.#take(call.callId, event)
    return result.success.presence
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.line.close()
    await this.door.close()
  }

  #take(callId: string, event: TrunkEvent): void {
    const call = this.#calls.get(callId)
    call?.take(event)
    this.line.take(callId, event)
    if (event._tag === "EndClaimed" && call !== undefined) void this.#check(call)
  }

  /** Runs at most once at a time for each call, as in the engine. */
  async #check(call: PlacedCall): Promise<void> {
    const { callId } = call
    if (this.#checked.has(callId)) return
    this.#checked.add(callId)
    for (let looks = 0; looks < MOST_CHECKS && !this.#isClosed && !call.has("HungUp"); looks++) {
      await sleep(looks * CHECK_MILLIS)
      await this.lookup(call.ref())
    }
    this.#checked.delete(callId)
  }
}
