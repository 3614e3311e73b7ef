/**
 * An Asterisk 22 as seen from the wire: REST, events and audio on a real port of the loopback interface. The number that is dialed selects the
 * callee (`shared/Callee.ts`), `shared/CalleeLog.ts` records what the callees saw, and the methods here cause faults in between.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { apiDocument } from "./ApiDocs.ts"
import { Applications } from "./Applications.ts"
import { Bridges } from "./Bridges.ts"
import { CalleeLog, preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { Calls } from "./Calls.ts"
import { type Channel, Channels } from "./Channel.ts"
import { type Contexts, Dialplan } from "./Dialplan.ts"
import { isAllowed, readBody, respond, respondAsIngress } from "./http.ts"
import { Media } from "./Media.ts"
import { answerTo, placesCall, routes } from "./Rest.ts"
import type { Answer, Asterisk } from "./Route.ts"
import { Gate } from "#test/emulators/shared/Gate.ts"
import { localPort } from "#test/support/localPort.ts"
import { freePort } from "#test/support/freePort.ts"
import { seeded } from "#test/support/seeded.ts"
import { resetSocket } from "#test/support/resetSocket.ts"

export type AriEmulatorOptions = {
  readonly port?: number
  readonly user?: string
  readonly password?: string
  /** 0.1 is ten times faster for ringing, talking and timeouts. Audio stays in real time. */
  readonly timeScale?: number
  /** From the originate to the answer. */
  readonly ringMillis?: number
  /** From the answer until the callee hangs up. */
  readonly talkMillis?: number
  /** Counts `talkMillis` from the first word that the callee hears, so that everybody is greeted on any machine, however slow. */
  readonly talkOnceHeard?: boolean
  /** Varies ringing and talking between half and one and a half times as long, in the same way for the same seed. */
  readonly seed?: number
  /** False: callees are silent. Audio sent to them is counted nevertheless. */
  readonly media?: boolean
  /** This Asterisk has no WebSocket for audio, and names this RTP address, whoever listens there. */
  readonly namesRtpAt?: { readonly address: string; readonly port: number }
  /** All other trunks are refused with 500 "Allocation failed"; by default only those with `unknown` or `nobody` in their name. */
  readonly trunks?: ReadonlyArray<string>
  /** The contexts that calls can continue in. */
  readonly dialplan?: Contexts
}

/**
 * Faults of originates: the call is placed or not, and the response is lost or replaced by an error. Asterisk's own errors are
 * "allocation-failed", when no channel could be created, and 500, whose meaning is unknown; 503 and 429 come from a proxy in front of it.
 */
export type ResponseFault =
  | "none"
  | "hang-after-placing"
  | "hang-before-placing"
  | "reset-after-placing"
  | "reset-before-placing"
  | "allocation-failed"
  | "500"
  | "503"
  | "429"
  | "400"

interface OriginateAsked {
  /** On the clock of `preciseNow`. */
  readonly at: number
  readonly channelId: string
  /** What was to be dialed. */
  readonly endpoint: string
  readonly fault: ResponseFault
}

const keepAliveMillis = 15_000
const eventsPath = "/ari/events"
const mediaPath = "/media/"

export const startAriEmulator = async (options: AriEmulatorOptions = {}): Promise<AriEmulator> => {
  const server = new AriEmulator(options)
  // A port that nobody else is given while connections are refused.
  await server.listen(options.port ?? (await freePort()))
  return server
}

export class AriEmulator {
  readonly user: string
  readonly log = new CalleeLog()
  #password: string
  #port = 0
  #startedAt = Date.now()
  /** Every request for a call in order, including those with a fault; `log` says which calls resulted. */
  readonly requests: Array<OriginateAsked> = []
  #fault: { readonly kind: ResponseFault; left: number; readonly retryAfterSeconds?: number | undefined } = { kind: "none", left: 0 }
  #lists = new Gate()
  #http: Server
  #events = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 64 * 1024 })
  #media = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => "media" })
  #asterisk: Asterisk

  constructor(options: AriEmulatorOptions) {
    this.user = options.user ?? "trunkline"
    this.#password = options.password ?? "secret"
    const { namesRtpAt, seed, trunks } = options
    const applications = new Applications()
    const bridges = new Bridges()
    const channels = new Channels()
    const pace = {
      scale: options.timeScale ?? 1,
      ringMillis: options.ringMillis ?? 1000,
      talkMillis: options.talkMillis ?? 10_000,
      talkOnceHeard: options.talkOnceHeard ?? false,
      ...(seed === undefined ? {} : { chance: seeded(seed) })
    }
    const calls = new Calls({ applications, bridges, channels, log: this.log, pace })
    const media = new Media(calls, this.log, options.media ?? true)
    calls.line = media
    this.#asterisk = {
      applications,
      bridges,
      calls,
      channels,
      dialplan: new Dialplan(options.dialplan ?? {}, calls, applications),
      log: this.log,
      media,
      namesRtpAt,
      version: "22.10.1",
      knowsTrunk: (trunk) => (trunks === undefined ? !/unknown|nobody/.test(trunk) : trunks.includes(trunk)),
      startupTime: () => new Date(this.#startedAt).toISOString().replace("Z", "+0000")
    }
    this.#http = createServer({ keepAliveTimeout: keepAliveMillis }, (request, response) => {
      // The request may break off midway.
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
  }

  /** The URL without `/ari`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get password(): string {
    return this.#password
  }

  async listen(port: number): Promise<void> {
    this.#port = await localPort(this.#http, port)
  }

  /** Calls that were dialed and have not ended. */
  live(): number {
    return this.log.live()
  }

  /** Applications with a client: a client that has closed its socket may still count for a moment. */
  listeners(): number {
    return this.#asterisk.applications.all().filter(({ socket }) => socket !== undefined).length
  }

  /** Closes the event sockets; calls continue. */
  dropSockets(): void {
    for (const socket of this.#events.clients) socket.terminate()
  }

  /** Closes the audio sockets: their channels end, but the calls they served continue. */
  dropMediaSockets(): void {
    for (const socket of this.#media.clients) socket.terminate()
  }

  /** On: new connections get ECONNREFUSED and HTTP connections are closed; open sockets stay. Off: listens on the same port again. */
  async refuseConnections(on: boolean): Promise<void> {
    if (on === !this.#http.listening) return
    if (!on) return this.listen(this.#port)
    this.#http.close()
    this.#http.closeAllConnections()
  }

  /** Like `kill -9` and an instant restart: every connection breaks; every call, filter and subscription is forgotten. */
  crash(): void {
    const { applications, bridges, calls, media } = this.#asterisk
    calls.forgetAll()
    bridges.clear()
    media.closeAll()
    this.dropSockets()
    applications.clear()
    this.#http.closeAllConnections()
    this.#startedAt = Math.max(Date.now(), this.#startedAt + 1000)
  }

  /** Applies to later requests. */
  setPassword(password: string): void {
    this.#password = password
  }

  /** Applies to the next `count` originates, or until it is set again. Errors of the proxy carry `Retry-After` if it is given. */
  setResponseFault(fault: ResponseFault, count = Infinity, retryAfterSeconds?: number): void {
    this.#fault = { kind: fault, left: count, retryAfterSeconds }
  }

  /** On: nobody answers. Off: callees whose time to answer has come do so now. */
  letRing(on: boolean): void {
    this.#asterisk.calls.answers.close(on)
  }

  /** On: nobody who talks hangs up. Off: callees whose time to hang up has come do so now. */
  letTalk(on: boolean): void {
    this.#asterisk.calls.goodbyes.close(on)
  }

  /** On: calls that are answered while nobody is connected stay for now, up and outside Stasis. Off: they are dropped. */
  holdDropped(on: boolean): void {
    this.#asterisk.calls.drops.close(on)
  }

  /** On: lists of channels are composed when they are requested, but sent only when it is off again. */
  holdLists(on: boolean): void {
    this.#lists.close(on)
  }

  /** The number of lists of channels being held. */
  heldLists(): number {
    return this.#lists.held
  }

  /** The callee of this number says these frames, after those that it was given before. */
  speak(number: string, frames: ReadonlyArray<Buffer>): void {
    this.#channelOf(number).mouth.toSay.push(...frames)
  }

  /** The callee of this number presses a key, which the SIP dialog with the phone reports. */
  press(number: string, digit: string): void {
    this.#asterisk.calls.press(this.#channelOf(number), digit)
  }

  /** The callee of this number hangs up. */
  hangUp(number: string): void {
    this.#asterisk.calls.end(this.#channelOf(number), { cause: 16, by: "callee", hangupRequest: { cause: 16 } })
  }

  #channelOf(number: string): Channel {
    const found = this.#asterisk.channels.all().find((channel) => channel.number === number && channel.state === "Up")
    if (found === undefined) throw new Error("nobody has answered there")
    return found
  }

  /** Sends this text to all event sockets, whatever it is. */
  say(text: string): void {
    for (const socket of this.#events.clients) socket.send(text)
  }

  /** Delays all events by this much, without reordering them. */
  delayEvents(millis: number): void {
    this.#asterisk.applications.delayMillis = millis
  }

  async stop(): Promise<void> {
    this.crash()
    if (!this.#http.listening) return
    await new Promise((resolve) => this.#http.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedAt = preciseNow()
    const url = new URL(request.url ?? "/", this.url)
    const run = this.#startedAt
    const text = await readBody(request)
    // A crash drops requests that are only half read.
    if (run !== this.#startedAt) return
    const tell = (answer: Answer) => respond(response, answer, this.#asterisk.version)
    if (!isAllowed(request, url, this)) {
      response.setHeader("www-authenticate", 'Basic realm="Asterisk REST Interface"')
      return tell({ status: 401, body: { message: "Authentication required" } })
    }
    const path = url.pathname.replace(/^\/ari/, "")
    if (path.startsWith("/api-docs/")) {
      const body = apiDocument(routes, path.slice("/api-docs/".length), request.headers.host ?? "")
      return tell(body === undefined ? { status: 404, body: { message: "Resource not found" } } : { status: 200, body })
    }
    const method = request.method ?? "GET"
    const places = placesCall(method, path)
    const fault = places ? this.#nextFault() : "none"
    if (places) {
      const query = url.searchParams
      this.requests.push({ at: receivedAt, channelId: query.get("channelId") ?? "", endpoint: query.get("endpoint") ?? "", fault })
    }
    if (fault === "hang-before-placing") return
    if (fault === "reset-before-placing") return resetSocket(request.socket)
    if (fault === "allocation-failed") return tell({ status: 500, body: { error: "Allocation failed" } })
    if (fault === "500" || fault === "400") return tell({ status: Number(fault), body: { message: "Refused by the emulator" } })
    if (fault === "503" || fault === "429") {
      if (this.#fault.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(this.#fault.retryAfterSeconds))
      return respondAsIngress(response, Number(fault))
    }
    const answer = await answerTo(this.#asterisk, { method, path, query: url.searchParams, receivedAt, text })
    if (fault === "hang-after-placing") return
    if (fault === "reset-after-placing") return resetSocket(request.socket)
    if (method !== "GET" || path !== "/channels") return tell(answer)
    // A copy of the list as it is now, even if it is sent later.
    const body: unknown = JSON.parse(JSON.stringify(answer.body))
    this.#lists.pass(() => tell({ status: answer.status, body }))
  }

  #nextFault(): ResponseFault {
    if (this.#fault.left <= 0) return "none"
    this.#fault.left -= 1
    return this.#fault.kind
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "/", this.url)
    socket.on("error", () => socket.destroy())
    if (!isAllowed(request, url, this)) return turnAway(socket, "401 Unauthorized")
    if (url.pathname === eventsPath) return this.#openEvents(request, url, socket, head)
    if (url.pathname.startsWith(mediaPath)) return this.#openMedia(request, url, socket, head)
    turnAway(socket, "404 Not Found")
  }

  #openEvents(request: IncomingMessage, url: URL, socket: Duplex, head: Buffer): void {
    const names = (url.searchParams.get("app") ?? "").split(",").filter(Boolean)
    if (names.length === 0) return turnAway(socket, "400 Bad Request")
    const { applications } = this.#asterisk
    this.#events.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate())
      applications.connect(names, client)
    })
  }

  #openMedia(request: IncomingMessage, url: URL, socket: Duplex, head: Buffer): void {
    const { media } = this.#asterisk
    const connectionId = url.pathname.slice(mediaPath.length)
    const awaited = media.awaited.get(connectionId)
    if (awaited === undefined) return turnAway(socket, "404 Not Found")
    if (media.isOpen(awaited)) return turnAway(socket, "409 Conflict")
    const asked = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((protocol) => protocol.trim())
    if (!asked.includes("media")) return turnAway(socket, "400 Bad Request")
    this.#media.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate())
      media.open(awaited, client, connectionId)
    })
  }
}

const turnAway = (socket: Duplex, status: string): void => {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
