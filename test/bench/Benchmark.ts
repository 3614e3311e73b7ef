/** What each benchmark in this folder exports to `bench.ts`. */
import type { Effect } from "effect"
import type { Figure } from "./Figure.ts"

export interface Options {
  /** Smaller and shorter: only shows that the benchmark runs, so its figures are not measurements. */
  readonly quick: boolean
  /** Commits do not wait for the disk: measures the engine itself, on a machine whose disk stalls at times. */
  readonly unsynced?: boolean
  /** Which generated inputs to use, and how many, for benchmarks that generate any. */
  readonly seed?: number | undefined
  readonly count?: number | undefined
}

export interface Benchmark {
  readonly name: string
  /** Runs the benchmark, and ends everything that it started. */
  readonly run: (options: Options) => Effect.Effect<ReadonlyArray<Figure>>
}
