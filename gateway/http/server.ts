/**
 * The HTTP server on uWebSockets. A request is copied out of uWebSockets' memory before the first asynchronous step. An answer that is known
 * at once is written without a fiber; otherwise the request is one fiber, which is interrupted when the client goes away, when it takes too
 * long, and finally when the server closes. An answer is written at most once, inside `cork`, and never after an abort.
 */
import { Cause, Clock, Effect, Exit, type Fiber, Layer, Schedule, Stream, Tracer } from "effect"
import { setImmediate as nextTurn } from "node:timers/promises"
import * as uws from "uWebSockets.js"
import { nowOf } from "#core/SteadyTime.ts"
import { AllowedHosts, AllowedOrigins, refusedByHead } from "./admission.ts"
import { Answers } from "./Answers.ts"
import { bodyStream } from "./BodyStream.ts"
import { Closing } from "./Closing.ts"
import { type Exchange, exchangeOf } from "./Exchange.ts"
import type { Network } from "#core/egress/Network.ts"
import { type Client, type Proxies, proxiesOf } from "./Client.ts"
import { LiveExchanges } from "./LiveExchanges.ts"
import { clientOf, pathNames, queryOf, requestParts } from "./requestParts.ts"
import { type Asked, type Endpoint, failure, type Reply, shuttingDown, timedOut, tooLarge } from "./Endpoint.ts"
import { headWriterFor } from "./responseHead.ts"
import { DecidingEngine, PASSED_BY } from "#core/node/DecidingEngine.ts"
import { CurrentHttpMetrics, type HttpMetrics, type RouteMetrics } from "#gateway/ports/HttpMetrics.ts"
import { CurrentRequestTraces } from "#gateway/ports/RequestTraces.ts"
import { resolved } from "./resolved.ts"
import { defaultLimits, type Limits } from "./Limits.ts"
import { openDoors } from "./doors.ts"
import type { ListenFailed } from "./listening.ts"
import { Gateway } from "./Gateway.ts"
import { type Handler, register } from "./register.ts"
import { strayReply, straysOf } from "./routing.ts"

interface ServerOptions<R> {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Whether any free port will do while this one is taken. */
  readonly mayWait?: boolean
  readonly endpoints: ReadonlyArray<Endpoint<R>>
  readonly limits?: Partial<Limits>
  /** Proxies whose `X-Forwarded-For` is trusted; without them, none. */
  readonly trustedProxies?: ReadonlyArray<Network> | undefined
  readonly mount?: ((app: uws.TemplatedApp) => Effect.Effect<void, never, R>) | undefined
}

/** The body that arrived in these pieces. */
const wholeOf = (chunks: ReadonlyArray<Buffer>): Buffer => {
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
}

export const layer = <R>(options: ServerOptions<R>): Layer.Layer<Gateway, ListenFailed, R | Closing> =>
  Layer.effect(
    Gateway,
    Effect.gen(function* () {
      const context = yield* Effect.context<R | Closing>()
      const runFork = Effect.runForkWith(context)
      const clock = yield* Clock.Clock
      const limits = { ...defaultLimits, ...options.limits }
      const admission = {
        deciding: yield* DecidingEngine,
        hosts: yield* AllowedHosts,
        origins: yield* AllowedOrigins,
        traces: yield* CurrentRequestTraces
      }
      const server = new UwsServer({ ...options, ...admission }, limits, runFork, clock, yield* CurrentHttpMetrics)
      yield* Effect.sync(server.sweep).pipe(Effect.repeat(Schedule.spaced(Math.min(1000, limits.answerMillis / 4))), Effect.forkScoped)
      if (options.mount !== undefined) yield* options.mount(server.app)
      const doors = yield* openDoors(server.app, options)
      yield* Effect.addFinalizer(() => close(server, doors.shut, limits.drainMillis))
      const leave = Effect.gen(function* () {
        const port = yield* doors.move
        server.answerCallsOnly()
        yield* Closing.begin
        return port
      })
      return { arrive: doors.arrive, host: options.host, leave: Effect.provideContext(leave, context), port: doors.port }
    })
  )

const close = (server: Server, shut: () => void, drainMillis: number) =>
  Effect.gen(function* () {
    shut()
    yield* Effect.all([Closing.begin, server.live.drain, Closing.ended]).pipe(Effect.timeoutOption(drainMillis))
    yield* server.live.interruptAll
    yield* Effect.promise(() => nextTurn())
    // Only idle connections and answers that nobody reads are left.
    server.app.close()
  })

type RunFork<R> = <A>(effect: Effect.Effect<A, never, R>) => Fiber.Fiber<A>

interface Server {
  readonly app: uws.TemplatedApp
  readonly live: LiveExchanges
  /** Answers requests that have taken too long. */
  readonly sweep: () => void
  /** Answers only requests for calls from now on, and closes their connections. */
  readonly answerCallsOnly: () => void
}

interface Admission {
  readonly deciding: typeof DecidingEngine.Service
  readonly hosts: (typeof AllowedHosts)["Service"]
  readonly origins: (typeof AllowedOrigins)["Service"]
  readonly traces: (typeof CurrentRequestTraces)["Service"]
}

/** Routes that require a key list this header. */
const keyHeader = "x-api-key"

class UwsServer<R> implements Server {
  readonly app = uws.App()
  readonly live = new LiveExchanges()
  private readonly answers: Answers
  private readonly limits: Limits
  private readonly runFork: RunFork<R>
  private readonly clock: Clock.Clock
  private readonly proxies: Proxies
  private readonly admission: Admission

  constructor(options: ServerOptions<R> & Admission, limits: Limits, runFork: RunFork<R>, clock: Clock.Clock, metrics: HttpMetrics) {
    this.limits = limits
    this.runFork = runFork
    this.clock = clock
    this.proxies = proxiesOf(options.trustedProxies ?? [])
    this.admission = options
    const writeHead = headWriterFor(options.origins)
    this.answers = new Answers({ answerMillis: limits.answerMillis, clock, live: this.live, runFork, writeHead })
    const { endpoints } = options
    for (const endpoint of endpoints) {
      const { method, path } = endpoint
      register(this.app, endpoint, this.enter(endpoint, metrics.of(method.toUpperCase(), path), false))
      if (method === "get") this.app.head(path, this.enter(endpoint, metrics.of("HEAD", path), true))
    }
    const stray = straysOf(endpoints)
    const lost = (res: uws.HttpResponse, req: uws.HttpRequest): void => {
      const method = req.getMethod()
      const start = { metrics: metrics.ofStray(method), isHead: method === "head", deadline: 0, isComplete: true }
      const exchange = this.begin(res, req, start, false)
      if (exchange === undefined) return
      const wanted = req.getHeader("access-control-request-headers")
      this.answers.send(exchange, strayReply(stray(method, req.getUrl()), { method, path: req.getUrl(), query: queryOf(req), wanted }))
    }
    // The first pattern does not match the root.
    this.app.any("/*", lost).any("/", lost)
  }

  readonly sweep = (): void => {
    const at = this.now()
    for (const exchange of this.live.all) {
      if (exchange.deadline > at) {
        exchange.writer?.holdOpen()
        continue
      }
      if (exchange.writer !== undefined) this.answers.cutOff(exchange)
      else this.answers.send(exchange, exchange.isComplete ? timedOut : failure(408, "The request body took too long"))
      exchange.fiber?.interruptUnsafe()
    }
  }

  readonly answerCallsOnly = (): void => {
    this.answers.isLeaving = true
  }

  private now(): number {
    return nowOf(this.clock)
  }

  private enter(endpoint: Endpoint<R>, metrics: RouteMetrics, isHead: boolean): Handler {
    const names = pathNames(endpoint.path)
    const millis = { none: this.limits.answerMillis, bytes: this.limits.bodyMillis, stream: this.limits.uploadMillis }[endpoint.body]
    return (res, req) => {
      const { headers, params, query } = requestParts(req, endpoint, names)
      const start = { metrics, isHead, deadline: this.now() + millis, isComplete: endpoint.body === "none" }
      const isExempt = endpoint.isSealed === true || keyHeader in headers || "authorization" in headers
      const exchange = this.begin(res, req, start, isExempt)
      if (exchange === undefined) return
      exchange.trace = this.admission.traces?.request(metrics.method, metrics.route, req.getHeader("traceparent"))
      if (this.live.isDraining || (this.answers.isLeaving && endpoint.isForCalls !== true)) return this.answers.send(exchange, shuttingDown)
      const client = this.namedClientOf(exchange, req) ?? clientOf(exchange, req, this.proxies)
      const asked: Asked = { id: exchange.id, params, query, headers, client, bytes: noBytes, stream: Stream.empty }
      const bodyBytes = endpoint.body === "none" ? 0 : Number(req.getHeader("content-length") || Number.NaN)
      const refusal = bodyBytes > endpoint.bodyLimit ? tooLarge(endpoint.bodyLimit) : endpoint.refusal(headers, client, bodyBytes)
      if (refusal !== undefined) return this.answers.send(exchange, refusal)
      // Without a body to wait for, the answer may be out at once.
      if (endpoint.body === "none") this.answer(exchange, endpoint, asked)
      if (!exchange.isOver) this.live.keep(exchange)
      if (endpoint.body === "none") return
      return endpoint.body === "stream" ? this.receiveStream(exchange, endpoint, asked) : this.receiveBytes(exchange, endpoint, asked)
    }
  }

  /** The client of another engine, which passes its request on. */
  private namedClientOf({ id }: Exchange, req: uws.HttpRequest): Client | undefined {
    const passedBy = req.getHeader(PASSED_BY)
    const address = passedBy === "" ? undefined : this.admission.deciding.clientOf(passedBy, id)
    return address === undefined ? undefined : { address, isPassedOn: true }
  }

  /**
   * Undefined: the request was refused by its head, and answered. `isExempt`: the host name is not checked, because a page that reaches us by
   * DNS rebinding has neither a credential nor a sealed address; proxies often send a name of their own.
   */
  private begin(res: uws.HttpResponse, req: uws.HttpRequest, start: Start, isExempt: boolean): Exchange | undefined {
    const { hosts, origins } = this.admission
    const exchange = exchangeOf(res, req, { ...start, origin: origins === undefined ? "" : req.getHeader("origin") })
    const refused = refusedByHead(req, isExempt ? undefined : hosts)
    if (refused === undefined) return exchange
    this.answers.send(exchange, refused.reply, refused.closes)
    return undefined
  }

  private receiveBytes(exchange: Exchange, endpoint: Endpoint<R>, asked: Asked): void {
    const chunks: Array<Buffer> = []
    let received = 0
    exchange.res.onData((chunk, isLast) => {
      exchange.isComplete = isLast
      if (exchange.isDecided) return
      received += chunk.byteLength
      if (received > endpoint.bodyLimit) return this.answers.send(exchange, tooLarge(endpoint.bodyLimit))
      if (chunks.length > fewChunks && received < chunks.length * leastOfChunk) return this.answers.send(exchange, tooManyChunks, true)
      // Copied: the chunk is emptied when this function returns.
      chunks.push(Buffer.from(new Uint8Array(chunk)))
      if (!isLast) return
      exchange.deadline = this.now() + this.limits.answerMillis
      this.answer(exchange, endpoint, { ...asked, bytes: wholeOf(chunks) })
    })
  }

  private receiveStream(exchange: Exchange, endpoint: Endpoint<R>, asked: Asked): void {
    const { res } = exchange
    const body = bodyStream(endpoint.bodyLimit, {
      pause: () => {
        exchange.isPaused = true
        res.pause()
      },
      resume: () => {
        exchange.isPaused = false
        if (!exchange.isOver) res.resume()
      }
    })
    res.onData((chunk, isLast) => {
      exchange.isComplete = isLast
      if (!exchange.isDecided) body.push(chunk, isLast)
    })
    this.answer(exchange, endpoint, { ...asked, stream: body.stream })
  }

  private answer(exchange: Exchange, endpoint: Endpoint<R>, asked: Asked): void {
    const answer = begun(endpoint, asked)
    const now = resolved(answer)
    if (now !== undefined) return this.answers.send(exchange, now.value)
    exchange.beganAt = this.clock.monotonicTimeNanosUnsafe()
    const { trace } = exchange
    const fiber = this.runFork(trace === undefined ? answer : Effect.provideService(answer, Tracer.ParentSpan, trace.span))
    exchange.fiber = fiber
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) return this.answers.send(exchange, exit.value)
      // Everything else that interrupts a request has answered it already.
      if (Cause.hasInterruptsOnly(exit.cause)) return this.answers.send(exchange, shuttingDown)
      this.answers.report("request failed", exchange, exit.cause)
      this.answers.send(exchange, failure(500, "Internal Server Error"))
    })
  }
}

type Start = Pick<Exchange, "metrics" | "isHead" | "deadline" | "isComplete">

const begun = <R>(endpoint: Endpoint<R>, asked: Asked): Effect.Effect<Reply, never, R> => {
  try {
    return endpoint.answer(asked)
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** Receiving a piece costs as much as a kilobyte, however small it is. Beyond the first few, pieces must have a minimum average size. */
const fewChunks = 1000
const leastOfChunk = 64
const tooManyChunks = failure(400, `A body in more than ${fewChunks} pieces needs ${leastOfChunk} bytes in each`)
const noBytes = new Uint8Array(0)
