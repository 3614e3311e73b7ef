/**
 * The event WebSocket: kept connected, monitored, and decoded into the few events that this adapter needs. Events that occur while it is down
 * are lost for good, so each new connection begins with `prepare`, which compares what we know with what Asterisk has.
 */
import { Deferred, Effect, type Latch, Random, type Scope } from "effect"
import WebSocket from "ws"
import type { Egress } from "#core/egress/Egress.ts"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { at, numberAt, parseBytes, textAt } from "#adapters/shared/Json.ts"
import { whyFailed } from "#adapters/shared/whyFailed.ts"
import { openWebSocket } from "./AriSocket.ts"

export type AriEvent =
  | { readonly type: "Dial"; readonly id: string; readonly status: string }
  /** `at` is in Asterisk's own time. */
  | { readonly type: "StasisStart"; readonly id: string; readonly args?: ReadonlyArray<string>; readonly at?: number }
  /** `soft`: `cause` is no Q.850 code but Asterisk's flags, which say what inside it requested the hangup. */
  | {
      readonly type: "ChannelHangupRequest"
      readonly id: string
      readonly cause: number
      readonly sipStatus: number | undefined
      readonly soft: boolean
    }
  | {
      readonly type: "ChannelDestroyed"
      readonly id: string
      readonly cause: number
      readonly sipStatus: number | undefined
      readonly at?: number
    }
  | { readonly type: "ChannelDtmfReceived"; readonly id: string; readonly digit: string }
  | { readonly type: "ChannelVarset"; readonly id: string; readonly variable: string; readonly value: string }
  | { readonly type: "ApplicationReplaced"; readonly id: string }

export type ChannelEvent = Exclude<AriEvent, { readonly type: "ApplicationReplaced" }>

/** The events that Asterisk sends. Without a filter, a call causes twice as many events, and costs Asterisk a tenth more. */
export const eventTypes: ReadonlyArray<AriEvent["type"]> = [
  "Dial",
  "StasisStart",
  "ChannelHangupRequest",
  "ChannelDestroyed",
  "ChannelDtmfReceived",
  "ApplicationReplaced"
]

/** Includes variables, in which a dialplan that answered calls run through leaves its results. */
export const dialplanEventTypes: ReadonlyArray<AriEvent["type"]> = [...eventTypes, "ChannelVarset"]

/** `{"type":"Dial","peer":{"id":"1"}}`: finding out that something shorter is no JSON would take longer than anything else that is done with it. */
const SHORTEST_EVENT = 33

/** Undefined for an event that is unknown or unusable. */
export const decode = (text: Uint8Array): AriEvent | undefined => {
  if (text.length < SHORTEST_EVENT) return undefined
  const event = parseBytes(text)
  const type = textAt(event, "type")
  if (type === "ApplicationReplaced") return { type, id: textAt(event, "application") ?? "" }
  const id = textAt(event, type === "Dial" ? "peer" : "channel", "id")
  if (id === undefined) return undefined
  switch (type) {
    case "Dial":
      return { type, id, status: textAt(event, "dialstatus") ?? "" }
    case "StasisStart":
      return { type, id, ...argsIn(event), ...timeOf(event) }
    case "ChannelHangupRequest":
      return { type, id, cause: numberAt(event, "cause") ?? 0, sipStatus: numberAt(event, "tech_cause"), soft: at(event, "soft") === true }
    case "ChannelDestroyed":
      return { type, id, cause: numberAt(event, "cause") ?? 0, sipStatus: numberAt(event, "tech_cause"), ...timeOf(event) }
    case "ChannelDtmfReceived": {
      const digit = textAt(event, "digit") ?? ""
      return /^[0-9*#A-D]$/.test(digit) ? { type, id, digit } : undefined
    }
    case "ChannelVarset":
      return { type, id, variable: textAt(event, "variable") ?? "", value: textAt(event, "value") ?? "" }
    default:
      return undefined
  }
}

const argsIn = (event: unknown): { readonly args?: ReadonlyArray<string> } => {
  const args = at(event, "args")
  return Array.isArray(args) && args.length > 0 ? { args: args.filter((arg) => typeof arg === "string") } : {}
}

/** Parses a time such as `2026-11-22T01:14:48.123+0000`. */
const timeOf = (event: unknown): { readonly at?: number } => {
  const at = Date.parse(textAt(event, "timestamp") ?? "")
  return Number.isNaN(at) ? {} : { at }
}

export type Ended = Extract<TrunkStatus, { readonly _tag: "Down" }>
export const down = (reason: Ended["reason"], detail: string): Ended => ({ _tag: "Down", reason, detail })

/** One connection while it lasts. */
export interface EventSocket {
  /** The local address of the connection, as far as this machine knows. */
  readonly localAddress: () => string
  /** The remote address: Asterisk, or what stands in front of it. */
  readonly remoteAddress: () => string
  /** True once Asterisk answers; every event that it had sent before has then been handled. */
  readonly roundTrip: Effect.Effect<boolean>
}

interface EventLink {
  readonly base: URL
  readonly application: string
  readonly authorization: string
  readonly egress: Egress
  readonly onEvent: (event: ChannelEvent) => void
  readonly onStatus: (status: TrunkStatus) => void
  /** Runs after each connect, while events already arrive; fails if this connection is of no use. */
  readonly prepare: (socket: EventSocket) => Effect.Effect<void, Ended, Scope.Scope>
  /** Called before `onStatus` reports the loss. */
  readonly onLost: () => void
  /** Opened to make the next attempt start now. */
  readonly hurry: Latch.Latch
}

const HANDSHAKE_TIMEOUT_MILLIS = 10_000
/** Events have one or two kilobytes. */
const MAX_EVENT_BYTES = 128 * 1024
const LIVENESS_MILLIS = 10_000
const PONG_TIMEOUT_MILLIS = 5_000
const FIRST_RETRY_MILLIS = 250
const LAST_RETRY_MILLIS = 10_000
/** Retrying often does not make wrong credentials right. */
const AUTH_RETRY_MILLIS = 30_000

/** Returns only when another client has taken our application. */
export const keepConnected = Effect.fnUntraced(function* (link: EventLink) {
  link.onStatus({ _tag: "Connecting" })
  let retries = 0
  while (true) {
    const ended = yield* Effect.scoped(
      session(link, () => {
        retries = 0
      })
    )
    link.onLost()
    link.onStatus(ended)
    if (ended.reason === "replaced") return
    const wait = ended.reason === "auth" ? AUTH_RETRY_MILLIS : Math.min(FIRST_RETRY_MILLIS * 2 ** retries, LAST_RETRY_MILLIS)
    retries += 1
    // The jitter, half to one and a half times the delay, keeps the nodes of a cluster from all coming back at once.
    yield* Effect.timeoutOption(link.hurry.await, wait * (0.5 + (yield* Random.next)))
    link.hurry.closeUnsafe()
  }
})

/** Never fails: the result says how the session ended. */
const session = (link: EventLink, onUp: () => void): Effect.Effect<Ended, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* Effect.acquireRelease(
      Effect.sync(() => dial(link)),
      ({ socket }) => Effect.sync(() => socket.terminate())
    )
    yield* Deferred.await(connection.opened)
    const local = {
      localAddress: () => connection.localAddress,
      remoteAddress: () => connection.remoteAddress,
      roundTrip: roundTrip(connection.socket)
    }
    yield* Effect.forkScoped(watch(local, connection))
    yield* Effect.raceFirst(
      link.prepare(local),
      Effect.flatMap(Deferred.await(connection.ended), (ended) => Effect.fail(ended))
    )
    onUp()
    link.onStatus({ _tag: "Up" })
    return yield* Deferred.await(connection.ended)
  }).pipe(Effect.catch((ended) => Effect.succeed(ended)))

interface Connection {
  readonly socket: WebSocket
  readonly opened: Deferred.Deferred<void, Ended>
  readonly ended: Deferred.Deferred<Ended>
  localAddress: string
  remoteAddress: string
}

/** A dead peer is noticed only by pinging: Asterisk answers pings and sends none. */
const watch = Effect.fnUntraced(function* (socket: EventSocket, connection: Connection) {
  while (yield* socket.roundTrip) yield* Effect.sleep(LIVENESS_MILLIS)
  Deferred.doneUnsafe(connection.ended, Effect.succeed(down("unreachable", "the events' websocket does not answer")))
})

const roundTrip = (socket: WebSocket): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const heard = () => resume(Effect.succeed(true))
    // Each call that is looked up after a crash waits for its own pong.
    socket.setMaxListeners(0)
    socket.once("pong", heard)
    if (socket.readyState === WebSocket.OPEN) socket.ping()
    return Effect.sync(() => socket.off("pong", heard))
  }).pipe(Effect.timeoutOrElse({ duration: PONG_TIMEOUT_MILLIS, orElse: () => Effect.succeed(false) }))

/** Listens from the start, because events may arrive in the same packet as the handshake. */
const dial = ({ application, authorization, base, egress, onEvent }: EventLink): Connection => {
  const socket = openWebSocket({
    authorization,
    base,
    egress,
    handshakeMillis: HANDSHAKE_TIMEOUT_MILLIS,
    mostBytes: MAX_EVENT_BYTES,
    path: `/ari/events?app=${encodeURIComponent(application)}`
  })
  const connection: Connection = {
    socket,
    opened: Deferred.makeUnsafe(),
    ended: Deferred.makeUnsafe(),
    localAddress: "",
    remoteAddress: ""
  }
  const end = (ended: Ended) => {
    Deferred.doneUnsafe(connection.opened, Effect.fail(ended))
    Deferred.doneUnsafe(connection.ended, Effect.succeed(ended))
  }
  socket.on("upgrade", (response) => {
    connection.localAddress = plain(response.socket.localAddress)
    connection.remoteAddress = plain(response.socket.remoteAddress)
  })
  socket.on("open", () => Deferred.doneUnsafe(connection.opened, Effect.void))
  socket.on("unexpected-response", (request, { statusCode }) => {
    request.destroy()
    end(refusal(statusCode ?? 0))
  })
  socket.on("error", (error: NodeJS.ErrnoException) => end(down("unreachable", whyFailed(error, "the websocket broke"))))
  socket.on("close", (code) => end(down("unreachable", `the events' websocket was closed (${code})`)))
  socket.on("message", (data, isBinary) => {
    // With the socket's default binaryType, one message is one Buffer.
    const event = isBinary ? undefined : decode(data as Buffer)
    if (event === undefined) return
    if (event.type === "ApplicationReplaced") end(down("replaced", `another client took the application ${event.id}`))
    else onEvent(event)
  })
  return connection
}

const plain = (address = ""): string => address.replace(/^::ffff:/, "")

const refusal = (status: number): Ended =>
  status === 401 || status === 403
    ? down("auth", `Asterisk refused the ARI user (HTTP ${status})`)
    : down("unreachable", `no events' websocket at this address (HTTP ${status})`)
