/**
 * What the API asks of the engine that decides. The API is built once, when this engine may not decide yet; its ports get their services when it
 * does, and until then nobody asks them, because requests that need them are passed on.
 */
import { Context, Effect, Layer } from "effect"

type Method = (...given: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
type Methods = ReadonlyMap<string, Method>

export class Handover extends Context.Service<
  Handover,
  {
    /** Whether this engine decides, and all that it needs for that is built. */
    readonly isDone: () => boolean
    readonly done: () => void
    readonly methodsOf: (port: string) => Methods | undefined
    readonly give: (port: string, methods: Methods) => void
  }
>()("runtime/lock/Handover") {
  static readonly layer = Layer.sync(Handover, () => {
    const services = new Map<string, Methods>()
    let isDone = false
    return {
      done: () => {
        isDone = true
      },
      give: (port, methods) => void services.set(port, methods),
      isDone: () => isDone,
      methodsOf: (port) => services.get(port)
    }
  })
}

const nobody = Effect.die(new Error("This engine does not decide"))

/** The port, with methods that are those of the service that is given later. All of its members are methods that return effects. */
export const later = <Id, Port extends object>(port: Context.Service<Id, Port>): Layer.Layer<Id, never, Handover> =>
  Layer.effect(
    port,
    Effect.map(Handover, ({ methodsOf }) => {
      const method =
        (name: string): Method =>
        (...given) =>
          Effect.suspend(() => methodsOf(port.key)?.get(name)?.(...given) ?? nobody)
      // Its methods are those of the service, which is given under the same key: names and types are the port's.
      return new Proxy({}, { get: (_, name) => (typeof name === "string" ? method(name) : undefined) }) as Port
    })
  )

/** Gives the service of this port to whoever has got it by `later`. */
export const given = <Id, Port extends object>(port: Context.Service<Id, Port>): Layer.Layer<never, never, Id | Handover> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      // A port has only methods that return effects.
      const methods = Object.entries(yield* port) as ReadonlyArray<[string, Method]>
      ;(yield* Handover).give(port.key, new Map(methods))
    })
  )
