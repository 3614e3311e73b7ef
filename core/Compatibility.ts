/**
 * The existing product whose clients the API supports beyond its specification: its web interface offers to start and edit a campaign only in a
 * state called `created`, and offers to edit a running one. If undefined, the API follows the specification.
 */
import { Context } from "effect"

export const Compatibility = Context.Reference<"dograh" | undefined>("core/Compatibility", { defaultValue: () => undefined })
export type Compatibility = "dograh" | undefined
