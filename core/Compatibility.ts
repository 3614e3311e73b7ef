/**
 * The existing product whose clients the API accommodates beyond what its specification says: its web interface offers to start and to edit
 * a campaign only in a state called `created`, and offers to edit one that runs. Undefined: the specification as it is.
 */
import { Context } from "effect"

export const Compatibility = Context.Reference<"dograh" | undefined>("core/Compatibility", { defaultValue: () => undefined })
export type Compatibility = "dograh" | undefined
