/** What each file of this folder gives to `bench.ts`. */
import type { Effect } from "effect"
import type { Figure } from "./Figure.ts"

export interface Options {
  /** Smaller and shorter: shows that the benchmark runs, its figures are no measurements. */
  readonly quick: boolean
  /** No commit waits for the disk: what the engine takes, on a machine whose disk stands still at times. */
  readonly unsynced?: boolean
  /** Of what is generated, where a benchmark generates anything: which, and how many. */
  readonly seed?: number | undefined
  readonly count?: number | undefined
}

export interface Benchmark {
  readonly name: string
  /** Ends whatever it started. */
  readonly run: (options: Options) => Effect.Effect<ReadonlyArray<Figure>>
}
