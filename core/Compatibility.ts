/**
 * The existing product whose clients the API accommodates beyond its specification: the web interface offers to start and edit a campaign only
 * in a state called `created`, and offers to edit a running one. Undefined: the API follows the specification.
 */
import { Context } from "effect"

export const Compatibility = Context.Reference<"dograh" | undefined>("core/Compatibility", { defaultValue: () => undefined })
export type Compatibility = "dograh" | undefined
