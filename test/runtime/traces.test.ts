/** Which spans there are, what they may contain, and how they reach a collector that is slow, away or unwilling. */
import { Cause, Data, Effect, Exit, Logger, Tracer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t, { type Test } from "tap"
import { bodyFor } from "#runtime/trace/otlpJson.ts"
import { isSampled } from "#runtime/trace/sampling.ts"
import { exportTo } from "#runtime/trace/SpanExport.ts"
import { readTraceParent } from "#runtime/trace/TraceParent.ts"
import { exporting, silent, untraced } from "#runtime/trace/tracers.ts"
import { Traces } from "#runtime/trace/Traces.ts"
import { newTraceId, type SpanStart, TraceSpan } from "#runtime/trace/TraceSpan.ts"
import { forAll } from "#test/support/forAll.ts"
import { attributeOf, TraceCollector } from "#test/support/traceCollector.ts"
import { untilTrue } from "#test/support/until.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

t.test("a client's traceparent", async (t) => {
  const check = (header: string, expected: ReturnType<typeof readTraceParent>) => t.strictSame(readTraceParent(header), expected, header)
  check(`00-${traceId}-${spanId}-01`, { sampled: true, spanId, traceId })
  check(`00-${traceId}-${spanId}-00`, { sampled: false, spanId, traceId })
  check(`cc-${traceId}-${spanId}-03-what-comes-later`, { sampled: true, spanId, traceId })
  check("", undefined)
  check(`00-${traceId}-${spanId}-01-more`, undefined)
  check(`ff-${traceId}-${spanId}-01`, undefined)
  check(`00-${"0".repeat(32)}-${spanId}-01`, undefined)
  check(`00-${traceId}-${"0".repeat(16)}-01`, undefined)
  check(`00-${traceId.toUpperCase()}-${spanId}-01`, undefined)
  check(`00-${traceId}-${spanId}`, undefined)
})

t.test("the share of traces", async (t) => {
  const ids = Array.from({ length: 10_000 }, newTraceId)
  const sampled = (ratio: number) => ids.filter((id) => isSampled(id, ratio))
  t.equal(sampled(1).length, ids.length)
  t.equal(sampled(0).length, 0)
  t.ok(Math.abs(sampled(0.1).length - 1000) < 200, "about as many as asked for")
  const most = new Set(sampled(0.5))
  const areIncluded = sampled(0.1).every((id) => most.has(id))
  t.ok(areIncluded, "an engine with a larger share has all that one with a smaller share has")
})

class PrivateFailure extends Data.TaggedError("PrivateFailure")<{ readonly message: string }> {}

/** The spans that have ended, and a tracer that makes more. */
const recorder = () => {
  const ended: Array<TraceSpan> = []
  const finished = (span: TraceSpan) => void ended.push(span)
  return { ended, open: (start: SpanStart) => new TraceSpan(start, finished), finished }
}
const rootFor = (open: (start: SpanStart) => TraceSpan) =>
  open({ name: "root", traceId, parentSpanId: undefined, kind: "server", startTime: 0n, linked: [] })

t.test("given an operation that fails with something private, then only its name and the error's tag are exported", async (t) => {
  const { ended, open } = recorder()
  const root = rootFor(open)
  const inner = Effect.fail(new PrivateFailure({ message: "+15550172001" })).pipe(
    Effect.withSpan("sql SELECT 15550172001", { attributes: { "db.query.text": "15550172001" }, kind: "client" }),
    Effect.withSpan("Calls.start", { attributes: { phone: "+15550172001" } }),
    Effect.withSpan("call +15550172001")
  )
  const outcome = await Effect.runPromiseExit(
    inner.pipe(Effect.provideService(Tracer.ParentSpan, root), Effect.provideService(Tracer.Tracer, exporting(open)))
  )
  t.ok(Exit.isFailure(outcome))
  const exported = ended.map(({ failed, name, parentSpanId, told }) => ({ failed, name, parentSpanId, told }))
  t.strictSame(exported, [{ failed: true, name: "Calls.start", parentSpanId: root.spanId, told: [["error.type", "PrivateFailure"]] }])
  t.notMatch(bodyFor("node", "1")(ended), /5550172001/)
})

t.test("given errors of any names and defects, when they end a span, then only plain words of them are exported", async () => {
  forAll(fc.string(), (name) => {
    const { ended, open } = recorder()
    const error = Object.assign(new Error(name), { _tag: name })
    rootFor(open).end(1n, Exit.failCause(Cause.combine(Cause.fail(error), Cause.die(new Error("secret")))))
    const told = ended[0]?.told[0]?.[1]
    return told === "other" || (told === name && /^[A-Za-z_.]+$/.test(name))
  })
})

t.test("given work outside of any request or call, or after its end, when Effect opens spans, then none is allocated", async (t) => {
  const { ended, open } = recorder()
  const over = rootFor(open)
  over.end(1n, Exit.void)
  const spans = Effect.all([Effect.makeSpan("Calls.start"), Effect.makeSpan("Calls.start", { parent: over })])
  for (const tracer of [silent, exporting(open)]) {
    const made = await Effect.runPromise(Effect.provideService(spans, Tracer.Tracer, tracer))
    t.ok(made.every((span) => span === untraced))
  }
  t.strictSame(ended, [over])
})

t.test("given a parent that was not sampled, when a request comes with it, then it is not traced, whatever the share", async (t) => {
  const { ended, finished } = recorder()
  const traces = await Effect.runPromise(Effect.clockWith((clock) => Effect.succeed(new Traces(clock, 1, finished))))
  const { ended: end, span } = traces.request("GET", "/x", `00-${traceId}-${spanId}-00`)
  end(200)
  t.equal(span, untraced)
  const none = await Effect.runPromise(Effect.clockWith((clock) => Effect.succeed(new Traces(clock, 0, finished))))
  none.request("GET", "/x", "").ended(200)
  none.request("GET", "/x/:id", `00-${traceId}-${spanId}-01`).ended(500)
  const traced = ended.map(({ failed, name, parentSpanId }) => ({ failed, name, parentSpanId }))
  t.strictSame(traced, [{ failed: true, name: "GET /x/:id", parentSpanId: spanId }], "the one whose parent was sampled is")
})

interface Exporting {
  readonly collector: TraceCollector
  readonly add: (count: number) => void
  readonly logged: ReadonlyArray<unknown>
}
/** The collector, and what is logged while spans are exported, with the export running on the test's clock. */
const exported = async (t: Test, answer: Parameters<typeof TraceCollector.start>[1], story: (it: Exporting) => Effect.gen.Return<void>) => {
  const collector = await TraceCollector.start(t, answer)
  const logged: Array<unknown> = []
  const logger = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
  const work = Effect.gen(function* () {
    const finished = yield* exportTo({ url: `${collector.url}/v1/traces`, headers: {}, bodyOf: bodyFor("node", "1") })
    const add = (count: number) => {
      for (let left = count; left > 0; left--) rootFor((start) => new TraceSpan(start, finished)).end(1n, Exit.void)
    }
    yield* story({ add, collector, logged })
  })
  await Effect.runPromise(Effect.scoped(work).pipe(Effect.provide(logger), Effect.provide(TestClock.layer())))
  return { collector, logged }
}
const awaited = (what: string, holds: () => boolean) => Effect.promise(() => untilTrue(what, holds))
const taken = ({ collector }: Exporting, count: number) => awaited(`${count} spans`, () => collector.spans.length >= count)
const idsIn = ({ spans }: TraceCollector) => new Set(spans.map(({ spanId }) => spanId))

t.test("given a collector, then it gets all spans, in requests of a bounded size, the last ones at the end", async (t) => {
  const { collector, logged } = await exported(t, 200, function* (it) {
    it.add(600)
    yield* TestClock.adjust("1 second")
    yield* taken(it, 600)
    it.add(1)
  })
  t.equal(idsIn(collector).size, 601, "each at least once: a request whose answer was not waited for is sent again")
  t.ok(collector.received.length >= 4, "no request had more than 256")
  t.strictSame(logged, [])
  const first = collector.spans.slice(0, 1).map((span) => [span.name, span.kind, attributeOf(span, "error.type")])
  t.strictSame(first, [["root", 2, undefined]])
})

t.test("given a collector that does not respond, then what waits for it is bounded, and the log is quiet", async (t) => {
  const { collector, logged } = await exported(t, "silence", function* (it) {
    it.add(20_000)
    for (let round = 1; round <= 5; round++) {
      yield* TestClock.adjust("1 second")
      yield* awaited(`request ${round}`, () => it.collector.received.length >= round)
      yield* TestClock.adjust("15 seconds")
    }
    it.collector.answer = 200
    yield* TestClock.adjust("1 second")
    yield* taken(it, 4096)
  })
  t.equal(idsIn(collector).size, 4096)
  t.strictSame(logged, [["traces could not be exported", { reason: "timeout", lost: 15_904 }]], "once for all five")
})

/** Ten spans end, their request has this answer, which is logged, and the next ones are accepted. */
const failing = (t: Test, answer: number, then: number, taking: number) =>
  exported(t, answer, function* (it) {
    it.add(10)
    yield* TestClock.adjust("1 second")
    // The export waits for the clock again once the failure has been logged.
    yield* awaited("complaint", () => it.logged.length > 0)
    it.collector.answer = 200
    it.add(then)
    yield* TestClock.adjust("6 seconds")
    yield* taken(it, taking)
  })

t.test("given a collector that refuses, when spans end, then those are lost, and later ones are tried", async (t) => {
  const { collector, logged } = await failing(t, 401, 1, 1)
  t.equal(idsIn(collector).size, 1)
  t.strictSame(logged, [["traces could not be exported", { reason: "status 401", lost: 10 }]])
})

t.test("given a collector that is busy, when it recovers, then it gets what waited for it", async (t) => {
  const { collector } = await failing(t, 503, 0, 10)
  t.equal(idsIn(collector).size, 10)
})
