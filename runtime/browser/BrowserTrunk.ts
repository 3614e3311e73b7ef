/**
 * What calls from browsers have in place of a trunk: their connections. Nothing can be dialed through it. To the calls' actors it is like any
 * other: it opens the audio, hangs up, knows whether a call is still there, and reports its answer and its end.
 */
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { browserMode } from "#core/call/BrowserRun.ts"
import { TelephonyConfigId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { type Adapter, OriginateRefused, ProviderError } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { makeHealth } from "#core/provider/TrunkHealth.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { Unexplained } from "#core/provider/Unexplained.ts"
import { Config } from "#runtime/config/config.ts"
import { InFlight } from "#runtime/trunk/InFlight.ts"
import type { CallControl } from "#runtime/trunk/replacedTrunk.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { type BrowserConnection, type BrowserEnd, type BrowserPeers, makeBrowserPeers } from "./BrowserPeers.ts"
import { iceServersOf } from "./iceServers.ts"

/** No configuration has it: their ids begin with 1. */
const noConfiguration = TelephonyConfigId.make(0)

const CONNECT_MILLIS = 20_000
const QUIET_MILLIS = 20_000

const causes: Readonly<Record<BrowserEnd, HangupCause>> = {
  left: "normal_clearing",
  lost: "network_out_of_order",
  unconnected: "media_failure",
  refused: "media_failure",
  crashed: "internal_error"
}

/** How the page is told of what its connection comes to, besides the end. */
interface Page {
  readonly answered: (sdp: string) => void
}

export class BrowserTrunk extends Context.Service<
  BrowserTrunk,
  {
    readonly trunk: LiveTrunk
    /** Opens the connection of a call. Its actor learns when it is up, and when it ends. */
    readonly open: (callId: CallRef["callId"], page: Page) => Pick<BrowserConnection, "offer" | "candidate" | "close">
    /** The browser has hung up. */
    readonly left: (callId: CallRef["callId"]) => void
  }
>()("runtime/browser/BrowserTrunk") {
  static readonly layer = Layer.effect(
    BrowserTrunk,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const { hear } = yield* TrunkPool
      const settings = yield* Config
      const { webrtcAddress: address, webrtcPorts: ports } = settings
      const peers = yield* makeBrowserPeers({ address, ports, connectMillis: CONNECT_MILLIS, quietMillis: QUIET_MILLIS }, () =>
        iceServersOf(settings, clock.currentTimeMillisUnsafe())
      )
      const lines = new Lines(peers)
      const trunk = trunkOver(lines, clock, (callId, event) =>
        hear(callId, event, { configurationId: noConfiguration, trunk: () => control })
      )
      const control = trunk.trunk
      return {
        trunk,
        open: (callId, page) => lines.open(callId, page, (event) => trunk.hear(callId, event)),
        left: (callId) => {
          // Before its audio was up, nobody had answered it.
          const cause = lines.find(callId)?.isConnected() === true ? "normal_clearing" : "originator_cancel"
          lines.end(callId, (event) => trunk.hear(callId, event), cause)
        }
      }
    })
  )
}

type Tell = (event: TrunkEvent) => void

/** The connections, by call. */
class Lines {
  readonly #peers: BrowserPeers
  readonly #open = new Map<string, BrowserConnection>()

  constructor(peers: BrowserPeers) {
    this.#peers = peers
  }

  open(callId: CallRef["callId"], { answered }: Page, tell: Tell): BrowserConnection {
    const connection = this.#peers.open({
      answered,
      connected: () => tell({ _tag: "Answered" }),
      ended: (how) => {
        this.#open.delete(callId)
        tell({ _tag: "HungUp", cause: causes[how] })
      }
    })
    this.#open.set(callId, connection)
    return connection
  }

  find(callId: string): BrowserConnection | undefined {
    return this.#open.get(callId)
  }

  end(callId: string, tell: Tell, cause: HangupCause): void {
    const connection = this.#open.get(callId)
    if (connection === undefined) return
    this.#open.delete(callId)
    connection.close()
    tell({ _tag: "HungUp", cause })
  }
}

const failed = (operation: string, detail: string) => new ProviderError({ detail, operation, provider: browserMode })

const controlOver = (lines: Lines, hear: LiveTrunk["hear"]): CallControl => ({
  hangup: ({ callId }, cause) => Effect.sync(() => lines.end(callId, (event) => hear(callId, event), cause)),
  lookup: ({ callId }) =>
    Effect.sync(() => {
      const found = lines.find(callId)
      return { presence: found === undefined ? "gone" : found.isConnected() ? "up" : "ringing", told: [] }
    }),
  openMedia: ({ callId }) =>
    Effect.suspend(() => {
      const found = lines.find(callId)
      return found === undefined ? Effect.fail(failed("openMedia", "the browser is gone")) : Effect.succeed(found.stream)
    }),
  adopt: () => {}
})

const adapter: Adapter = {
  manifest: {
    contract: 2,
    provider: browserMode,
    displayName: "Browser",
    docsUrl: "https://www.w3.org/TR/webrtc/",
    callsPerSecond: 1,
    originatesInFlight: 1
  },
  fields: {},
  connect: () => Effect.die("Calls come from browsers, and none is placed to one")
}

const noCallerIds = { all: [], preferred: undefined }

const trunkOver = (lines: Lines, clock: Clock.Clock, hear: LiveTrunk["hear"]): LiveTrunk => {
  const { health, onStatus } = makeHealth(clock)
  onStatus({ _tag: "Up" })
  return {
    ...health,
    configurationId: noConfiguration,
    adapter,
    trunk: controlOver(lines, hear),
    originate: () => Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: "browsers cannot be called" })),
    callerIdFor: () => undefined,
    callerIds: () => noCallerIds,
    numbersLacking: () => undefined,
    unexplained: new Unexplained(true),
    placed: () => {},
    refuseCallerId: () => {},
    isCurrent: () => true,
    originating: new InFlight(1),
    checking: Semaphore.makeUnsafe(1),
    endpoints: () => [],
    read: () => undefined,
    media: undefined,
    hear,
    rate: 1,
    rateKey: browserMode,
    maxConcurrentCalls: () => undefined,
    heldUp: () => {}
  }
}
