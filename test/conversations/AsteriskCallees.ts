/**
 * The callees behind a real Asterisk: calls to `Local/{number}@inbound` enter our own Stasis application there. Each is answered and bridged with a
 * media websocket, over which the callee speaks and hears. `log` records what the callees saw, as with the emulators.
 */
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { WebSocket } from "ws"
import type { Callee } from "#test/emulators/shared/Callee.ts"
import { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { CallLives } from "#test/emulators/shared/CallLife.ts"
import { MediaLeg, type MediaWords } from "#test/emulators/shared/MediaLeg.ts"
import type { Asterisk } from "#test/support/asterisk.ts"

/** The application that `startAsterisk` must be given. */
export const calleesApp = "callees"

interface AriEvent {
  readonly type: string
  readonly args?: ReadonlyArray<string>
  readonly channel?: { readonly id: string }
}
interface Call {
  readonly number: string
  readonly mediaId: string
  readonly bridgeId: string
  readonly mediaStarted: PromiseWithResolvers<void>
  leg: MediaLeg | undefined
  hasEnded: boolean
}

const callee: Callee = { kind: "answers", stay: "until-hung-up", sound: "nothing" }
/** Audio is sent unchanged; Asterisk's text messages are only about its buffer. */
const words: MediaWords = {
  audio: (frame) => frame,
  read: (data, isBinary) => ({ _tag: "Audio", audio: isBinary ? data : Buffer.alloc(0) })
}

export class AsteriskCallees {
  readonly log = new CalleeLog()
  /** Only its `letRing` is used: Asterisk itself has the calls. */
  readonly lives = new CallLives(this.log)
  /** What went wrong on the callees' own side. */
  readonly faults: Array<string> = []
  readonly #asterisk: Asterisk
  readonly #authorization: string
  readonly #events: WebSocket
  readonly #calls = new Map<string, Call>()

  static async open(asterisk: Asterisk): Promise<AsteriskCallees> {
    const callees = new AsteriskCallees(asterisk)
    await once(callees.#events, "open")
    return callees
  }

  private constructor(asterisk: Asterisk) {
    const { ariUrl, password, user } = asterisk
    this.#asterisk = asterisk
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
    const query = new URLSearchParams({ app: calleesApp, api_key: `${user}:${password}` })
    this.#events = new WebSocket(`${ariUrl.replace(/^http/, "ws")}/events?${query}`)
    this.#events.on("message", (data) => this.#take(JSON.parse(String(data))))
  }

  stop(): void {
    this.#events.close()
    for (const { leg } of this.#calls.values()) leg?.drop()
  }

  hangUp(number: string): void {
    for (const [id, call] of this.#calls) {
      if (call.number === number && !call.hasEnded) this.#ask("DELETE", `/channels/${id}`).catch((error) => this.faults.push(String(error)))
    }
  }

  #take({ args = [], channel, type }: AriEvent): void {
    const id = channel?.id ?? ""
    const [from, number] = args
    if (type === "StasisStart" && from === "inbound" && number !== undefined) this.#ring(id, number)
    if (type === "StasisStart") [...this.#calls.values()].find(({ mediaId }) => mediaId === id)?.mediaStarted.resolve()
    if (type === "ChannelDestroyed" || type === "StasisEnd") this.#end(id)
  }

  #ring(id: string, number: string): void {
    const mediaStarted = Promise.withResolvers<void>()
    const call: Call = { number, mediaId: `media-${randomUUID()}`, bridgeId: randomUUID(), mediaStarted, leg: undefined, hasEnded: false }
    this.#calls.set(id, call)
    this.log.record({ channelId: id, number, kind: "originate" })
    this.lives.whenAnswersAreAllowed(() => {
      this.#answer(id, call).catch((error: unknown) => {
        if (!call.hasEnded) this.faults.push(`${number} could not answer: ${String(error)}`)
      })
    })
  }

  async #answer(id: string, call: Call): Promise<void> {
    const { bridgeId, mediaId, number } = call
    const media = {
      app: calleesApp,
      channelId: mediaId,
      format: "ulaw",
      external_host: "INCOMING",
      transport: "websocket",
      encapsulation: "none",
      connection_type: "server"
    }
    const { channelvars } = await this.#ask("POST", "/channels/externalMedia", media)
    await this.#ask("POST", "/bridges", { type: "mixing", bridgeId })
    call.leg = new MediaLeg({
      id,
      callee,
      headers: { authorization: this.#authorization },
      log: this.log,
      onLost: () => {},
      protocol: "media",
      url: `${this.#asterisk.ariUrl.replace(/^http(.*)\/ari$/, "ws$1")}/media/${channelvars?.MEDIA_WEBSOCKET_CONNECTION_ID}`,
      words
    })
    call.leg.start()
    // Before its StasisStart the media channel cannot enter a bridge.
    await call.mediaStarted.promise
    await this.#ask("POST", `/channels/${id}/answer`)
    this.log.record({ channelId: id, number, kind: "answered" })
    await this.#ask("POST", `/bridges/${bridgeId}/addChannel`, { channel: `${id},${mediaId}` })
  }

  #end(id: string): void {
    const call = this.#calls.get(id)
    if (call === undefined || call.hasEnded) return
    call.hasEnded = true
    call.leg?.end()
    this.log.record({ channelId: id, number: call.number, kind: "ended" })
    // Asterisk removes neither of them by itself, but they may already be gone.
    for (const path of [`/channels/${call.mediaId}`, `/bridges/${call.bridgeId}`]) this.#ask("DELETE", path).catch(() => {})
  }

  async #ask(method: string, path: string, query: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const url = `${this.#asterisk.ariUrl}${path}?${new URLSearchParams(query)}`
    // Each request has its own connection, because Asterisk closes idle ones while a busy machine delays us.
    const response = await fetch(url, { method, headers: { authorization: this.#authorization, connection: "close" } })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path.replace(/[\w-]{20,}/g, "...")}: ${response.status}`)
    // The cast holds for the members that Asterisk documents.
    return text === "" ? {} : (JSON.parse(text) as Reply)
  }
}

interface Reply {
  readonly channelvars?: { readonly MEDIA_WEBSOCKET_CONNECTION_ID?: string }
}
