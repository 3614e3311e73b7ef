/** Port: the figures of this node, in the text format of Prometheus. Undefined: nobody is to see them. */
import { Context, type Effect } from "effect"

export const Exposition = Context.Reference<Effect.Effect<string> | undefined>("gateway/ports/Exposition", {
  defaultValue: () => undefined
})
