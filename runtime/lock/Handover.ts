/**
 * What the API asks of the engine that decides. The API is built once, when this engine may not decide yet; its ports get their services when it
 * does, and until then nobody asks them, because requests that need them are passed on.
 */
import { Context, Effect, Layer } from "effect"

export class Handover extends Context.Service<
  Handover,
  {
    /** Whether this engine decides, and all that it needs for that is built. */
    readonly isDone: () => boolean
    readonly done: () => void
    readonly find: (port: string) => object | undefined
    readonly give: (port: string, service: object) => void
  }
>()("runtime/lock/Handover") {
  static readonly layer = Layer.sync(Handover, () => {
    const services = new Map<string, object>()
    let isDone = false
    return {
      done: () => {
        isDone = true
      },
      find: (port) => services.get(port),
      give: (port, service) => void services.set(port, service),
      isDone: () => isDone
    }
  })
}

type Method = (...given: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
type Methods = Readonly<Record<string, Method>>

const nobody = Effect.die(new Error("This engine does not decide"))

/** The port, with methods that are those of the service that is given later. All of its members are methods that return effects. */
export const later = <Id, Port extends object>(port: Context.Service<Id, Port>): Layer.Layer<Id, never, Handover> =>
  Layer.effect(
    port,
    Effect.map(Handover, ({ find }) => {
      const method =
        (name: string): Method =>
        (...given) =>
          Effect.suspend(() => (find(port.key) as Methods | undefined)?.[name]?.(...given) ?? nobody)
      // The methods are known by name only once the service is there.
      return new Proxy({}, { get: (_, name) => (typeof name === "string" ? method(name) : undefined) }) as Port
    })
  )

/** Gives the service of this port to whoever has got it by `later`. */
export const given = <Id, Port extends object>(port: Context.Service<Id, Port>): Layer.Layer<never, never, Id | Handover> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const service = yield* port
      ;(yield* Handover).give(port.key, service)
    })
  )
