/** A collector of traces: a real server that stores every request, and reads the spans in those that it accepts. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { Test } from "tap"
import { localPort } from "./localPort.ts"

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
interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An HTTP status, or `silence` for no response over an open connection. */
type Answer = number | "silence"

export class TraceCollector {
  static async start(t: Test, answer: Answer = 200): Promise<TraceCollector> {
    const collector = new TraceCollector(answer)
    collector.url = `http://127.0.0.1:${await localPort(collector.#server)}`
    t.teardown(() => {
      collector.#server.close()
      collector.#server.closeAllConnections()
    })
    return collector
  }

  url = ""
  readonly received: Array<Received> = []
  readonly spans: Array<ExportedSpan> = []
  answer: Answer
  readonly #server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString()
      this.received.push({ path: request.url ?? "", headers: request.headers, body })
      if (this.answer === "silence") return
      if (this.answer === 200) this.spans.push(...spansIn(body))
      response.writeHead(this.answer).end("{}")
    })
  })

  private constructor(answer: Answer) {
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
