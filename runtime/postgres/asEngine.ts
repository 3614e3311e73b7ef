/**
 * Runs engine work that a request merely starts. It outlives the request and belongs to no organization, so neither the request's wall nor its
 * queues must apply to it.
 */
import { type Context, Effect, Layer } from "effect"
import { IsHeavy } from "#core/load/HeavyWork.ts"
import { CurrentAddress, CurrentTenant } from "#core/organization/CurrentTenant.ts"

const outside = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  work.pipe(
    Effect.provideService(CurrentTenant, undefined),
    Effect.provideService(CurrentAddress, undefined),
    Effect.provideService(IsHeavy, false)
  )

type Method = (...given: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** The port of `layer`, with methods that run as the engine. */
export const asEngine = <Id, Port extends object, E, R>(
  port: Context.Service<Id, Port>,
  layer: Layer.Layer<Id, E, R>
): Layer.Layer<Id, E, R> => {
  const opened = Effect.map(port, (service) => {
    // A port has only methods that return effects.
    const methods = Object.entries(service) as ReadonlyArray<[string, Method]>
    const outer = methods.map(([name, method]): [string, Method] => [name, (...given) => outside(method(...given))])
    // The same names, with methods of the same types.
    return Object.fromEntries(outer) as Port
  })
  return Layer.effect(port, opened).pipe(Layer.provide(layer))
}
