/** Engines forget permissions together, told by Redis. */
import { Effect, FiberSet, Layer } from "effect"
import { ForgottenEverywhere } from "#core/organization/ForgottenEverywhere.ts"
import { Redis } from "./Redis.ts"

const channel = "forgotten"

export const layer = Layer.effect(
  ForgottenEverywhere,
  Effect.map(Redis, ({ publish, subscribe }) => ({
    tell: () => publish(channel, ""),
    onTold: Effect.fnUntraced(function* (forget: Effect.Effect<void>) {
      const fork = yield* FiberSet.makeRuntime()
      yield* Effect.acquireRelease(
        Effect.sync(() => subscribe(channel, () => void fork(forget))),
        ({ end }) => Effect.sync(end)
      )
    })
  }))
)
