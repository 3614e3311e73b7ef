/** Traces of requests, if the node exports any. */
import { Context, type Tracer } from "effect"

export interface RequestTrace {
  /** The parent span of the work for the request. */
  readonly span: Tracer.AnySpan
  /** Called when the answer begins, or with undefined when the client has gone away before. */
  readonly ended: (status: number | undefined) => void
}

interface RequestTraces {
  /** `route`: the path as declared, never as requested. `traceparent`: the header, or empty. */
  readonly request: (method: string, route: string, traceparent: string) => RequestTrace
}

/** Undefined: requests are not traced. */
export const CurrentRequestTraces = Context.Reference<RequestTraces | undefined>("gateway/ports/CurrentRequestTraces", {
  defaultValue: () => undefined
})
