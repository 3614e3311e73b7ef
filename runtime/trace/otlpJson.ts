/** Spans in the JSON form of OTLP over HTTP. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import { entriesToAttributes, make } from "effect/observability/OtlpResource"
import type { TraceSpan } from "./TraceSpan.ts"

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const statusError = 2

const spanOf = (span: TraceSpan) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: String(span.status.startTime),
  endTimeUnixNano: String(span.status._tag === "Ended" ? span.status.endTime : span.status.startTime),
  attributes: entriesToAttributes(span.told),
  links: span.linked.map(({ spanId, traceId }) => ({ spanId, traceId })),
  status: span.failed ? { code: statusError } : {}
})

/** Builds request bodies from the spans of this engine. */
export const bodyFor = (nodeName: string, version: string) => {
  const resource = make({ serviceName: "trunkline", serviceVersion: version, attributes: { "service.instance.id": nodeName } })
  return (spans: ReadonlyArray<TraceSpan>): string =>
    JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "trunkline", version }, spans: spans.map(spanOf) }] }] })
}
