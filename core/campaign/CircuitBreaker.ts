/** When too many of a campaign's calls fail, its circuit breaker pauses it. There is no half-open state: a person resumes the campaign. */
import { Schema } from "effect"

export const BreakerConfig = Schema.Struct({
  enabled: Schema.Boolean,
  /** Share of failures, 0 to 1. Equality trips. */
  failureThreshold: Schema.Finite,
  windowSeconds: Schema.Int,
  minCallsInWindow: Schema.Int
})
export type BreakerConfig = typeof BreakerConfig.Type

/** Without settings, there is no breaker; settings without `enabled` turn it on. */
export const resolve = (given: { readonly [Key in keyof BreakerConfig]?: BreakerConfig[Key] | undefined } | undefined): BreakerConfig => ({
  enabled: given !== undefined && (given.enabled ?? true),
  failureThreshold: given?.failureThreshold ?? 0.5,
  windowSeconds: given?.windowSeconds ?? 120,
  minCallsInWindow: given?.minCallsInWindow ?? 5
})

/** At least one failure is needed, so that a threshold of 0 does not trip on a perfect record. */
export const isTripped = (window: { readonly failures: number; readonly total: number; readonly config: BreakerConfig }): boolean => {
  const { config, failures, total } = window
  return config.enabled && failures > 0 && total >= config.minCallsInWindow && failures / total >= config.failureThreshold
}
