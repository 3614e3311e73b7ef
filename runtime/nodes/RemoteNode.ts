/** One call node, as the dispatcher sees it: its link, which is opened again whenever it breaks, and how many calls it can carry. */
import { type Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"
import WebSocket from "ws"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { Seals } from "#core/Sealer.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { LINK_ROUTE, MOST_LINK_BYTES } from "#core/node/NodeLinks.ts"
import { hostHeader } from "#runtime/call/passOn.ts"
import type { OtherEngine } from "#runtime/postgres/OtherEngineStore.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import type { DispatchedCalls } from "./DispatchedCalls.ts"
import { isProof, proofOf } from "./handshake.ts"
import { type FromNode, PROTOCOL, type ToNode } from "./messages.ts"
import { NodeLink } from "./NodeLink.ts"

const CONNECT_MILLIS = 2000
/** How long a call node whose trunk is in trouble gets no calls of that trunk. */
const REST_MILLIS = 5000

interface Means {
  readonly calls: DispatchedCalls
  readonly clock: Clock.Clock
  readonly run: (work: Effect.Effect<unknown>) => void
  readonly schemaVersion: number
  readonly sealer: Seals
  /** What is said first. */
  readonly greetings: () => ReadonlyArray<ToNode>
}

export class RemoteNode {
  readonly node: string
  readonly journal: string
  readonly #address: string
  readonly #means: Means
  #link: NodeLink<FromNode, ToNode> | undefined
  #isGone = false
  /** It has been logged that no link could be opened, since the last one that could. */
  #isRefusalTold = false
  readonly #resting = new Map<TelephonyConfigId, SteadyMillis>()
  /** How many calls with audio it may have; none until it has said so. */
  limit = 0
  /** Grows with everything that it says. */
  signs = 0

  constructor({ address, journal, node }: OtherEngine, means: Means) {
    this.node = node
    this.journal = journal
    this.#address = address
    this.#means = means
  }

  /** Opens the link, if there is none, or says that this engine is alive. */
  keepUp(mayOpen: boolean): void {
    if (this.#link === undefined) {
      if (mayOpen && !this.#isGone) this.#open()
    } else this.#link.send({ _tag: "Ping" })
  }

  /** Breaks the link. */
  restart(): void {
    this.#link?.close()
  }

  /** Closes the link for good. */
  part(): void {
    this.#isGone = true
    this.#link?.close()
  }

  say(message: ToNode): void {
    this.#link?.send(message)
  }

  /** Its trunk of the configuration is not in trouble, and a further request would not wait there for the replies of others. */
  takes({ configurationId, originating }: Pick<LiveTrunk, "configurationId" | "originating">): boolean {
    const { calls, clock } = this.#means
    const isResting = (this.#resting.get(configurationId) ?? Number.NEGATIVE_INFINITY) > nowOf(clock)
    return !isResting && calls.unplaced(this.journal, configurationId) < originating.limit
  }

  /** Its trunk of the configuration is in trouble, so calls go elsewhere for a while. */
  rest(configurationId: TelephonyConfigId): void {
    this.#resting.set(configurationId, nowOf(this.#means.clock) + REST_MILLIS)
  }

  readonly carried = (): number => this.#means.calls.countOn(this.journal)
  readonly room = (): number => this.limit - this.carried()
  readonly expect = (callIds: ReadonlyArray<CallId>, needsAudio: boolean): void =>
    this.#means.calls.expect(this.journal, callIds, needsAudio)

  #open(): void {
    const { calls, greetings, run, schemaVersion, sealer } = this.#means
    const socket = new WebSocket(`ws://${this.#address}${LINK_ROUTE}`, {
      handshakeTimeout: CONNECT_MILLIS,
      headers: hostHeader,
      maxPayload: MOST_LINK_BYTES,
      perMessageDeflate: false
    })
    const nonce = randomUUID()
    let isProven = false
    const link = new NodeLink<FromNode, ToNode>(endOf(socket), {
      onClose: () => {
        this.#link = undefined
        const hadRoom = this.limit > 0
        this.limit = 0
        calls.lost(this)
        if (hadRoom) run(this.#logged("the link to a call node is lost"))
        if (!isProven) this.#tellRefused()
      },
      onMessage: (message) => {
        if (isProven) this.#hear(message)
        else if (message._tag === "Challenge" && typeof message.nonce === "string") {
          const proof = proofOf(sealer, "dispatcher", this.journal, message.nonce)
          link.send({ _tag: "Hello", nonce, proof, protocol: PROTOCOL, schemaVersion })
        } else if (message._tag === "Has" && isProof(sealer, "call node", this.journal, nonce, message.proof)) {
          isProven = true
          this.#isRefusalTold = false
          for (const greeting of greetings()) link.send(greeting)
          calls.compare(this, message.callIds)
        } else link.close()
      }
    })
    socket.on("message", (data) => link.message(String(data)))
    // An error is followed by `close`.
    socket.on("error", () => {})
    socket.once("close", () => link.close())
    this.#link = link
  }

  #hear(message: FromNode): void {
    this.signs++
    if (message._tag === "Challenge" || message._tag === "Has") return
    if (message._tag === "Room") this.#hasRoom(message.calls ?? Number.POSITIVE_INFINITY)
    else this.#means.calls.hear(this, message)
  }

  /** Logged once, because it is tried again twice a second. */
  #tellRefused(): void {
    if (this.#isRefusalTold || this.#isGone) return
    this.#isRefusalTold = true
    const warning = Effect.logWarning("a call node cannot be reached, or does not have the same release and SECRETS_KEY as this engine")
    this.#means.run(Effect.annotateLogs(warning, { address: this.#address, node: this.node }))
  }

  #hasRoom(limit: number): void {
    if (this.limit === limit) return
    if (this.limit === 0) this.#means.run(this.#logged("a call node takes calls"))
    const isMore = limit > this.limit
    this.limit = limit
    if (isMore) this.#means.calls.roomMade()
  }

  #logged(message: string): Effect.Effect<void> {
    return Effect.annotateLogs(Effect.logInfo(message), { node: this.node })
  }
}

const endOf = (socket: WebSocket) => ({
  sendText: (text: string): boolean => {
    // It throws while the connection is still being opened.
    if (socket.readyState === WebSocket.OPEN) socket.send(text)
    return socket.bufferedAmount <= MOST_LINK_BYTES
  },
  close: () => socket.terminate()
})
