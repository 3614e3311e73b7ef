/**
 * The websockets that carriers have opened for the audio of calls. A socket may be opened before its call is answered, and a call may get
 * another one in mid-conversation: the newest stream counts, and ends the previous one. All audio messages pass through here, so these are plain
 * callbacks.
 *
 * When the carrier ends the newest stream, the local journal is told at once, even before the answer is reported or anybody listens: if the
 * process is then killed, the record shows that the callee hung up, and not that the engine left them alone.
 */
import { Clock, Context, Effect, FiberSet, Layer } from "effect"
import type { CallId } from "#core/Id.ts"
import type { MediaSession } from "#core/provider/CarrierMedia.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { MediaProtocol, MediaSocket } from "#core/provider/MediaSocket.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"

/** If a carrier keeps reconnecting, its oldest sockets are closed. */
const MOST_SOCKETS = 4

/** WebSocket close codes: RFC 6455, and one from its private range. */
const NORMAL = 1000
const BAD_MESSAGE = 4400

export class MediaSockets extends Context.Service<
  MediaSockets,
  {
    /** A socket for the call has been opened. It is closed if `accept` throws. */
    readonly open: (callId: CallId, accept: (socket: MediaSocket) => MediaProtocol, socket: MediaSocket) => MediaSession
    /** Sets the call's only listener. It is called with the current stream, if any, and with every later one. */
    readonly listen: (callId: CallId, listener: (stream: MediaStream) => void) => void
    /** Closes the call's sockets. */
    readonly forget: (callId: CallId) => void
  }
>()("runtime/call/MediaSockets") {
  static readonly layer = Layer.effect(
    MediaSockets,
    Effect.gen(function* () {
      const fork = yield* FiberSet.makeRuntime()
      const ports = { clock: yield* Clock.Clock, journal: yield* LocalJournal, warn: (warning: Effect.Effect<void>) => void fork(warning) }
      const calls = new Map<CallId, CallMedia>()
      const mediaOf = (callId: CallId): CallMedia => {
        const media = calls.get(callId) ?? new CallMedia(callId, ports)
        calls.set(callId, media)
        return media
      }
      return {
        open: (callId, accept, socket) => mediaOf(callId).open(accept, socket),
        listen: (callId, listener) => mediaOf(callId).listen(listener),
        forget: (callId) => {
          calls.get(callId)?.close()
          calls.delete(callId)
        }
      }
    })
  )
}

interface Ports {
  readonly clock: Clock.Clock
  readonly journal: Pick<LocalJournal["Service"], "muted">
  readonly warn: (warning: Effect.Effect<void>) => void
}

class CallMedia {
  readonly #callId: CallId
  readonly #ports: Ports
  readonly #sessions = new Set<Session>()
  #current: Session | undefined
  #stream: MediaStream | undefined
  #listener: ((stream: MediaStream) => void) | undefined

  constructor(callId: CallId, ports: Ports) {
    this.#callId = callId
    this.#ports = ports
  }

  listen(listener: (stream: MediaStream) => void): void {
    this.#listener = listener
    if (this.#stream !== undefined) listener(this.#stream)
  }

  open(accept: (socket: MediaSocket) => MediaProtocol, socket: MediaSocket): MediaSession {
    const [oldest] = this.#sessions
    if (oldest !== undefined && this.#sessions.size >= MOST_SOCKETS) oldest.end("replaced", "too many sockets")
    const session = new Session(this, socket)
    this.#sessions.add(session)
    session.begin(accept)
    return session
  }

  started(session: Session, stream: MediaStream): void {
    const before = this.#current
    this.#current = session
    this.#stream = stream
    before?.end("replaced", "the call has a newer stream")
    if (before !== undefined) this.#ports.journal.muted(this.#callId, undefined)
    this.#listener?.(stream)
  }

  left(session: Session): void {
    this.#sessions.delete(session)
  }

  /** The carrier has ended the session. */
  ended(session: Session): void {
    const { clock, journal } = this.#ports
    if (session === this.#current) journal.muted(this.#callId, clock.currentTimeMillisUnsafe())
  }

  /** The error's message is not logged: it may quote what the carrier sent. */
  failed(error: unknown): void {
    const { name } = error instanceof Error ? error : { name: "unknown" }
    this.#ports.warn(
      Effect.annotateLogs(Effect.logWarning("a carrier's media message could not be read", { error: name }), { callId: this.#callId })
    )
  }

  close(): void {
    for (const session of this.#sessions) session.end("ended", "the call is over")
  }
}

class Session implements MediaSession {
  readonly #media: CallMedia
  readonly #socket: MediaSocket
  #protocol: MediaProtocol | undefined
  #isOver = false

  constructor(media: CallMedia, socket: MediaSocket) {
    this.#media = media
    this.#socket = socket
  }

  begin(accept: (socket: MediaSocket) => MediaProtocol): void {
    try {
      this.#protocol = accept(this.#socket)
    } catch (error) {
      this.#fail(error)
    }
  }

  message(data: Uint8Array, isText: boolean): void {
    if (this.#isOver) return
    // Not `Result.try`, which would allocate for every message.
    try {
      const stream = this.#protocol?.message(data, isText)
      if (stream !== undefined) this.#media.started(this, stream)
    } catch (error) {
      this.#fail(error)
    }
  }

  closed(how: MediaEnd, why: string): void {
    if (this.#isOver) return
    if (how !== "failed") this.#media.ended(this)
    this.#over(how, why)
  }

  #over(how: MediaEnd, why: string): void {
    this.#isOver = true
    this.#media.left(this)
    try {
      this.#protocol?.closed(how, why)
    } catch (error) {
      this.#media.failed(error)
    }
  }

  /** Ends the session from our side. */
  end(how: MediaEnd, why: string, code = NORMAL): void {
    if (this.#isOver) return
    this.#over(how, why)
    this.#socket.close(code, why)
  }

  #fail(error: unknown): void {
    this.#media.failed(error)
    this.end("failed", "a message could not be read", BAD_MESSAGE)
  }
}
