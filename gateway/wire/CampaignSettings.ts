/** Retries, dialing windows and the circuit breaker of a campaign, as clients write and read them. */
import Type, { type Static } from "typebox"
import type { CampaignChanges } from "#core/campaign/CampaignSettings.ts"
import { type BreakerConfig, resolve } from "#core/campaign/CircuitBreaker.ts"
import { defaultRetryConfig, type RetryConfig } from "#core/campaign/RetryPolicy.ts"
import { type ScheduleConfig, validate } from "#core/campaign/Schedule.ts"
import { isTimeZone } from "#core/TimeZone.ts"

const breakerDefaults = resolve({})

export const RetryConfigWire = Type.Object(
  {
    enabled: Type.Boolean({ default: defaultRetryConfig.enabled }),
    max_retries: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: defaultRetryConfig.maxRetries,
      description: "One attempt more than this, at most."
    }),
    retry_delay_seconds: Type.Integer({ minimum: 30, maximum: 3600, default: defaultRetryConfig.retryDelaySeconds }),
    retry_on_busy: Type.Boolean({ default: defaultRetryConfig.retryOnBusy }),
    retry_on_no_answer: Type.Boolean({ default: defaultRetryConfig.retryOnNoAnswer }),
    retry_on_voicemail: Type.Boolean({ default: defaultRetryConfig.retryOnVoicemail }),
    retry_on_trunk_lost: Type.Boolean({
      default: false,
      description:
        "Calls that ended with the connection to the provider, in conversation or before. Only once the provider, reached again, has no such call any more: one that may still be up is never dialed again. The callee may have heard part of the first call."
    })
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
  retryOnBusy: wire.retry_on_busy,
  retryOnNoAnswer: wire.retry_on_no_answer,
  retryOnVoicemail: wire.retry_on_voicemail,
  retryOnTrunkLost: wire.retry_on_trunk_lost
})
export const retryWire = (retry: RetryConfig): Static<typeof RetryConfigWire> => ({
  enabled: retry.enabled,
  max_retries: retry.maxRetries,
  retry_delay_seconds: retry.retryDelaySeconds,
  retry_on_busy: retry.retryOnBusy,
  retry_on_no_answer: retry.retryOnNoAnswer,
  retry_on_voicemail: retry.retryOnVoicemail,
  retry_on_trunk_lost: retry.retryOnTrunkLost ?? false
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
