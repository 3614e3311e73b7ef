/** A test that is told as one effect, on a clock that stands still unless it is adjusted. */
import { Effect, type Scope } from "effect"
import t, { type Test } from "tap"
import { run } from "./run.ts"

export const story = (title: string, tell: (t: Test) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, unknown, never>) =>
  t.test(title, (t) => run(Effect.gen(() => tell(t))))
