/**
 * Whether a contact is dialed again, and when. Retries of all reasons share one budget: `maxRetries = N` means at most N + 1 attempts,
 * whatever each of them came to.
 */
import { Schema } from "effect"
import type { Outcome } from "#core/outcome/Outcome.ts"

export const RetryConfig = Schema.Struct({
  enabled: Schema.Boolean,
  maxRetries: Schema.Int,
  retryDelaySeconds: Schema.Int,
  retryOnBusy: Schema.Boolean,
  retryOnNoAnswer: Schema.Boolean,
  retryOnVoicemail: Schema.Boolean,
  /** A call that the trunk cut, whose end is certain. Left out in campaigns of before: no. */
  retryOnTrunkLost: Schema.optionalKey(Schema.Boolean)
})
export type RetryConfig = typeof RetryConfig.Type

/** What has a retry flag; nothing else is ever dialed again. */
export const RetryReason = Schema.Literals(["busy", "no_answer", "voicemail", "trunk_lost"])
export type RetryReason = typeof RetryReason.Type

export const defaultRetryConfig: RetryConfig = {
  enabled: true,
  maxRetries: 2,
  retryDelaySeconds: 120,
  retryOnBusy: true,
  retryOnNoAnswer: true,
  retryOnVoicemail: true,
  retryOnTrunkLost: false
}

/** Defaults for whatever was left out; an update replaces the object as a whole, so nothing of an earlier one survives. */
export const complete = (partial: { readonly [Key in keyof RetryConfig]?: RetryConfig[Key] | undefined } | undefined): RetryConfig => ({
  enabled: partial?.enabled ?? defaultRetryConfig.enabled,
  maxRetries: partial?.maxRetries ?? defaultRetryConfig.maxRetries,
  retryDelaySeconds: partial?.retryDelaySeconds ?? defaultRetryConfig.retryDelaySeconds,
  retryOnBusy: partial?.retryOnBusy ?? defaultRetryConfig.retryOnBusy,
  retryOnNoAnswer: partial?.retryOnNoAnswer ?? defaultRetryConfig.retryOnNoAnswer,
  retryOnVoicemail: partial?.retryOnVoicemail ?? defaultRetryConfig.retryOnVoicemail,
  retryOnTrunkLost: partial?.retryOnTrunkLost ?? false
})

const isFlagged = (reason: RetryReason, config: RetryConfig): boolean => {
  switch (reason) {
    case "busy":
      return config.retryOnBusy
    case "no_answer":
      return config.retryOnNoAnswer
    case "voicemail":
      return config.retryOnVoicemail
    case "trunk_lost":
      return config.retryOnTrunkLost === true
  }
}

const reasonOf = (outcome: Outcome, cutByTrunk: boolean): RetryReason | undefined => {
  if (outcome === "error") return cutByTrunk ? "trunk_lost" : undefined
  return outcome === "busy" || outcome === "no_answer" || outcome === "voicemail" ? outcome : undefined
}

type RetryDecision =
  /** `dueAt`: not before, epoch milliseconds. */
  | { readonly _tag: "Retry"; readonly dueAt: number; readonly reason: RetryReason }
  | { readonly _tag: "Final"; readonly contact: "completed" | "failed" }

/**
 * `retriesUsed` counts the retries already scheduled before this one. `endedAt` is when the engine learned of the end, in epoch
 * milliseconds: a late callback delays the retry, and never shortens the pause that the callee gets.
 */
export const decide = (attempt: {
  readonly outcome: Outcome
  /** The trunk cut it, and the provider said so: it cannot be up any more. */
  readonly cutByTrunk?: boolean | undefined
  /** On a machine, as the agent was told to: the contact has it, and a retry would leave another one. */
  readonly messageLeft?: boolean | undefined
  readonly retriesUsed: number
  readonly config: RetryConfig
  readonly endedAt: number
}): RetryDecision => {
  const { config, cutByTrunk = false, endedAt, messageLeft = false, outcome, retriesUsed } = attempt
  if (messageLeft && outcome === "voicemail") return { _tag: "Final", contact: "completed" }
  const reason = reasonOf(outcome, cutByTrunk)
  if (reason !== undefined && stillAllowed({ retriesUsed: retriesUsed + 1, reason, config })) {
    return { _tag: "Retry", dueAt: endedAt + config.retryDelaySeconds * 1000, reason }
  }
  return { _tag: "Final", contact: outcome === "answered" ? "completed" : "failed" }
}

/**
 * Judges a retry that waits, after the settings have changed: false means the contact fails without a dial. `retriesUsed` includes the
 * waiting retry itself.
 */
export const stillAllowed = (waiting: {
  readonly retriesUsed: number
  readonly reason: RetryReason
  readonly config: RetryConfig
}): boolean => waiting.config.enabled && waiting.retriesUsed <= waiting.config.maxRetries && isFlagged(waiting.reason, waiting.config)
