/**
 * A line to a hosted carrier: the adapter's trunk, and a server at the addresses that the carrier is given. Each raw request goes to the adapter's
 * `read`, as in the gateway: 403 if it is forged, 400 if `read` throws, otherwise its reply. A test knows about a call what the engine would know:
 * an end that is only claimed is looked up.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Result } from "effect"
import type { CallId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Adapter, OriginateRequest, Presence } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { refTo } from "#test/support/refTo.ts"
import { HostedMedia } from "./HostedMedia.ts"
import { Line, newCallId } from "./Line.ts"
import { usual } from "#test/support/usual.ts"

/** How often, and after which growing pauses, a claimed end is looked up. */
const MOST_CHECKS = 5
const CHECK_MILLIS = 500

interface Received {
  readonly callback: Callback
  readonly read: CallbackRead | undefined
  readonly status: number
}

interface HostedOptions {
  /** The origin of the emulator. */
  readonly apiOrigin: string
  /** False: the engine has no public address. */
  readonly isPublic?: boolean
}

export class Hosted {
  /** Every request that arrived, in order. */
  readonly received: Array<Received> = []
  /** Calls that nobody wants any more. */
  readonly unwanted = new Set<string>()
  /** The carrier's ids of calls that are known to be other ones. */
  readonly others = new Set<string>()
  /** How many of the next callbacks get a 503, unread. */
  failures = 0
  line!: Line // set by `open`, the only maker
  readonly media: HostedMedia
  readonly #refs = new Map<string, CallRef>()
  /** Calls whose claimed end is being looked up. */
  readonly #checked = new Set<string>()
  #isClosed = false
  readonly #http = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy())
  })
  readonly #adapter: Adapter
  readonly #config: Readonly<Record<string, unknown>>
  readonly #options: HostedOptions
  #origin = ""

  constructor(adapter: Adapter, config: Readonly<Record<string, unknown>>, options: HostedOptions) {
    this.#adapter = adapter
    this.#config = config
    this.#options = options
    this.media = new HostedMedia(this.#http, () => this.#origin, {
      adapter,
      config,
      refOf: (callId) => this.#refs.get(callId),
      take: (callId, event) => this.#take(callId, event)
    })
  }

  static async open(adapter: Adapter, config: Readonly<Record<string, unknown>>, options: HostedOptions): Promise<Hosted> {
    const hosted = new Hosted(adapter, config, options)
    await new Promise<void>((resolve) => hosted.#http.listen({ port: 0, host: "127.0.0.1" }, resolve))
    hosted.#origin = `127.0.0.1:${(hosted.#http.address() as AddressInfo).port}` // listening on TCP, so neither a path nor null
    await hosted.#connect()
    return hosted
  }

  static async up(adapter: Adapter, config: Readonly<Record<string, unknown>>, options: HostedOptions): Promise<Hosted> {
    const hosted = await Hosted.open(adapter, config, options)
    await hosted.line.status("Up")
    return hosted
  }

  /** The address that the carrier gets. A media address is that of a websocket, and has no query. */
  readonly address = (kind: string, callId?: CallId): string =>
    kind === "media" ? `ws://${this.#origin}/${callId}/${kind}` : `http://${this.#origin}/${callId ?? "-"}/${kind}?token=${kind}%2B1&n=2`

  /** Replaces the trunk, as after a restart of the engine. Only the references to calls survive. */
  async restart(): Promise<void> {
    await this.line.close()
    await this.#connect()
    await this.line.status("Up")
  }

  /** What the engine knows about the call. */
  ref(callId: CallId): CallRef {
    return this.#refs.get(callId) ?? refTo(callId)
  }

  /** Undefined `failure`: success. */
  async originate(to: string, more: Partial<OriginateRequest> = {}) {
    const callId = more.callId ?? newCallId()
    const leave = () => {
      this.#refs.set(callId, { ...refTo(callId), to, from: more.from ?? OUR_NUMBER, sentAt: Date.now() })
      return more.leave?.() ?? true
    }
    const request = { callId, to, from: OUR_NUMBER, ...usual, ...more, leave }
    const result = await Effect.runPromise(Effect.result(this.line.trunk.originate(request)))
    if (Result.isSuccess(result)) this.#learn(callId, result.success.providerCallId)
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
    this.media.stop()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  async #connect(): Promise<void> {
    this.line = await Line.open(this.#adapter, this.#config, undefined, {
      apiOrigin: new URL(this.#options.apiOrigin),
      callbackUrl: this.#options.isPublic === false ? undefined : this.address,
      mediaUrl: (callId) => this.address("media", callId),
      isOthers: (_, providerCallId) => Effect.succeed(this.others.has(providerCallId)),
      onEvent: (callId, event) => this.#take(callId, event)
    })
  }

  #learn(callId: string, providerCallId: string): void {
    const ref = this.#refs.get(callId)
    if (ref !== undefined) this.#refs.set(callId, { ...ref, providerCallId })
  }

  #take(callId: string, event: TrunkEvent): void {
    if (event._tag === "Named") this.#learn(callId, event.providerCallId)
    this.line.take(callId, event)
    if (event._tag === "EndClaimed") void this.#check(callId)
  }

  /** Runs at most once at a time for each call, as in the engine. */
  async #check(callId: string): Promise<void> {
    const ref = this.#refs.get(callId)
    if (ref === undefined || this.#checked.has(callId)) return
    this.#checked.add(callId)
    for (let looks = 0; looks < MOST_CHECKS && !this.#isClosed; looks++) {
      await sleep(looks * CHECK_MILLIS)
      await this.lookup(this.#refs.get(callId) ?? ref)
      if (this.line.events(callId).some(({ _tag }) => _tag === "HungUp")) break
    }
    this.#checked.delete(callId)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]))
    const path = request.url ?? "/"
    const [, callId = "", kind = ""] = path.split(/[/?]/)
    const call = this.#refs.get(callId)
    const callback: Callback = {
      method: request.method === "GET" ? "GET" : "POST",
      url: `http://${this.#origin}${path}`,
      headers,
      body: Buffer.concat(chunks),
      at,
      kind,
      mediaUrl: call && this.address("media", call.callId),
      call,
      isWanted: !this.unwanted.has(callId)
    }
    const { read, status } = this.#fails() ? { read: undefined, status: 503 } : this.#read(callback)
    this.received.push({ callback, read, status })
    for (const { call, event } of read?.events ?? []) this.#take(this.#callOf(call) ?? callId, event)
    response.writeHead(status, { "content-type": read?.reply?.mediaType ?? "text/plain" }).end(read?.reply?.body)
  }

  #fails(): boolean {
    if (this.failures === 0) return false
    this.failures -= 1
    return true
  }

  #read(callback: Callback): { readonly read: CallbackRead | undefined; readonly status: number } {
    const outcome = Result.try(() => this.#adapter.read?.(this.#config, callback))
    if (Result.isFailure(outcome)) return { read: undefined, status: 400 }
    return { read: outcome.success, status: outcome.success === undefined ? 403 : 200 }
  }

  #callOf(call: CallbackRead["events"][number]["call"]): string | undefined {
    if (call === undefined) return undefined
    if ("callId" in call) return call.callId
    return [...this.#refs.values()].find(({ providerCallId }) => providerCallId === call.providerCallId)?.callId
  }
}

/** A number of the account at every emulator. */
export const OUR_NUMBER = "+15550009000"
