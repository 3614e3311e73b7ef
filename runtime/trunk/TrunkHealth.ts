/** How a trunk is doing: its status, and how long to leave it alone after it refused. */
import type { TrunkStatus } from "#core/provider/Adapter.ts"

/** After the request certainly did not get through: how long to wait before the next one, in seconds. */
const BACKOFF_SECONDS = [5, 10, 20, 40, 60] as const
const RATE_LIMIT_SECONDS = [5, 10, 20, 40, 60] as const

export interface TrunkHealth {
  readonly status: () => TrunkStatus
  /** Calls `listener` at each change until the function it returns is called. */
  readonly watch: (listener: () => void) => () => void
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

export const makeHealth = () => {
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
  const health: TrunkHealth = {
    status: () => status,
    watch: (listener) => {
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
    unreachable: (now) => {
      // Several requests that were under way together are one failure.
      if (now < restUntil) return
      failures++
      rest(now, BACKOFF_SECONDS, failures)
      changed()
    },
    rateLimited: (now, retryAfterMillis) => {
      limited++
      if (retryAfterMillis === undefined) rest(now, RATE_LIMIT_SECONDS, limited)
      else restUntil = Math.max(restUntil, now + retryAfterMillis)
      changed()
    },
    failures: () => failures
  }
  const onStatus = (next: TrunkStatus) => {
    status = next
    if (next._tag === "Up") {
      failures = 0
      restUntil = 0
    }
    changed()
  }
  return { changed, health, onStatus }
}
