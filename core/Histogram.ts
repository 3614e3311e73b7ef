/** Counts values by bounds, in plain numbers, so that a measurement costs next to nothing. */

export class Histogram {
  /** Ascending. A value belongs to the first bound that it does not exceed. */
  readonly bounds: ReadonlyArray<number>
  /** The number of values for each bound, not cumulative; the last is for values above all bounds. */
  readonly counts: Array<number>
  sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.bounds.length && value > (this.bounds[at] ?? 0)) at++
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
  }

  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0)
  }
}
