/**
 * Websockets that carriers open for the audio of calls, 50 messages a second and way each. Whether one is admitted is decided at once, and without
 * shedding load: a callee is on the line. A socket costs its call alone: it is bounded in the size of messages, in what waits to be sent, and in
 * the time until its first message.
 */
import { Effect } from "effect"
import type * as uws from "uWebSockets.js"
import { CarrierMedia, MEDIA_ROUTE, type MediaSession } from "#core/provider/CarrierMedia.ts"
import type { MediaEnd } from "#core/provider/Media.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import { AllowedHosts, refusedByHead } from "./admission.ts"
import { pathNames, requestParts } from "./requestParts.ts"

/** Carriers send 20 ms in a message of less than a kilobyte. */
const maxMessageBytes = 65_536
/** About two seconds of audio. What comes on top is dropped: heard late, it would be in the way. */
const maxBufferedBytes = 32_768

interface MediaLimits {
  /** A carrier that is silent is asked for a sign of life, and cut off after this. */
  readonly idleSeconds: number
  /** Until its first message. */
  readonly firstMessageMillis: number
}
const defaultLimits: MediaLimits = { idleSeconds: 12, firstMessageMillis: 10_000 }

const firstMessageLate = 4408
/** Codes with which the other side ends a connection in order: RFC 6455, 7.4.1. */
const orderly = [1000, 1001, 1005]

interface Connection {
  readonly open: (socket: MediaSocket) => MediaSession
  socket: UwsMediaSocket | undefined
  session: MediaSession | undefined
  /** Runs until the first message. */
  deadline: NodeJS.Timeout | undefined
}

/** `headers`: those that any carrier's signature needs, in lower case. */
export const mountMediaSockets = (
  app: uws.TemplatedApp,
  headers: ReadonlyArray<string>,
  { firstMessageMillis, idleSeconds }: MediaLimits = defaultLimits
): Effect.Effect<void, never, CarrierMedia> =>
  Effect.gen(function* () {
    const { admit } = yield* CarrierMedia
    const hosts = yield* AllowedHosts
    const names = pathNames(MEDIA_ROUTE)
    const read = { headers, hasQuery: true }
    app.ws<Connection>(MEDIA_ROUTE, {
      idleTimeout: idleSeconds,
      sendPingsAutomatically: true,
      maxPayloadLength: maxMessageBytes,
      maxBackpressure: maxBufferedBytes,
      upgrade: (res, req, context) => {
        const refused = refusedByHead(req, hosts)
        if (refused !== undefined) return void res.writeStatus(`${refused.reply.status} `).end("", true)
        const { headers, params, query } = requestParts(req, read, names)
        const { call = "", seal = "" } = params
        const admission = admit({ address: { call, seal }, headers, query })
        if (admission._tag === "Refused") return void res.writeStatus(`${admission.status} `).end("", true)
        const connection: Connection = { open: admission.open, socket: undefined, session: undefined, deadline: undefined }
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
        const socket = new UwsMediaSocket(ws)
        connection.socket = socket
        connection.deadline = setTimeout(() => late(connection), firstMessageMillis)
        connection.session = connection.open(socket)
      },
      message: (ws, message, isBinary) => {
        const connection = ws.getUserData()
        if (connection.deadline !== undefined) began(connection)
        connection.session?.message(new Uint8Array(message), !isBinary)
      },
      close: (ws, code, message) => {
        const connection = ws.getUserData()
        connection.socket?.left()
        began(connection)
        connection.session?.closed(endOf(code, message), `the media websocket was closed (${code})`)
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
  session?.closed("failed", "the carrier said nothing")
  socket?.close(firstMessageLate, "Nothing was said in time")
}

const decoder = new TextDecoder()

/** The server says in words when the other side did not answer for too long. */
const endOf = (code: number, message: ArrayBuffer): MediaEnd => {
  if (orderly.includes(code)) return "ended"
  return decoder.decode(message).includes("timed out") ? "failed" : "unknown"
}

/** A closed websocket of uWebSockets must not be touched any more. */
class UwsMediaSocket implements MediaSocket {
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
    // 2: dropped, because too much is waiting already.
    return this.#ws !== undefined && this.#ws.send(message, isBinary, false) !== 2
  }
}
