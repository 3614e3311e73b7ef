/** Tests of the core that run as effects. */
import { Effect, type Scope } from "effect"
import type { Test } from "tap"
import { run } from "#test/support/run.ts"

/** A test whose body runs as one effect, on a clock that the test advances. */
export const test = (t: Test, title: string, body: (t: Test) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>) =>
  t.test(title, (t) => run(Effect.gen(() => body(t))))
