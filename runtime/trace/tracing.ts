/** Traces according to the settings: exported to a collector, or none. */
import { Clock, Context, Effect, Layer, Redacted, References, Tracer } from "effect"
import { Config } from "#runtime/config/config.ts"
import { bodyFor } from "./otlpJson.ts"
import { exportTo } from "./SpanExport.ts"
import { exporting, silent } from "./tracers.ts"
import { CurrentTraces, Traces } from "./Traces.ts"
import { TraceSpan } from "./TraceSpan.ts"

export const layer = (version: string) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { nodeName, tracesHeaders, tracesRatio, tracesUrl } = yield* Config
      // Nothing reads spans, and every statement would create one.
      if (tracesUrl === undefined) return Context.make(Tracer.Tracer, silent).pipe(Context.add(References.TracerEnabled, false))
      const headers = { "content-type": "application/json", ...(tracesHeaders && Redacted.value(tracesHeaders)) }
      const finished = yield* exportTo({ url: tracesUrl, headers, bodyOf: bodyFor(nodeName, version) })
      const traces = new Traces(yield* Clock.Clock, tracesRatio, finished)
      const tracer = exporting((start) => new TraceSpan(start, finished))
      return Context.make(Tracer.Tracer, tracer).pipe(Context.add(CurrentTraces, traces))
    })
  )
