/**
 * One live trunk per telephony configuration, opened at its first use and kept: its status, how many originates may wait for a reply at
 * once, and how long to leave it alone after it refused.
 */
import { Context, Effect, Layer, Scope, Semaphore } from "effect"
import type { Adapter, Trunk, TrunkEvent, TrunkStatus } from "#core/provider/Adapter.ts"
import { Registry } from "#core/provider/Registry.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import type { TelephonyConfigId } from "#core/Id.ts"
import { Config } from "../config.ts"

/** After the request certainly did not get through: how long to wait before the next one, in seconds. */
const BACKOFF_SECONDS = [5, 10, 20, 40, 60] as const
/** After so many refusals in a row, each after its wait, the campaign is paused. */
export const TRIES_TO_GIVE_UP = 6
const RATE_LIMIT_SECONDS = [5, 10, 20, 40, 60] as const

export interface LiveTrunk {
  readonly configurationId: TelephonyConfigId
  readonly adapter: Adapter
  readonly trunk: Trunk
  readonly status: () => TrunkStatus
  /** Calls `listener` at each change of status until the function it returns is called. */
  readonly watch: (listener: () => void) => () => void
  /** At most so many requests of this trunk wait for a reply. */
  readonly originating: Semaphore.Semaphore
  /** Dial requests per second. */
  readonly rate: number
  /** Not before this moment, epoch milliseconds. */
  readonly restUntil: () => number
  /** The provider accepted or judged a request: it is reachable. */
  readonly reached: () => void
  /** A request certainly did not get through. */
  readonly unreachable: (now: number) => void
  readonly rateLimited: (now: number, retryAfterMillis: number | undefined) => void
  /** Refusals in a row. */
  readonly failures: () => number
}

export class TrunkPool extends Context.Service<
  TrunkPool,
  {
    /** Undefined: the configuration is gone, or its provider is not installed. */
    readonly get: (id: TelephonyConfigId) => Effect.Effect<LiveTrunk | undefined>
    /** Every event of every trunk goes here; set once, by the call supervisor. */
    readonly deliverTo: (listener: (callId: string, event: TrunkEvent) => void) => void
    readonly all: () => ReadonlyArray<LiveTrunk>
  }
>()("runtime/trunk/TrunkPool") {
  static readonly layer = Layer.effect(
    TrunkPool,
    Effect.gen(function* () {
      const registry = yield* Registry
      const configs = yield* TelephonyConfigs
      const { nodeName, trunkRate } = yield* Config
      const scope = yield* Effect.scope
      const opening = Semaphore.makeUnsafe(1)
      const open = new Map<TelephonyConfigId, LiveTrunk>()
      let listener: (callId: string, event: TrunkEvent) => void = () => {}

      const connect = Effect.fnUntraced(function* (id: TelephonyConfigId) {
        const found = yield* configs.credentials(id).pipe(Effect.catch(() => Effect.succeed(undefined)))
        const adapter = found === undefined ? undefined : registry.find(found.provider)
        if (found === undefined || adapter === undefined) return undefined
        const state = makeState()
        const trunk = yield* adapter
          .connect(found.credentials, {
            configurationId: id,
            node: nodeName,
            onEvent: (callId, event) => listener(callId, event),
            onStatus: state.onStatus
          })
          .pipe(Scope.provide(scope), Effect.annotateLogs({ provider: found.provider, telephonyConfigurationId: id }))
        const live: LiveTrunk = {
          ...state.trunk,
          configurationId: id,
          adapter,
          trunk,
          originating: Semaphore.makeUnsafe(adapter.manifest.originatesInFlight),
          rate: trunkRate ?? adapter.manifest.callsPerSecond
        }
        open.set(id, live)
        return live
        // Interrupted half-way, a trunk would live on that nobody knows of, and fight with the next one for the provider.
      }, Effect.uninterruptible)

      return {
        get: (id) =>
          Effect.suspend(() => {
            const known = open.get(id)
            return known === undefined
              ? opening.withPermits(1)(
                  Effect.suspend(() => {
                    const meanwhile = open.get(id)
                    return meanwhile === undefined ? connect(id) : Effect.succeed(meanwhile)
                  })
                )
              : Effect.succeed(known)
          }),
        deliverTo: (to) => {
          listener = to
        },
        all: () => [...open.values()]
      }
    })
  )
}

const makeState = () => {
  let status: TrunkStatus = { _tag: "Connecting" }
  let failures = 0
  let limited = 0
  let restUntil = 0
  const watchers = new Set<() => void>()
  const changed = () => {
    for (const watcher of watchers) watcher()
  }
  const rest = (now: number, seconds: ReadonlyArray<number>, time: number) => {
    restUntil = Math.max(restUntil, now + 1000 * (seconds[Math.min(time, seconds.length) - 1] ?? 0))
  }
  return {
    onStatus: (next: TrunkStatus) => {
      status = next
      if (next._tag === "Up") {
        failures = 0
        restUntil = 0
      }
      changed()
    },
    trunk: {
      status: () => status,
      watch: (listener: () => void) => {
        watchers.add(listener)
        return () => {
          watchers.delete(listener)
        }
      },
      restUntil: () => restUntil,
      reached: () => {
        failures = 0
        limited = 0
      },
      unreachable: (now: number) => {
        // Several requests that were under way together are one failure.
        if (now < restUntil) return
        failures++
        rest(now, BACKOFF_SECONDS, failures)
        changed()
      },
      rateLimited: (now: number, retryAfterMillis: number | undefined) => {
        limited++
        if (retryAfterMillis === undefined) rest(now, RATE_LIMIT_SECONDS, limited)
        else restUntil = Math.max(restUntil, now + retryAfterMillis)
        changed()
      },
      failures: () => failures
    }
  }
}

/** Why nothing can be dialed through this trunk just now, in a sentence; undefined when it can. */
export const whyDown = (trunk: LiveTrunk): string | undefined => {
  const status = trunk.status()
  return status._tag === "Up" ? undefined : status._tag === "Connecting" ? "It is not connected yet." : status.detail
}

/** Waits up to `millis` for the trunk to be able to carry calls; false when it still cannot. */
export const awaitUp = (trunk: LiveTrunk, millis: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const settle = () => {
      const { _tag } = trunk.status()
      if (_tag === "Connecting") return
      stop()
      resume(Effect.succeed(_tag === "Up"))
    }
    const stop = trunk.watch(settle)
    settle()
    return Effect.sync(stop)
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.succeed(false) }))
