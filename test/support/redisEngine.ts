/** What engines have of Redis, several of them in one process. */
import { Context, Effect, Exit, Layer, Logger, References, Scope } from "effect"
import type { Test } from "tap"
import { Config } from "#runtime/config/config.ts"
import * as redis from "#runtime/redis/Redis.ts"
import { untilTrue } from "./until.ts"

type Ending = Pick<Test, "teardown">

/** Connects as an engine with this REDIS_URL does, until the test ends. `said`: what it has logged, with the reasons. */
export const redisEngine = async <A>(t: Ending, url: string, more: Layer.Layer<A>) => {
  const said: Array<string> = []
  const logger = Logger.make(({ fiber, message }) => {
    const { why } = fiber.getRef(References.CurrentLogAnnotations)
    said.push([[message].flat()[0], why].filter((word) => word !== undefined).join(": "))
  })
  const scope = Scope.makeUnsafe()
  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
  t.teardown(end)
  const layer = more.pipe(Layer.provideMerge(redis.layer), Layer.provide(Config.layerOf({ REDIS_URL: url })))
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope).pipe(Effect.provide(Logger.layer([logger]))))
  const service = Context.get(context, redis.Redis)
  return { context, end, said, service, isUp: () => service.state()._tag === "Up" }
}

/** As soon as Redis works for it. */
export const connectedEngine = async <A>(t: Ending, url: string, more: Layer.Layer<A>) => {
  const engine = await redisEngine(t, url, more)
  await untilTrue("connection to Redis", engine.isUp)
  return engine
}
