/**
 * W3C Trace Context: the header `traceparent`, with which a client says which trace its request belongs to. https://www.w3.org/TR/trace-context/
 */

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1

/** Undefined if missing or malformed; the request then starts its own trace. */
export const readTraceParent = (header: string): TraceParent | undefined => {
  const [, version, traceId, spanId, flags = "", more] = form.exec(header) ?? []
  // Later versions may append fields; this one has none.
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined
  return { sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag, spanId, traceId }
}
