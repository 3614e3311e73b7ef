/** How long a callee talked, from when we received the provider's events or, if these were late, from its timestamps. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { CallLimits } from "./Call.ts"

/**
 * The provider's timestamps may be whole seconds. If they differ by more than this from what we observed, events were late and the timestamps
 * count.
 */
const TIMESTAMP_MILLIS = 2000

export interface Talk {
  readonly answeredAt?: number
  readonly answerToldAt?: number
  readonly dialedAt?: number
  readonly isJudged?: boolean
  readonly transfers?: number
}

/**
 * When an ended call was answered: when we learned of the answer, or, if the provider's timestamps disagree, as long before the end as they say,
 * but not before it was dialed. If we learned of it after the end and there are no timestamps, the time of the end.
 */
export const answeredFor = (
  { answerToldAt, answeredAt, dialedAt = answeredAt }: Talk,
  endedAt: number,
  toldAt: number | undefined
): number => {
  const heardAt = answeredAt ?? endedAt
  if (toldAt === undefined || answerToldAt === undefined) return heardAt
  const talkMillis = Math.max(0, toldAt - answerToldAt)
  const isLate = answeredAt === undefined || Math.abs(endedAt - talkMillis - answeredAt) > TIMESTAMP_MILLIS
  return isLate ? Math.min(endedAt, Math.max(dialedAt ?? endedAt, endedAt - talkMillis)) : heardAt
}

/**
 * When an answered call ended whose end was reported at `at`: when its audio ended (`quietAt`), or, if the provider's timestamps prove that the
 * report was late, or that the call went on without audio, when they say.
 */
export const endedFor = (
  { answerToldAt, answeredAt }: Talk & { readonly answeredAt: number },
  { at, toldAt }: { readonly at: number; readonly toldAt?: number },
  quietAt = at
): number => {
  if (toldAt === undefined || answerToldAt === undefined) return quietAt
  const told = answeredAt + Math.max(0, toldAt - answerToldAt)
  return Math.abs(told - quietAt) <= TIMESTAMP_MILLIS || told > at ? quietAt : told
}

export const answerOf = ({ answerToldAt, answeredAt, dialedAt }: Talk & { readonly answeredAt: number }) => ({
  answeredAt,
  ...given("answerToldAt", answerToldAt),
  ...given("dialedAt", dialedAt)
})

export const talkOf = (call: Talk & { readonly answeredAt: number }) => ({
  ...answerOf(call),
  ...(call.isJudged === undefined ? {} : { isJudged: call.isJudged }),
  ...given("transfers", call.transfers)
})

/** The key, if it has a value; otherwise nothing. */
export const given = <Key extends string>(key: Key, value: number | undefined): { readonly [K in Key]?: number } =>
  // A computed key is only known as a string.
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: number }

/** Whether the provider has yet to report who answered. A detected machine needs no more proof. */
export const isUnjudged = ({ isJudged }: Talk, cause: HangupCause, { detects }: CallLimits): boolean =>
  detects === true && isJudged !== true && cause !== "machine_detected"

/** When an answered call ended, if the timestamps prove that this was no later than `then`. */
export const endBefore = (
  then: number | undefined,
  { answerToldAt, answeredAt }: Talk & { readonly answeredAt: number },
  toldAt: number | undefined
): number | undefined => {
  if (then === undefined || answerToldAt === undefined || toldAt === undefined) return undefined
  const endedAt = answeredAt + Math.max(0, toldAt - answerToldAt)
  return endedAt <= then ? endedAt : undefined
}
