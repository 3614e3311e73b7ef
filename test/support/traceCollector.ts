/** A collector of traces: a real server that stores every request, and reads the spans in those that it accepts. */
import type { Test } from "tap"
import { answeringServer, type Asked } from "./answeringServer.ts"

export interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: { readonly code?: number }
}
interface Exported {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<ExportedSpan> }> }>
}

/** An HTTP status, or `silence` for no response over an open connection. */
type Answer = number | "silence"

export class TraceCollector {
  static async start(t: Test, answer: Answer = 200): Promise<TraceCollector> {
    const { asked, url } = await answeringServer(t, (response, { body }) => {
      if (collector.answer === "silence") return
      if (collector.answer === 200) collector.spans.push(...spansIn(body))
      response.writeHead(collector.answer).end("{}")
    })
    const collector = new TraceCollector(url, asked, answer)
    return collector
  }

  readonly url: string
  readonly received: ReadonlyArray<Asked>
  readonly spans: Array<ExportedSpan> = []
  answer: Answer

  private constructor(url: string, received: ReadonlyArray<Asked>, answer: Answer) {
    this.url = url
    this.received = received
    this.answer = answer
  }

  named = (name: string): ReadonlyArray<ExportedSpan> => this.spans.filter((span) => span.name === name)
  partsOf = ({ spanId }: ExportedSpan): ReadonlyArray<ExportedSpan> => this.spans.filter(({ parentSpanId }) => parentSpanId === spanId)
}

/** The cast holds because the engine exports nothing else. */
const spansIn = (body: string) =>
  (JSON.parse(body) as Exported).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

export const attributeOf = ({ attributes }: ExportedSpan, name: string): unknown =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]
