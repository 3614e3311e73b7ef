/** Port: the metrics of this node, in the text format of Prometheus. Undefined: they are not published. */
import { Context, type Effect } from "effect"

export const MetricsText = Context.Reference<Effect.Effect<string> | undefined>("gateway/ports/MetricsText", {
  defaultValue: () => undefined
})
