/** An open trunk in a test and all that it has reported, and the numbers that tests dial. */
import { randomInt, randomUUID } from "node:crypto"
import { Effect, Exit, Result, Schema, Scope } from "effect"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import { CallId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter, OriginateRequest, Presence, Trunk, TrunkContext, TrunkStatus } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { trunksOf } from "#test/support/egress.ts"
import "#test/support/priority.ts"
import { refTo } from "#test/support/refTo.ts"
import { until } from "#test/support/until.ts"
import { usual } from "#test/support/usual.ts"

type Config = Readonly<Record<string, unknown>>
type Tag = TrunkEvent["_tag"]

const MOST_TRIES = 20
/** The longest ring timeout of the engine: a phone must not stop ringing before the test needs it. */
const RING_SECONDS = 300

/** Emulators and Asterisks are on this machine. */
const first = Schema.decodeSync(OrganizationId)(1)
let lastNode = 0

/** An open trunk and all that it has reported. */
export class Line {
  readonly statuses: Array<TrunkStatus> = []
  readonly #events = new Map<string, Array<TrunkEvent>>()
  readonly #scope = Scope.makeUnsafe()
  /** The name of its node. */
  node = ""
  trunk!: Trunk // set by `open`, the only maker of lines

  /** Opens a trunk for a new node, unless the node is given. */
  static async open(adapter: Adapter, config: Config, node = `test-${++lastNode}`, more: Partial<TrunkContext> = {}): Promise<Line> {
    const line = new Line()
    line.node = node
    line.trunk = await Effect.runPromise(
      adapter
        .connect(config, {
          configurationId: Schema.decodeSync(TelephonyConfigId)(1),
          node,
          egress: trunksOf(first, { first }),
          apiOrigin: undefined,
          callbackUrl: undefined,
          onEvent: (callId, event) => line.take(callId, event),
          onStatus: (status) => void line.statuses.push(status),
          ...more
        })
        .pipe(Effect.provideService(Scope.Scope, line.#scope))
    )
    return line
  }

  /** An event has arrived. */
  take(callId: string, event: TrunkEvent): void {
    this.#events.set(callId, [...this.events(callId), event])
  }

  static async up(adapter: Adapter, config: Config, node?: string): Promise<Line> {
    const line = await Line.open(adapter, config, node)
    await line.status("Up")
    return line
  }

  events(callId: string): ReadonlyArray<TrunkEvent> {
    return this.#events.get(callId) ?? []
  }

  /** The calls about which anything was reported. */
  known(): ReadonlyArray<string> {
    return [...this.#events.keys()]
  }

  /** The events of a call, as words. */
  story(callId: string): ReadonlyArray<string> {
    return this.events(callId).map((event) =>
      event._tag === "HungUp" ? `HungUp ${event.cause}` : event._tag === "Dtmf" ? event.digit : event._tag
    )
  }

  status(tag: TrunkStatus["_tag"], millis?: number): Promise<TrunkStatus> {
    return until(`status ${tag}`, () => (this.statuses.at(-1)?._tag === tag ? this.statuses.at(-1) : undefined), millis)
  }

  /** Waits for an event of this kind. */
  async event(callId: string, tag: Tag, millis?: number): Promise<void> {
    await until(`${tag} of the call`, () => this.events(callId).find(({ _tag }) => _tag === tag), millis)
  }

  async hungUp(callId: string, millis?: number): Promise<HangupCause> {
    await this.event(callId, "HungUp", millis)
    const causes = this.events(callId).flatMap((event) => (event._tag === "HungUp" ? [event.cause] : []))
    return causes[0] ?? "unknown"
  }

  /** Returns undefined on success. */
  async originate(to: string, more: Partial<OriginateRequest> = {}) {
    const callId = more.callId ?? newCallId()
    const request = { callId, to, from: undefined, leave: () => true, ...usual, ringTimeoutSeconds: RING_SECONDS, ...more }
    const result = await Effect.runPromise(Effect.result(this.trunk.originate(request)))
    return { callId, to, failure: Result.isFailure(result) ? result.failure : undefined }
  }

  /** The id of a call that was answered. */
  async talkTo(to: string): Promise<string & CallId> {
    const { callId } = await this.originate(to)
    await this.event(callId, "Answered")
    return callId
  }

  hangup(callId: CallId, cause: HangupCause = "agent_hangup"): Promise<void> {
    return Effect.runPromise(this.trunk.hangup(refTo(callId), cause))
  }

  async lookup(callId: CallId): Promise<Presence> {
    return (await Effect.runPromise(this.trunk.lookup(refTo(callId)))).presence
  }

  /** Runs `use` while the audio of a call is open. */
  withMedia<A>(callId: CallId, use: (stream: MediaStream) => Promise<A>): Promise<A> {
    return Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(this.trunk.openMedia?.(refTo(callId)) ?? Effect.die(new Error("it has no audio of its own")), (stream) =>
          Effect.promise(() => use(stream))
        )
      )
    )
  }

  /**
   * The same, with a callee who hangs up after a moment. On a busy machine they may be gone before the audio is open; then another one is called.
   */
  async withMediaOf<A>(ending: string, use: (callId: CallId) => Promise<A>): Promise<A> {
    for (let tries = 1; ; tries++) {
      const callId = await this.talkTo(numberOf(ending))
      let isOpen = false
      try {
        return await this.withMedia(callId, () => {
          isOpen = true
          return use(callId)
        })
      } catch (error) {
        if (isOpen || tries === MOST_TRIES) throw error
        await this.hungUp(callId)
      }
    }
  }

  close(): Promise<void> {
    return Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }
}

export const newCallId = (): CallId => Schema.decodeSync(CallId)(randomUUID())

let lastNumber = randomInt(90_000)
/** An unused number of the callee with this ending. */
export const numberOf = (ending: string): string => `+1555${String(++lastNumber).padStart(6, "0")}${ending}`
