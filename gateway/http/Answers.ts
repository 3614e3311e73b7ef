/**
 * Writes the answers of requests: each at most once, inside `cork`, and never after an abort. What a client does not take for now is not given to
 * uWebSockets, which would buffer it, but waits here; meanwhile, uWebSockets closes the connection if it brings another request. So a client that
 * reads nothing costs no more than one answer.
 */
import { type Cause, type Clock, Effect, Exit, type Fiber, Stream } from "effect"
import { nowOf } from "#core/SteadyTime.ts"
import { BodyWriter } from "./BodyWriter.ts"
import { type Endless, type Flow, isWhole, type Reply, type Told } from "./Endpoint.ts"
import type { Exchange } from "./Exchange.ts"
import { HeldTexts } from "./HeldTexts.ts"
import type { LiveExchanges } from "./LiveExchanges.ts"
import type { HeadWriter } from "./responseHead.ts"
import { hasRoom, mayGoUnchecked, pieceTurn } from "./turn.ts"

interface AnswersOptions {
  readonly live: LiveExchanges
  readonly writeHead: HeadWriter
  readonly runFork: <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>
  readonly clock: Clock.Clock
  /** How long a client may take nothing of an answer. */
  readonly answerMillis: number
}

export class Answers {
  /** Clients are to open another connection for their next request. */
  isLeaving = false
  readonly #options: AnswersOptions
  readonly #held = new HeldTexts()

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** The first answer counts. `closes`: the connection ends with it, and nothing that follows on it is read. */
  send(exchange: Exchange, reply: Reply, closes = false): void {
    if (exchange.isOver || exchange.isDecided) return
    exchange.isDecided = true
    if (!closes && hasRoom()) return this.#write(exchange, reply, closes)
    this.#options.live.keep(exchange)
    setImmediate(() => this.#write(exchange, reply, closes))
  }

  /** The answer ends early: closing the connection is the only way to tell the client. */
  cutOff(exchange: Exchange): void {
    this.#options.live.leave(exchange)
    exchange.res.close()
  }

  report(message: string, { metrics: { method, route }, id }: Exchange, cause: Cause.Cause<unknown>): void {
    this.#options.runFork(Effect.logError(message, cause).pipe(Effect.annotateLogs({ requestId: id, route: `${method} ${route}` })))
  }

  #write(exchange: Exchange, answer: Reply, closes: boolean): void {
    if (exchange.isOver) return
    const { isHead, res } = exchange
    this.#count(exchange, answer.status)
    const isLeaving = this.isLeaving || this.#options.live.isDraining
    const reply = isLeaving && !closes ? { ...answer, headers: [...answer.headers, leaving] } : answer
    const { body } = reply
    const bytes = bytesOf(body)
    if (closes || (isHead && bytes === undefined)) return this.#writeUnchecked(exchange, reply, closes)
    const isLong = !isWhole(body) || body.length > pieceBytes
    if (bytes === undefined || (isLong && !isHead && bytes > 0)) return this.#stream(exchange, reply)
    if (exchange.isCorked) this.#writeShort(exchange, reply, bytes)
    else res.cork(() => this.#writeShort(exchange, reply, bytes))
  }

  #writeShort(exchange: Exchange, reply: Reply, bytes: number): void {
    const { isHead, res } = exchange
    this.#writeHead(exchange, reply)
    const { body } = reply
    const whole = isHead || !isWhole(body) ? "" : body
    const [isTaken, isDone] = res.tryEnd(whole, bytes)
    // All that is sent of an answer to HEAD is out.
    if (isHead && isTaken && !isDone) res.endWithoutBody()
    if (isDone || (isHead && isTaken)) return this.#options.live.leave(exchange)
    const rest = (typeof whole === "string" ? Buffer.from(whole) : whole).subarray(res.getWriteOffset())
    const done = () => this.#options.live.leave(exchange)
    this.#finish(exchange, typeof whole === "string" ? rest.byteLength : 0, (writer) =>
      isHead ? writer.endHead(bytes, done) : writer.writePart(rest, bytes, done)
    )
  }

  #writeUnchecked(exchange: Exchange, reply: Reply, closes: boolean): void {
    if (!mayGoUnchecked()) return this.cutOff(exchange)
    const { isHead, res } = exchange
    this.#options.live.leave(exchange)
    res.cork(() => {
      this.#writeHead(exchange, reply)
      if (closes) res.end(isHead || !isWhole(reply.body) ? "" : reply.body, true)
      else res.endWithoutBody()
    })
  }

  #stream(exchange: Exchange, reply: Reply): void {
    const { body } = reply
    const { bytes, endless, stream } = isWhole(body) ? flowOfBytes(typeof body === "string" ? Buffer.from(body) : body) : body
    exchange.res.cork(() => this.#writeHead(exchange, reply))
    const done = () => this.#options.live.leave(exchange)
    this.#finish(exchange, typeof body === "string" ? (bytes ?? 0) : 0, (writer) => {
      const written = Stream.runForEach(stream, (chunk) => {
        this.#prolong(exchange)
        return bytes === undefined ? writer.writeChunk(chunk) : Effect.andThen(pieceTurn, writer.writePart(chunk, bytes, done))
      })
      const ended = Effect.sync(() => {
        if (exchange.isOver || bytes !== undefined) return
        done()
        exchange.res.cork(() => exchange.res.end())
      })
      return Effect.andThen(endless === undefined ? written : this.#tell(exchange, writer, endless, written), ended)
    })
  }

  #tell(exchange: Exchange, writer: BodyWriter, endless: Endless, begun: Effect.Effect<void, unknown>): Effect.Effect<void, unknown> {
    const { every, bytes } = endless.heartbeat
    const client: Told = {
      write: (chunk) => {
        this.#prolong(exchange)
        return writer.writeChunk(chunk)
      },
      writeNow: (chunk) => {
        const isWritten = writer.writeNow(chunk)
        if (isWritten) this.#prolong(exchange)
        return isWritten
      }
    }
    const beat = Effect.sync(() => void client.writeNow(bytes))
    const beats = Effect.forever(Effect.andThen(Effect.sleep(every), beat))
    return Effect.raceAllFirst([Effect.andThen(begun, endless.tell(client)), endless.until, beats])
  }

  /** Writes the body, or the rest of it, as fast as the client takes it. `held`: how many bytes of text wait with it. */
  #finish(exchange: Exchange, held: number, write: (writer: BodyWriter) => Effect.Effect<void, unknown>): void {
    this.#options.live.keep(exchange)
    const release = this.#held.hold(exchange.res, held)
    if (release === undefined) return this.cutOff(exchange)
    this.#prolong(exchange)
    const writer = new BodyWriter(exchange, () => this.#prolong(exchange))
    exchange.writer = writer
    const fiber = this.#options.runFork(Effect.exit(write(writer)))
    exchange.fiber = fiber
    fiber.addObserver((exit) => {
      release()
      if (exchange.isOver) return
      this.cutOff(exchange)
      if (Exit.isSuccess(exit) && Exit.isFailure(exit.value)) this.report("answer cut off", exchange, exit.value.cause)
    })
  }

  #writeHead({ id, isPaused, origin, res }: Exchange, reply: Reply): void {
    this.#options.writeHead(res, id, reply, origin)
    // A client that still waits to send the rest of its body would not read the answer.
    if (isPaused && isWhole(reply.body)) res.resume()
  }

  #prolong(exchange: Exchange): void {
    exchange.deadline = nowOf(this.#options.clock) + this.#options.answerMillis
  }

  #count({ beganAt, metrics, trace }: Exchange, status: number): void {
    metrics.answered(status)
    trace?.ended(status)
    if (beganAt !== undefined) metrics.seconds.observe(Number(this.#options.clock.monotonicTimeNanosUnsafe() - beganAt) / 1e9)
  }
}

const leaving = ["connection", "close"] as const

/** As much as is written at once. */
const pieceBytes = 65_536

const bytesOf = (body: Reply["body"]): number | undefined => {
  if (typeof body === "string") return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : body.bytes
}

/** Sends it in pieces, between which others are answered. */
const flowOfBytes = (bytes: Uint8Array): Flow => {
  const starts = Array.from({ length: Math.ceil(bytes.byteLength / pieceBytes) }, (_, at) => at * pieceBytes)
  const stream = Stream.fromIterable(starts).pipe(Stream.map((from) => bytes.subarray(from, from + pieceBytes)))
  return { bytes: bytes.byteLength, stream }
}
