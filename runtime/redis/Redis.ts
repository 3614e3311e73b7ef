/**
 * Redis, by which engines tell each other what may be lost: it is wiped, stopped, frozen or slow, and the engine only notices that it is on its
 * own. Without `REDIS_URL` it is `Off`, and everything is as if nobody else were there.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Redacted, Result, Schema } from "effect"
import { nowOf } from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { readRedisUrl } from "#runtime/config/RedisUrl.ts"
import { openClients } from "./clients.ts"
import { Link, type LinkState, type Script, type Subscription } from "./Link.ts"

const BEAT = Duration.seconds(1)
/** Until it works, it is looked at more often. */
const LOOK = Duration.millis(250)

/** It has not answered in time, or was not asked because it is away. */
class RedisAway extends Schema.TaggedError<RedisAway>()("RedisAway", {}) {}

type RedisState = { readonly _tag: "Off" } | LinkState

export interface RedisService {
  readonly state: () => RedisState
  /** Never waits, and never fails: what cannot be sent now is dropped. */
  readonly publish: (channel: string, text: string) => void
  /** `heard` is called with what other engines publish, again after each interruption. */
  readonly subscribe: (channel: string, heard: (text: string) => void) => Subscription
  /** Runs the script with keys of these names, which share the tag. Takes half a second at most. */
  readonly evaluate: (
    script: Script,
    tag: string,
    names: ReadonlyArray<string>,
    args: ReadonlyArray<string | number>
  ) => Effect.Effect<unknown, RedisAway>
  readonly counts: { readonly commandsFailed: number; readonly reconnects: number }
}

const off: RedisService = {
  counts: { commandsFailed: 0, reconnects: 0 },
  evaluate: () => Effect.fail(new RedisAway()),
  publish: () => {},
  state: () => ({ _tag: "Off" }),
  subscribe: () => ({ begun: Promise.resolve(), end: () => {} })
}

export const Redis = Context.Reference<RedisService>("runtime/redis/Redis", { defaultValue: () => off })

/** Connects in the background: the start does not wait for it. */
export const layer = Layer.effect(
  Redis,
  Effect.gen(function* () {
    const { nodeName, redisUrl } = yield* Config
    if (redisUrl === undefined) return off
    return yield* connect(Redacted.value(redisUrl), `trunkline-${nodeName}`)
  })
)

const connect = Effect.fnUntraced(function* (text: string, name: string) {
  const url = Result.getOrThrow(readRedisUrl(text))
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const clients = yield* Effect.promise(() => openClients(url, name))
  const place = url.hosts.map(({ host, port }) => `${host}:${port}`).join(",")
  const log = (message: Effect.Effect<void>, annotations: Record<string, unknown>) =>
    void fork(Effect.annotateLogs(message, { redis: place, ...annotations }))
  const link = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Link({
          ...clients,
          now: () => nowOf(clock),
          onDown: (why) => log(Effect.logWarning("Redis is away: until it is back, this engine tells the others nothing by it"), { why }),
          onUp: (downMillis) => log(Effect.logInfo("Redis works"), { seconds: Math.round(downMillis / 1000) }),
          prefix: url.prefix
        })
    ),
    (link) => Effect.sync(() => link.close())
  )
  yield* Effect.promise(() => link.beat()).pipe(
    Effect.andThen(Effect.suspend(() => Effect.sleep(link.isUp() ? BEAT : LOOK))),
    Effect.forever,
    Effect.tapCause((cause) => Effect.logError("the connection to Redis is no longer watched", cause)),
    Effect.forkScoped
  )
  return {
    counts: link.counts,
    evaluate: (script, tag, names, args) =>
      Effect.tryPromise({ try: () => link.evaluate(script, tag, names, args), catch: () => new RedisAway() }),
    publish: (channel, text) => link.publish(channel, text),
    state: link.state,
    subscribe: (channel, heard) => link.subscribe(channel, heard)
  } satisfies RedisService
})
