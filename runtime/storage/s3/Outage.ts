/** What is known about a bucket's trouble. It is logged when it begins, every ten minutes while it lasts, and when it ends. */
import { Effect } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { S3Address } from "#runtime/config/S3Address.ts"
import type { FileMetrics } from "#runtime/metrics/FileMetrics.ts"
import type { S3Failure } from "./S3Failure.ts"

const SAID_EVERY_MILLIS = 600_000
/** After a failed request, others fail at once for this long, so that nobody waits for each of them in turn. */
export const AWAY_SECONDS = 5

export const makeOutage = ({ base, bucket }: S3Address, metrics: FileMetrics) => {
  let saidAt: SteadyTime.SteadyMillis | undefined
  let awayUntil = Number.NEGATIVE_INFINITY
  const place = { bucket, endpoint: new URL(base).origin }
  return {
    isAway: Effect.map(SteadyTime.now, (now) => now < awayUntil),
    noticed: Effect.fnUntraced(function* (failure: S3Failure) {
      metrics.failures++
      const now = yield* SteadyTime.now
      if (failure.isPassing) awayUntil = now + AWAY_SECONDS * 1000
      if (saidAt !== undefined && now - saidAt < SAID_EVERY_MILLIS) return
      saidAt = now
      yield* Effect.logWarning("the bucket of files cannot be used: what it should take waits on this machine").pipe(
        Effect.annotateLogs({ ...place, reason: failure.code, waiting: metrics.waiting })
      )
    }),
    over: Effect.suspend(() => {
      awayUntil = Number.NEGATIVE_INFINITY
      if (saidAt === undefined) return Effect.void
      saidAt = undefined
      return Effect.logInfo("the bucket of files can be used again").pipe(Effect.annotateLogs({ ...place, waiting: metrics.waiting }))
    })
  }
}
export type Outage = ReturnType<typeof makeOutage>
