/** Creates the spans of this process. Without a collector there is no `Traces` service, so nothing is traced. */
import { type Clock, Context, Exit, type Tracer } from "effect"
import { isSampled } from "./sampling.ts"
import { type Attributes, newTraceId, type SpanRef, TraceSpan } from "./TraceSpan.ts"
import { readTraceParent, type TraceParent } from "./TraceParent.ts"
import { untraced } from "./tracers.ts"

interface Begin {
  readonly name: string
  readonly kind?: Tracer.SpanKind
  /** Epoch nanoseconds; now by default. */
  readonly startTime?: bigint
}
interface BeginRoot extends Begin {
  /** 32 hexadecimal digits; random by default. */
  readonly traceId?: string
  readonly linked?: ReadonlyArray<SpanRef>
}

/** A request of the API. Its span is `untraced` if it is not exported. */
interface RequestTrace {
  readonly span: Tracer.AnySpan
  /** `status`: undefined if the client disconnected before the response. */
  readonly ended: (status: number | undefined) => void
}

const untracedRequest: RequestTrace = { span: untraced, ended: () => {} }
const firstServerError = 500

export class Traces {
  private readonly clock: Clock.Clock
  private readonly ratio: number
  private readonly finished: (span: TraceSpan) => void

  constructor(clock: Clock.Clock, ratio: number, finished: (span: TraceSpan) => void) {
    this.clock = clock
    this.ratio = ratio
    this.finished = finished
  }

  now(): bigint {
    return this.clock.currentTimeNanosUnsafe()
  }

  /** Starts a trace. Undefined if it is not sampled for export. */
  root({ kind = "internal", linked = [], name, startTime = this.now(), traceId = newTraceId() }: BeginRoot): TraceSpan | undefined {
    if (!isSampled(traceId, this.ratio)) return undefined
    return new TraceSpan({ name, kind, startTime, traceId, parentSpanId: undefined, linked }, this.finished)
  }

  child(parent: SpanRef, { kind = "internal", name, startTime = this.now() }: Begin): TraceSpan {
    return new TraceSpan({ name, kind, startTime, traceId: parent.traceId, parentSpanId: parent.spanId, linked: [] }, this.finished)
  }

  end(span: TraceSpan): void {
    span.end(this.now(), Exit.void)
  }

  /** `route`: the path as declared, never as requested. `header`: the client's `traceparent`; empty if there is none. */
  request(method: string, route: string, header: string): RequestTrace {
    const span = this.requestSpan({ name: `${method} ${route}`, kind: "server" }, readTraceParent(header))
    if (span === undefined) return untracedRequest
    const asked: Attributes = { "http.request.method": method, "http.route": route }
    span.tell(asked)
    const ended = (status: number | undefined): void => {
      span.tell({ "http.response.status_code": status })
      if (status === undefined) span.tell({ "error.type": "aborted" })
      else if (status >= firstServerError) span.fail("server_error")
      this.end(span)
    }
    return { span, ended }
  }

  private requestSpan(begin: Begin, parent: TraceParent | undefined): TraceSpan | undefined {
    if (parent === undefined) return this.root(begin)
    return parent.sampled ? this.child(parent, begin) : undefined
  }
}

/** Undefined if nothing is exported. */
export const CurrentTraces = Context.Reference<Traces | undefined>("runtime/trace/CurrentTraces", { defaultValue: () => undefined })
