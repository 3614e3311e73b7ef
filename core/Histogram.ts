/** How many values fell below each of a few bounds: plain numbers, so that to measure costs next to nothing. */

export class Histogram {
  /** Ascending. A value belongs to the first of them that it does not exceed. */
  readonly bounds: ReadonlyArray<number>
  /** Values of each bound alone, and last those above all of them. */
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
