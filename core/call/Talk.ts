/** How long the callee of a call talked: the provider's events say it, and its timestamps say it too if the events were late. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { CallLimits } from "./Call.ts"

/** The provider's timestamps may be whole seconds. If they differ more from what we heard, events were late, and the timestamps count. */
const TIMESTAMP_MILLIS = 2000

export interface Talk {
  readonly answeredAt?: number
  readonly answerToldAt?: number
  readonly dialedAt?: number
  readonly isJudged?: boolean
  readonly transfers?: number
}

/**
 * When a call that has ended had been answered: when we heard of it, or, if that disagrees with the provider's timestamps, as long before the end
 * as they say, but not before it was dialed. At the end itself if we heard of it later and there are no timestamps.
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

export const talkOf = ({ answerToldAt, answeredAt, dialedAt, isJudged, transfers }: Talk & { readonly answeredAt: number }) => ({
  answeredAt,
  ...(isJudged === undefined ? {} : { isJudged }),
  ...given("answerToldAt", answerToldAt),
  ...given("dialedAt", dialedAt),
  ...given("transfers", transfers)
})

/** Only a key that has a value. */
export const given = <Key extends string>(key: Key, value: number | undefined): { readonly [K in Key]?: number } =>
  // A computed key is only known as a string.
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: number }

/** Whether the provider is still to tell who answered. A machine that was detected needs no more proof. */
export const isUnjudged = ({ isJudged }: Talk, cause: HangupCause, { detects }: CallLimits): boolean =>
  detects === true && isJudged !== true && cause !== "machine_detected"

/** When an answered call ended, if the timestamps prove that it was no later than `then`. */
export const endBefore = (
  then: number | undefined,
  { answerToldAt, answeredAt }: Talk & { readonly answeredAt: number },
  toldAt: number | undefined
): number | undefined => {
  if (then === undefined || answerToldAt === undefined || toldAt === undefined) return undefined
  const endedAt = answeredAt + Math.max(0, toldAt - answerToldAt)
  return endedAt <= then ? endedAt : undefined
}
