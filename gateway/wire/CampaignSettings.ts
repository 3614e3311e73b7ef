/** The JSON of a campaign's retries, calling window and circuit breaker. */
import Type, { type Static } from "typebox"
import type { CampaignChanges } from "#core/campaign/CampaignSettings.ts"
import { type BreakerConfig, resolve } from "#core/campaign/CircuitBreaker.ts"
import {
  defaultRetryConfig,
  flagsOf,
  type RetryConfig,
  type RetryReason,
  retryReasonNames,
  retryReasons
} from "#core/campaign/RetryPolicy.ts"
import { type ScheduleConfig, validate } from "#core/campaign/Schedule.ts"
import { isTimeZone } from "#core/TimeZone.ts"

const breakerDefaults = resolve({})

/** For reasons that their names do not explain. */
const explanations: { readonly [Reason in RetryReason]?: { readonly description: string } } = {
  trunk_lost: {
    description:
      "Calls that were cut, in conversation or before, because the connection to the provider was lost. They are dialed again only after the provider, reached again, no longer has the call: one that may still be up is never dialed again. The callee may have heard part of the first call."
  }
}

type FlagsWire<Value> = Record<`retry_on_${RetryReason}`, Value>

/** One property for each reason to retry. */
const flagsWire = <Value>(pick: (reason: RetryReason) => Value) =>
  // The keys are made of the same names as those of the type.
  Object.fromEntries(retryReasonNames.map((reason) => [`retry_on_${reason}`, pick(reason)])) as FlagsWire<Value>

export const RetryConfigWire = Type.Object(
  {
    enabled: Type.Boolean({ default: defaultRetryConfig.enabled }),
    max_retries: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: defaultRetryConfig.maxRetries,
      description: "A contact is dialed at most once more than this."
    }),
    retry_delay_seconds: Type.Integer({ minimum: 30, maximum: 3600, default: defaultRetryConfig.retryDelaySeconds }),
    ...flagsWire((reason) => Type.Boolean({ default: retryReasons[reason].byDefault, ...explanations[reason] }))
  },
  { title: "RetryConfig" }
)

const clockPattern = "^\\d{2}:\\d{2}$"
const TimeSlot = Type.Object(
  {
    day_of_week: Type.Integer({ minimum: 0, maximum: 6, description: "0 is Monday, 6 is Sunday." }),
    start_time: Type.String({ pattern: clockPattern, description: "Local time `HH:MM`, included." }),
    end_time: Type.String({ pattern: clockPattern, description: "Local time `HH:MM`, not included; `24:00` is the end of the day." })
  },
  { title: "TimeSlot" }
)
type TimeSlot = Static<typeof TimeSlot>

const slotOf = ({ day_of_week, end_time, start_time }: TimeSlot) => ({ dayOfWeek: day_of_week, startTime: start_time, endTime: end_time })
const slotFault = (slot: TimeSlot): string | undefined => validate({ enabled: true, timezone: "UTC", slots: [slotOf(slot)] })[0]?.message

export const ScheduleConfigWire = Type.Object(
  {
    enabled: Type.Boolean({ default: true }),
    timezone: Type.Refine(
      Type.String({ default: "UTC", description: "IANA name, `Europe/Berlin`." }),
      isTimeZone,
      (name) => `Invalid timezone: ${name}`
    ),
    slots: Type.Array(
      Type.Refine(
        TimeSlot,
        (slot) => slotFault(slot) === undefined,
        (slot) => slotFault(slot) ?? ""
      ),
      { minItems: 1, maxItems: 50 }
    )
  },
  { title: "ScheduleConfig" }
)

export const CircuitBreakerWire = Type.Object(
  {
    enabled: Type.Boolean({ default: breakerDefaults.enabled }),
    failure_threshold: Type.Number({
      minimum: 0,
      maximum: 1,
      default: breakerDefaults.failureThreshold,
      description: "Share of failed calls."
    }),
    window_seconds: Type.Integer({ minimum: 30, maximum: 600, default: breakerDefaults.windowSeconds }),
    min_calls_in_window: Type.Integer({ minimum: 1, maximum: 100, default: breakerDefaults.minCallsInWindow })
  },
  { title: "CircuitBreaker" }
)

export const retryOf = (wire: Static<typeof RetryConfigWire>): NonNullable<CampaignChanges["retry"]> => ({
  enabled: wire.enabled,
  maxRetries: wire.max_retries,
  retryDelaySeconds: wire.retry_delay_seconds,
  ...flagsOf((reason) => wire[`retry_on_${reason}`])
})
export const retryWire = (retry: RetryConfig): Static<typeof RetryConfigWire> => ({
  enabled: retry.enabled,
  max_retries: retry.maxRetries,
  retry_delay_seconds: retry.retryDelaySeconds,
  ...flagsWire((reason) => retry[retryReasons[reason].flag] ?? false)
})

export const scheduleOf = ({ enabled, slots, timezone }: Static<typeof ScheduleConfigWire>): ScheduleConfig => ({
  enabled,
  timezone,
  slots: slots.map(slotOf)
})
export const scheduleWire = ({ enabled, slots, timezone }: ScheduleConfig): Static<typeof ScheduleConfigWire> => ({
  enabled,
  timezone,
  slots: slots.map(({ dayOfWeek, endTime, startTime }) => ({ day_of_week: dayOfWeek, start_time: startTime, end_time: endTime }))
})

export const breakerOf = (wire: Static<typeof CircuitBreakerWire>): BreakerConfig => ({
  enabled: wire.enabled,
  failureThreshold: wire.failure_threshold,
  windowSeconds: wire.window_seconds,
  minCallsInWindow: wire.min_calls_in_window
})
/** A campaign without a breaker shows one that is off. */
export const breakerWire = (breaker: BreakerConfig = resolve(undefined)): Static<typeof CircuitBreakerWire> => ({
  enabled: breaker.enabled,
  failure_threshold: breaker.failureThreshold,
  window_seconds: breaker.windowSeconds,
  min_calls_in_window: breaker.minCallsInWindow
})
