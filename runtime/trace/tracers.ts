/** What becomes of Effect's own spans: one that is not exported costs no more than a check. */
import { Context, Exit, Option, Tracer } from "effect"
import { isOwnName, type SpanStart, TraceSpan } from "./TraceSpan.ts"

const epoch = 0n
const nothing: ReadonlyMap<string, unknown> = new Map()

/** Stands for a span that is not exported, and refers to the exported span that contains it. */
class UntoldSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name = "untold"
  readonly parent = Option.none()
  readonly annotations = Context.empty()
  readonly attributes = nothing
  readonly links = []
  readonly kind = "internal"
  readonly status: Tracer.SpanStatus = { _tag: "Ended", startTime: epoch, endTime: epoch, exit: Exit.void }
  readonly within: TraceSpan | undefined
  constructor(within: TraceSpan | undefined) {
    this.within = within
  }
  get sampled(): boolean {
    return this.within !== undefined
  }
  get spanId(): string {
    return this.within?.spanId ?? "0".repeat(16)
  }
  get traceId(): string {
    return this.within?.traceId ?? "0".repeat(32)
  }
  end(): void {}
  attribute(): void {}
  event(): void {}
  addLinks(): void {}
}

/** The single span shared by everything that is not traced. */
export const untraced: Tracer.Span = new UntoldSpan(undefined)

/** For running without export: allocates nothing per span. */
export const silent: Tracer.Tracer = Tracer.make({ span: () => untraced })

/** Our span that the work belongs to. Undefined if it is not traced, or its span has ended. */
export const tracedIn = (span: Tracer.AnySpan | undefined): TraceSpan | undefined => {
  const traced = span instanceof UntoldSpan ? span.within : span instanceof TraceSpan ? span : undefined
  return traced?.isOver === false ? traced : undefined
}

/** Exports our own operations, and only within a request or a call: any other span of Effect is not exported. */
export const exporting = (open: (start: SpanStart) => TraceSpan): Tracer.Tracer =>
  Tracer.make({
    span: ({ kind, name, parent, startTime }) => {
      const above = tracedIn(Option.getOrUndefined(parent))
      if (above === undefined) return untraced
      if (kind !== "internal" || !isOwnName(name)) return new UntoldSpan(above)
      return open({ name, kind, startTime, traceId: above.traceId, parentSpanId: above.spanId, linked: [] })
    }
  })
