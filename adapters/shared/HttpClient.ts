/**
 * Requests to a provider. What matters is what a failure proves: whether the request can have reached the provider or not. Nothing is retried, no
 * redirect is followed, and no error contains a URL, because URLs contain phone numbers.
 */
import { writeSync } from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"
import { Clock, Effect, Schema, type Scope } from "effect"
import { type Egress, hostOf, portOf } from "#core/egress/Egress.ts"
import { parseBytes } from "./Json.ts"
import { whyFailed } from "./whyFailed.ts"

/** No byte of the request was written. `withdrawn`: because its sender no longer wanted it. */
export class NotSent extends Schema.TaggedError<NotSent>()("NotSent", { withdrawn: Schema.Boolean, detail: Schema.String }) {}
/** At least part of the request was written, and no reply came: the connection ended, or we stopped waiting. */
class ReplyLost extends Schema.TaggedError<ReplyLost>()("ReplyLost", { detail: Schema.String }) {}

export interface Reply {
  readonly status: number
  /** The parsed body; `undefined` if there is none or it is not JSON. */
  readonly body: unknown
  /** The value of the `Server` header. */
  readonly server: string
  /** The value of `Retry-After`, or of `waitHeader` in a 429, if there is one. */
  readonly retryAfterMillis: number | undefined
}
export type Outcome = Reply | NotSent | ReplyLost

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The whole path with its query, see `pathUnder`. */
  readonly path: string
  readonly body?: { readonly mediaType: string; readonly text: string }
  /** The longest reply that is read; 1 MiB unless given. */
  readonly maxBytes?: number
  /** The header in which the provider says with a 429, instead of in `Retry-After`, for how many seconds to wait. */
  readonly waitHeader?: string
  /** Called once, when the connection is established, right before the first byte. False: the request is destroyed unsent. */
  readonly leave?: () => boolean
}

export interface HttpClient {
  readonly send: (request: HttpRequest) => Effect.Effect<Reply, NotSent | ReplyLost>
  /**
   * For requests that must not be repeated. After a `ReplyLost` because no reply came in time, it still waits for a late reply: `settled` is called
   * once, with the final outcome. If interrupted before it was written, the request is destroyed. Uses separate connections, because requests that
   * hang would block others.
   */
  readonly place: (request: HttpRequest, settled: (outcome: Outcome) => void) => Effect.Effect<Reply, NotSent | ReplyLost>
  /** Makes later requests use new connections. */
  readonly renewConnections: () => void
}

interface Patience {
  /** Counted from the first byte of the request. */
  readonly replyMillis: number
  /** Additional time after that for a request that was written. */
  readonly lateMillis: number
}
const sendPatience: Patience = { replyMillis: 10_000, lateMillis: 0 }
const placePatience: Patience = { replyMillis: 15_000, lateMillis: 30_000 }

/** The limit for a connection, from the wait for a free one to the end of its handshake. */
const CONNECT_MILLIS = 10_000
const MAX_REPLY_BYTES = 1024 * 1024

/** A longer `Retry-After` is cut to this. */
const MAX_RETRY_AFTER_MILLIS = 3_600_000

interface HttpClientOptions {
  /** Names the server; its path is a prefix of every path. */
  readonly base: URL
  /** The value of the header `Authorization`, or what makes one for each request, given the time in epoch milliseconds. */
  readonly authorization?: string | ((at: number) => string) | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly egress: Egress
  /** For each of the two kinds of requests. */
  readonly maxSockets: number
  /** Shorter than the server keeps an idle connection: a request written at the moment when the server closes it would be lost. */
  readonly idleMillis: number
  /** After a request has been without a reply for this long, idle connections are no longer trusted. */
  readonly silenceMillis: number
}

export const makeHttpClient = ({
  authorization,
  base,
  egress,
  headers = {},
  idleMillis,
  maxSockets,
  silenceMillis
}: HttpClientOptions): Effect.Effect<HttpClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const secure = base.protocol === "https:"
    const options: http.AgentOptions = {
      keepAlive: true,
      lookup: egress.lookup(portOf(base)),
      maxFreeSockets: maxSockets,
      maxSockets,
      scheduling: "lifo",
      timeout: idleMillis
    }
    const newAgent = Effect.acquireRelease(
      Effect.sync(() => (secure ? new SecureAgent(options) : new http.Agent(options))),
      (agent) => Effect.sync(() => agent.destroy())
    )
    const clock = yield* Clock.Clock
    const authorize = typeof authorization === "function" ? () => authorization(clock.currentTimeMillisUnsafe()) : () => authorization
    const headersOf = () => (authorization === undefined ? headers : { authorization: authorize(), ...headers })
    const common = { base, egress, headersOf, secure, silenceMillis }
    const sendAgent = yield* newAgent
    const placeAgent = yield* newAgent
    return {
      renewConnections: () => {
        dropIdle(sendAgent)
        dropIdle(placeAgent)
      },
      send: (request) =>
        Effect.callback((resume) => {
          const answer = (outcome: Outcome) => resume(resultOf(outcome))
          const { giveUp } = exchange({ ...common, agent: sendAgent, patience: sendPatience, request, answer, settled: () => {} })
          return Effect.sync(giveUp)
        }),
      place: (request, settled) =>
        Effect.callback((resume) => {
          const answer = (outcome: Outcome) => resume(resultOf(outcome))
          const { withdraw } = exchange({ ...common, agent: placeAgent, patience: placePatience, request, answer, settled })
          return Effect.sync(withdraw)
        })
    }
  })

const resultOf = (outcome: Outcome): Effect.Effect<Reply, NotSent | ReplyLost> =>
  "status" in outcome ? Effect.succeed(outcome) : Effect.fail(outcome)

/** The path below the server's prefix. */
export const pathUnder = (base: URL, path: string): string => base.pathname.replace(/\/$/, "") + path

interface Start {
  readonly agent: http.Agent
  readonly base: URL
  readonly egress: Egress
  /** Makes the headers that authenticate a request; called for each request. */
  readonly headersOf: () => Readonly<Record<string, string | undefined>>
  readonly request: HttpRequest
  readonly secure: boolean
  readonly silenceMillis: number
  readonly patience: Patience
  /** Ends the wait, with the outcome or because there was none in time. */
  readonly answer: (outcome: Outcome) => void
  /** Called before `answer`, unless the outcome comes late. */
  readonly settled: (outcome: Outcome) => void
}

interface Exchange {
  /** Stops the request, whether it was written or not. */
  readonly giveUp: () => void
  /** Stops the request only if it was not written yet. */
  readonly withdraw: () => void
}

const exchange = ({ agent, answer, base, egress, headersOf, patience, request, secure, settled, silenceMillis }: Start): Exchange => {
  let sent = false
  let open = true
  const settle = (outcome: Outcome) => {
    if (!open) return
    open = false
    clearTimeout(timer)
    settled(outcome)
    answer(outcome)
  }
  const failure = (detail: string) => (sent ? new ReplyLost({ detail }) : new NotSent({ withdrawn: false, detail }))
  const stop = (outcome: Outcome) => {
    // The connection of a finished request may already carry the next one.
    if (!open) return
    settle(outcome)
    outgoing.destroy()
  }
  const giveUp = () => stop(failure(sent ? "no reply in time" : "no connection in time"))
  const withdraw = () => {
    if (!sent) stop(new NotSent({ withdrawn: true, detail: "withdrawn" }))
  }
  const replyIsLate = () => {
    if (patience.lateMillis === 0) return giveUp()
    answer(failure("no reply in time"))
    timer = setTimeout(giveUp, patience.lateMillis)
  }
  const isSilent = () => {
    dropIdle(agent)
    timer = setTimeout(replyIsLate, patience.replyMillis - silenceMillis)
  }
  let timer = setTimeout(giveUp, CONNECT_MILLIS)

  const outgoing = begin({ agent, base, headersOf, request, secure })
  const leave = (socket: Socket) => {
    // The connection broke while the request waited; an error event follows.
    if (!open || !socket.writable) return
    beforeNextWrite(socket, () => {
      clearTimeout(timer)
      timer = setTimeout(isSilent, silenceMillis)
      sent = request.leave?.() !== false
      if (!sent) withdraw()
      return sent
    })
    outgoing.end(request.body?.text)
  }
  outgoing.on("socket", (socket) => {
    egress.pace?.(socket)
    if (isReady(socket)) return leave(socket)
    socket.once(secure ? "secureConnect" : "connect", () => leave(socket))
  })
  outgoing.on("error", (error: NodeJS.ErrnoException) => settle(failure(whyFailed(error, "connection failed"))))
  outgoing.on("response", (response) => collect(response, request, settle))
  return { giveUp, withdraw }
}

/**
 * Calls `mayWrite` once, right before the next bytes go to the kernel, or to TLS. False: they are dropped, and the socket must be destroyed.
 * If the process is killed between the journal entry and the first byte, a call is in doubt that nobody received. At 100 calls per second, each
 * hundredth of a millisecond in between makes that one kill in a thousand, so the bytes are prepared first, and written past the stream.
 */
const beforeNextWrite = (socket: Socket, mayWrite: () => boolean): void => {
  const guarded = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    // Restores the methods of the class.
    Reflect.deleteProperty(socket, "_write")
    Reflect.deleteProperty(socket, "_writev")
    const fd = descriptorOf(socket)
    if (!mayWrite()) return done()
    const written = fd === undefined ? 0 : writeNow(fd, bytes)
    if (written === bytes.length) return done()
    // The cast holds because a stream passes "buffer" with bytes; the type lists only text encodings.
    socket._write(bytes.subarray(written), "buffer" as BufferEncoding, done)
  }
  socket._write = (chunk, encoding, done) => guarded(bytesOf({ chunk, encoding }), done)
  socket._writev = (chunks, done) => guarded(Buffer.concat(chunks.map(bytesOf)), done)
}

const bytesOf = ({ chunk, encoding }: { readonly chunk: string | Buffer; readonly encoding: BufferEncoding }): Buffer =>
  typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk

/** Only for plain TCP, and only where the operating system has descriptors. */
const descriptorOf = (socket: Socket): number | undefined => {
  if (socket instanceof TLSSocket || !("_handle" in socket)) return undefined
  const { _handle: handle } = socket
  const fd = handle instanceof Object && "fd" in handle ? handle.fd : undefined
  return typeof fd === "number" && fd >= 0 ? fd : undefined
}

/** Returns how many bytes the kernel took: 0 if it has no room, or if the connection is broken, which the stream then finds out itself. */
const writeNow = (fd: number, bytes: Buffer): number => {
  try {
    return writeSync(fd, bytes)
  } catch {
    return 0
  }
}

/** Closes idle connections, because whatever froze one connection may have frozen them too. */
const dropIdle = ({ freeSockets }: http.Agent): void => {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/** TLS connections whose handshake is complete. A request may inherit a connection from a withdrawn one before that. */
const handshaken = new WeakSet<Duplex>()
const isReady = (socket: Socket): boolean => !socket.connecting && (!(socket instanceof TLSSocket) || handshaken.has(socket))

class SecureAgent extends https.Agent {
  override createConnection(...given: Parameters<https.Agent["createConnection"]>) {
    const socket = super.createConnection(...given)
    socket?.once("secureConnect", () => handshaken.add(socket))
    return socket
  }
}

/** Nothing is written before `end` is called on the request. */
const begin = ({ agent, base, headersOf, request, secure }: Pick<Start, "agent" | "base" | "headersOf" | "request" | "secure">) => {
  const { body } = request
  return (secure ? https : http).request({
    agent,
    host: hostOf(base),
    port: portOf(base),
    method: request.method,
    path: request.path,
    headers: {
      ...headersOf(),
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": body.mediaType, "content-length": Buffer.byteLength(body.text) })
    }
  })
}

/** A reply whose body is cut off or too long still has its status. */
const collect = (
  response: http.IncomingMessage,
  { maxBytes = MAX_REPLY_BYTES, waitHeader = "" }: HttpRequest,
  settle: (reply: Reply) => void
): void => {
  const head = {
    status: response.statusCode ?? 0,
    server: String(response.headers.server ?? ""),
    retryAfterMillis: retryAfterOf(response.headers) ?? (response.statusCode === 429 ? secondsOf(response.headers[waitHeader]) : undefined)
  }
  const parts: Array<Buffer> = []
  let length = 0
  response.on("data", (part: Buffer) => {
    length += part.length
    if (length > maxBytes) response.destroy()
    else parts.push(part)
  })
  response.on("end", () => settle({ ...head, body: parseBytes(Buffer.concat(parts)) }))
  response.on("error", () => {})
  response.on("close", () => settle({ ...head, body: undefined }))
}

/** `Retry-After` in milliseconds: it holds seconds, or a date, which is relative to the reply's own `Date`. */
export const retryAfterOf = ({ date, "retry-after": retryAfter }: http.IncomingHttpHeaders): number | undefined => {
  if (retryAfter === undefined) return undefined
  const millis = /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.parse(date ?? "")
  return Number.isFinite(millis) ? Math.min(Math.max(millis, 0), MAX_RETRY_AFTER_MILLIS) : undefined
}

const secondsOf = (seconds: string | ReadonlyArray<string> | undefined): number | undefined =>
  typeof seconds === "string" && /^[0-9]{1,9}$/.test(seconds) ? Math.min(Number(seconds) * 1000, MAX_RETRY_AFTER_MILLIS) : undefined
