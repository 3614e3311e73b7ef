/**
 * Whether a contact is dialed again, and when. Retries of all reasons share one budget: `maxRetries = N` means at most N + 1 attempts,
 * whatever their outcomes.
 */
import type { Outcome } from "#core/outcome/Outcome.ts"

/**
 * The reasons to dial a contact again, and the flag by which a campaign allows each; nothing else is ever dialed again. The settings, their
 * defaults, both judgements below and the API's flags follow from this list. The column `contacts.retry_reason` has a CHECK with the same names.
 */
export const retryReasons = {
  busy: { flag: "retryOnBusy", byDefault: true },
  no_answer: { flag: "retryOnNoAnswer", byDefault: true },
  voicemail: { flag: "retryOnVoicemail", byDefault: true },
  /** The trunk cut the call, and the provider confirmed its end. */
  trunk_lost: { flag: "retryOnTrunkLost", byDefault: false }
} as const
export type RetryReason = keyof typeof retryReasons
// `Object.keys` gives strings: the keys of a constant object are known.
export const retryReasonNames = Object.keys(retryReasons) as ReadonlyArray<RetryReason>

type RetryFlags = Readonly<Record<(typeof retryReasons)[RetryReason]["flag"], boolean>>

/** A flag is missing from settings that were stored before its reason existed; it counts as false. */
export type RetryConfig = Partial<RetryFlags> & {
  readonly enabled: boolean
  readonly maxRetries: number
  readonly retryDelaySeconds: number
}

export const flagsOf = (isAllowed: (reason: RetryReason) => boolean): RetryFlags =>
  // Each reason has its flag, and each value is a boolean.
  Object.fromEntries(retryReasonNames.map((reason) => [retryReasons[reason].flag, isAllowed(reason)])) as RetryFlags

export const defaultRetryConfig: RetryConfig = {
  enabled: true,
  maxRetries: 2,
  retryDelaySeconds: 120,
  ...flagsOf((reason) => retryReasons[reason].byDefault)
}

/** Fills in defaults. An update replaces the whole object, so nothing of the earlier one survives. */
export const complete = (partial: { readonly [Key in keyof RetryConfig]?: RetryConfig[Key] | undefined } | undefined): RetryConfig => ({
  enabled: partial?.enabled ?? defaultRetryConfig.enabled,
  maxRetries: partial?.maxRetries ?? defaultRetryConfig.maxRetries,
  retryDelaySeconds: partial?.retryDelaySeconds ?? defaultRetryConfig.retryDelaySeconds,
  ...flagsOf((reason) => partial?.[retryReasons[reason].flag] ?? retryReasons[reason].byDefault)
})

const isReason = (outcome: Outcome): outcome is Outcome & RetryReason => Object.hasOwn(retryReasons, outcome)

const reasonOf = (outcome: Outcome, cutByTrunk: boolean): RetryReason | undefined => {
  if (outcome === "error") return cutByTrunk ? "trunk_lost" : undefined
  return isReason(outcome) ? outcome : undefined
}

type RetryDecision =
  /** `dueAt`: the earliest time for the retry, in epoch milliseconds. */
  | { readonly _tag: "Retry"; readonly dueAt: number; readonly reason: RetryReason }
  | { readonly _tag: "Final"; readonly contact: "completed" | "failed" }

/**
 * `retriesUsed` counts the retries already scheduled before this one. `endedAt` is when the engine learned of the end, in epoch
 * milliseconds: a late callback delays the retry, and never shortens the pause that the callee gets.
 */
export const decide = (attempt: {
  readonly outcome: Outcome
  /** The trunk cut the call, and the provider confirmed that it ended, so it can no longer be up. */
  readonly cutByTrunk?: boolean | undefined
  /** The agent left its message on a machine. A retry would leave another one. */
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
 * Whether a waiting retry is still allowed, for example after the settings have changed; if not, the contact fails without a dial.
 * `retriesUsed` includes the waiting retry itself.
 */
export const stillAllowed = (waiting: {
  readonly retriesUsed: number
  readonly reason: RetryReason
  readonly config: RetryConfig
}): boolean =>
  waiting.config.enabled && waiting.retriesUsed <= waiting.config.maxRetries && waiting.config[retryReasons[waiting.reason].flag] === true

/**
 * `stillAllowed` in SQL, for statements that judge many contacts, or one under a lock. `contacts` is the name under which the statement has
 * the contacts, and `config` the expression for their campaign's `retry_config`.
 */
export const stillAllowedSql = (contacts: string, config: string): string => `
  ((${config} ->> 'enabled')::bool AND ${contacts}.retries_used <= (${config} ->> 'maxRetries')::int
    AND coalesce((${config} ->> (CASE ${contacts}.retry_reason ${flagCases} END))::bool, false))`
const flagCases = retryReasonNames.map((reason) => `WHEN '${reason}' THEN '${retryReasons[reason].flag}'`).join(" ")
