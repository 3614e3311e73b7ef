/** The status of a trunk without its own connection: the result of the latest check of its credentials. */
import { Effect, type Latch, Random } from "effect"
import type { TrunkStatus } from "#core/provider/Adapter.ts"

/** The pauses after failed checks in a row. */
const PAUSE_MILLIS = [1000, 2000, 5000, 10_000, 20_000, 30_000] as const
/** Retrying often does not make wrong credentials right. */
const AUTH_PAUSE_MILLIS = 30_000
/** Failing calls reveal a problem sooner than this. */
const CHECK_AGAIN_MILLIS = 300_000

interface Checked {
  readonly check: Effect.Effect<TrunkStatus>
  readonly onStatus: (status: TrunkStatus) => void
  /** Opened to make the next check start now. */
  readonly hurry: Latch.Latch
}

/**
 * Reports each change, and the result of each hurried check. A single check without an answer does not make a trunk unreachable. Never returns.
 */
export const keepStatus = Effect.fnUntraced(function* ({ check, hurry, onStatus }: Checked) {
  let failures = 0
  let isAwaited = true
  let before: TrunkStatus = { _tag: "Connecting" }
  onStatus(before)
  while (true) {
    const status = yield* check
    failures = status._tag === "Up" ? 0 : failures + 1
    const isHiccup = before._tag === "Up" && failures === 1 && isUnreachable(status)
    if (isAwaited || (!isHiccup && !isSame(status, before))) {
      before = status
      onStatus(status)
    }
    const woken = yield* Effect.timeoutOption(hurry.await, pauseAfter(status, failures) * (0.75 + (yield* Random.next) / 2))
    isAwaited = woken._tag === "Some"
    hurry.closeUnsafe()
  }
})

const isUnreachable = (status: TrunkStatus): boolean => status._tag === "Down" && status.reason === "unreachable"

const isSame = (one: TrunkStatus, other: TrunkStatus): boolean => JSON.stringify(one) === JSON.stringify(other)

const pauseAfter = (status: TrunkStatus, failures: number): number => {
  if (status._tag === "Up") return CHECK_AGAIN_MILLIS
  if (status._tag === "Down" && status.reason === "auth") return AUTH_PAUSE_MILLIS
  return PAUSE_MILLIS[Math.min(failures, PAUSE_MILLIS.length) - 1] ?? AUTH_PAUSE_MILLIS
}
