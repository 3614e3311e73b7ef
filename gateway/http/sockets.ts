/**
 * Websockets that other programs open: carriers for the audio of calls, and the dispatcher for a call node. A socket is admitted or refused at
 * once. So that a bad socket harms nobody else, there are limits on message size, on unsent data, and on the time until the first message.
 */
import { Effect } from "effect"
import type * as uws from "uWebSockets.js"
import type { MediaAdmission, MediaSession } from "#core/provider/CarrierMedia.ts"
import type { MediaEnd } from "#core/provider/Media.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import { Pace, type PaceLimits } from "#core/load/Pace.ts"
import { AllowedHosts, refusedByHead } from "./admission.ts"
import { type Asked, type Endpoint, failure } from "./Endpoint.ts"
import { refuseUpgrade } from "./refuseUpgrade.ts"
import { pathNames, requestParts } from "./requestParts.ts"

export interface SocketLimits {
  /** A silent client is pinged, and cut off after this time. */
  readonly idleSeconds: number
  /** Until its first message. */
  readonly firstMessageMillis: number
  readonly maxMessageBytes: number
  /** Messages that would have to wait behind more than this are dropped. */
  readonly maxBufferedBytes: number
  /**
   * How much may be said to one address, in messages of up to a kilobyte. Who says more is cut off, because uWebSockets cannot read a websocket more
   * slowly. Undefined: no limit, for a client that is part of the engine.
   */
  readonly heard?: PaceLimits
}

const firstMessageLate = 4408
const tooMuch = 1008
const weighedBytes = 1024
/** Codes with which the other side closes a connection properly: RFC 6455, 7.4.1. */
const orderly = [1000, 1001, 1005]

interface Connection {
  /** A client that connects again has the same. */
  readonly address: string
  readonly open: (socket: MediaSocket) => MediaSession
  socket: UwsSocket | undefined
  session: MediaSession | undefined
  /** Runs until the first message. */
  deadline: NodeJS.Timeout | undefined
}

interface SocketRoute {
  readonly route: string
  /** The headers, in lower case, and whether the query, that `admit` needs. */
  readonly read: Pick<Endpoint<never>, "hasQuery" | "headers">
  readonly limits: SocketLimits
  /** See `Endpoint`. */
  readonly isSealed?: boolean
  /** Decides synchronously, so that no connection is kept open in the meantime. */
  readonly admit: (request: Pick<Asked, "headers" | "params" | "query">) => MediaAdmission
}

export const mountSockets = (app: uws.TemplatedApp, { admit, isSealed, limits, read, route }: SocketRoute): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { firstMessageMillis, idleSeconds, maxBufferedBytes, maxMessageBytes } = limits
    const heard = limits.heard && new Pace<string>(limits.heard)
    const isTooMuch = (address: string, bytes: number) =>
      heard?.takes(address, Math.max(1, bytes / weighedBytes), performance.now()) === false
    const hosts = isSealed === true ? undefined : yield* AllowedHosts
    const names = pathNames(route)
    app.ws<Connection>(route, {
      idleTimeout: idleSeconds,
      sendPingsAutomatically: true,
      maxPayloadLength: maxMessageBytes,
      maxBackpressure: maxBufferedBytes,
      upgrade: (res, req, context) => {
        const refused = refusedByHead(req, hosts)
        if (refused !== undefined) return refuseUpgrade(res, refused.reply, refused.closes)
        const admission = admit(requestParts(req, read, names))
        if (admission._tag === "Refused") return refuseUpgrade(res, failure(admission.status, "Not admitted"))
        const connection: Connection = {
          address: req.getUrl(),
          open: admission.open,
          socket: undefined,
          session: undefined,
          deadline: undefined
        }
        return res.upgrade<Connection>(
          connection,
          req.getHeader("sec-websocket-key"),
          "",
          // Without extensions: compressing costs more than it saves.
          "",
          context
        )
      },
      open: (ws) => {
        const connection = ws.getUserData()
        const socket = new UwsSocket(ws)
        connection.socket = socket
        connection.deadline = setTimeout(() => late(connection), firstMessageMillis)
        connection.session = connection.open(socket)
      },
      message: (ws, message, isBinary) => {
        const connection = ws.getUserData()
        if (connection.deadline !== undefined) began(connection)
        if (isTooMuch(connection.address, message.byteLength)) return flooded(connection)
        connection.session?.message(new Uint8Array(message), !isBinary)
      },
      close: (ws, code, message) => {
        const connection = ws.getUserData()
        connection.socket?.left()
        began(connection)
        connection.session?.closed(endOf(code, message), `the websocket was closed (${code})`)
      }
    })
  })

const began = (connection: Connection): void => {
  clearTimeout(connection.deadline)
  connection.deadline = undefined
}

const late = (connection: Connection): void => {
  const { session, socket } = connection
  connection.session = undefined
  session?.closed("failed", "the other side said nothing")
  socket?.close(firstMessageLate, "Nothing was said in time")
}

const flooded = (connection: Connection): void => {
  const { session, socket } = connection
  connection.session = undefined
  session?.closed("failed", "the other side said too much")
  socket?.close(tooMuch, "Too much was said")
}

const decoder = new TextDecoder()

/** For a timeout of the other side, uWebSockets' message is the only indication. */
const endOf = (code: number, message: ArrayBuffer): MediaEnd => {
  if (orderly.includes(code)) return "ended"
  return decoder.decode(message).includes("timed out") ? "failed" : "unknown"
}

/** Guards a websocket of uWebSockets, which must not be touched once it is closed. */
class UwsSocket implements MediaSocket {
  #ws: uws.WebSocket<Connection> | undefined

  constructor(ws: uws.WebSocket<Connection>) {
    this.#ws = ws
  }

  sendText(message: string | Uint8Array): boolean {
    return this.#send(message, false)
  }

  sendBytes(message: Uint8Array): boolean {
    return this.#send(message, true)
  }

  bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0
  }

  close(code: number, reason: string): void {
    const ws = this.#ws
    this.#ws = undefined
    ws?.end(code, reason)
  }

  left(): void {
    this.#ws = undefined
  }

  #send(message: string | Uint8Array, isBinary: boolean): boolean {
    // 2: dropped, because too much is already waiting.
    return this.#ws !== undefined && this.#ws.send(message, isBinary, false) !== 2
  }
}
