/** Rates under which calls leave, and how many left. */
import type { RateScope } from "#runtime/dispatch/CallRate.ts"

/** The largest number of these moments, in any order, that lie in any window of that length. */
export const most = (moments: ReadonlyArray<number>, withinMillis: number): number =>
  Math.max(0, ...moments.map((from) => moments.filter((at) => at >= from && at < from + withinMillis).length))

export const campaign = (id: number, rate: number): RateScope => ({ key: `campaign:${id}`, rate })
export const trunk = (rate: number): RateScope => ({ key: "trunk:1", rate })
