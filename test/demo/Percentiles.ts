/** Percentiles of measured times. */

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly count: number
}

export const rounded = (value: number): number => Math.round(value * 100) / 100

/** Null: there are no values. */
export const percentilesOf = (values: ReadonlyArray<number>): Percentiles | null => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => rounded(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN)
  return sorted.length === 0 ? null : { p50: at(0.5), p99: at(0.99), count: sorted.length }
}
