/**
 * Spans on their way to the collector. Nothing that is traced waits for it: spans it does not accept in time are lost, and the backlog is
 * bounded. One request is in progress at a time.
 */
import { Clock, Effect, Schema } from "effect"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import type { TraceSpan } from "./TraceSpan.ts"

/** Two seconds of calls at the highest rate of a node, or a few megabytes. */
const MOST_WAITING = 4096
const SPANS_AT_ONCE = 256
const SEND_EVERY = "1 second"
const SEND_TIMEOUT = "10 seconds"
const AGAIN_AFTER = "5 seconds"
const LAST_SENDS = "2 seconds"
const LOG_EVERY_MILLIS = 600_000

/** The collector has not accepted the spans. `isFinal`: a retry would fail too. */
class NotExported extends Schema.TaggedError<NotExported>()("NotExported", { reason: Schema.String, isFinal: Schema.Boolean }) {}

interface Collector {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodyOf: (spans: ReadonlyArray<TraceSpan>) => string
}

/** The spans waiting to be sent. */
class Waiting {
  private spans: Array<TraceSpan> = []
  /** Spans lost since the last log entry about it. */
  lost = 0

  readonly add = (span: TraceSpan): void => {
    if (this.spans.length < MOST_WAITING) this.spans.push(span)
    else this.lost++
  }
  next(): ReadonlyArray<TraceSpan> {
    return this.spans.slice(0, SPANS_AT_ONCE)
  }
  /** Spans added meanwhile are at the end, so this drops the ones that were sent. */
  drop(count: number): void {
    this.spans = this.spans.slice(count)
  }
}

/** Starts the export, which ends with the scope. The returned function takes a finished span. */
export const exportTo = Effect.fnUntraced(function* (collector: Collector) {
  const waiting = new Waiting()
  const complain = yield* makeComplaint(waiting)
  const sendAll = Effect.gen(function* () {
    let count = SPANS_AT_ONCE
    // Spans that end meanwhile wait for the next round, to keep requests few.
    while (count === SPANS_AT_ONCE) {
      const spans = waiting.next()
      count = spans.length
      if (count > 0) yield* sendSome(collector, waiting, spans)
    }
  })
  const tryAll = Effect.catch(sendAll, ({ reason }) => Effect.andThen(complain(reason), Effect.sleep(AGAIN_AFTER)))
  // Closed last, after the loop has ended.
  yield* Effect.addFinalizer(() => sendAll.pipe(Effect.timeout(LAST_SENDS), Effect.ignore))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(SEND_EVERY), tryAll)))
  return waiting.add
})

const sendSome = ({ bodyOf, headers, url }: Collector, waiting: Waiting, spans: ReadonlyArray<TraceSpan>) =>
  Effect.tryPromise({
    try: (signal) => post(url, { method: "POST", headers, body: bodyOf(spans), redirect: "manual", signal }),
    catch: (error) => new NotExported({ reason: codeOf(error), isFinal: false })
  }).pipe(
    Effect.timeoutOrElse({ duration: SEND_TIMEOUT, orElse: () => Effect.fail(new NotExported({ reason: "timeout", isFinal: false })) }),
    Effect.flatMap((status) => (isTaken(status) ? Effect.void : Effect.fail(refusedWith(status)))),
    Effect.tapError(({ isFinal }) => Effect.sync(() => (isFinal ? lose(waiting, spans.length) : undefined))),
    Effect.andThen(Effect.sync(() => waiting.drop(spans.length)))
  )

const lose = (waiting: Waiting, count: number): void => {
  waiting.drop(count)
  waiting.lost += count
}

const post = async (url: string, request: RequestInit): Promise<number> => {
  const { body, status } = await fetch(url, request)
  // The body may have any length, and contains nothing we need.
  await body?.cancel()
  return status
}

const isTaken = (status: number): boolean => status >= 200 && status < 300
/** The statuses after which OTLP allows a retry of the same request. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504])
const refusedWith = (status: number) => new NotExported({ reason: `status ${status}`, isFinal: !passing.has(status) })

/** The error's message may contain more of the address than belongs in a log. */
const codeOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && "code" in cause ? String(cause.code) : "connection failed"
}

/** The first failure is logged at once, later ones occasionally. */
const makeComplaint = Effect.fnUntraced(function* (waiting: Waiting) {
  const clock = yield* Clock.Clock
  let notBefore: SteadyMillis = Number.NEGATIVE_INFINITY
  return (reason: string) =>
    Effect.suspend(() => {
      const now = nowOf(clock)
      if (now < notBefore) return Effect.void
      notBefore = now + LOG_EVERY_MILLIS
      const { lost } = waiting
      waiting.lost = 0
      return Effect.logWarning("traces could not be exported", { reason, lost })
    })
})
