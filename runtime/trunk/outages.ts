/**
 * Records when a trunk goes down and comes back, for the logs of the campaigns concerned (`TrunkOutages`). Unwritten changes are kept in memory
 * and merged, so that a trunk that goes up and down while the database is unreachable costs nothing.
 */
import { Clock, Effect, Latch, Schedule } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { Away as Place, TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import type { Charge } from "#runtime/lock/Charge.ts"
import type { TrunkHealth } from "#core/provider/TrunkHealth.ts"

/** How often to check whether the calls that were cut have been settled, and how soon to retry a failed write. */
const AGAIN = "1 second"
/** Campaigns named by one write; the rest follow with the next. */
const MOST_HELD = 1000

interface Away {
  /** Wall-clock time, like all times here. */
  readonly since: number
  until: number | undefined
  /** When the trunk went down again before the outage was logged. */
  anewAt: number
  /** Why, as far as it is known. */
  reason: string | undefined
  isNoted: boolean
  /** Campaigns not yet written. */
  readonly heldUp: Set<CampaignId>
  readonly noted: Set<CampaignId>
}

/**
 * Records outages until the scope closes; only the trunks of the engine that decides do. Returns a function for campaigns that have contacts to call while the trunk is down; calling it twice
 * changes nothing. `isCurrent` is false once another trunk has taken its place.
 */
export const noteOutages = Effect.fnUntraced(function* (
  { charge, outages }: { readonly charge: Charge["Service"]; readonly outages: TrunkOutages["Service"] },
  place: Place,
  health: Pick<TrunkHealth, "status" | "watch">,
  isCurrent: () => boolean
) {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const news = Latch.makeUnsafe(false)
  let away: Away | undefined
  // An earlier process may have left an outage that this connection ends.
  let isFirst = true

  const look = () => {
    const status = health.status()
    if (!isCurrent() || status._tag === "Connecting") return
    if (status._tag === "Up") {
      if (isFirst) away ??= begin(now(), { isNoted: true })
      isFirst = false
      if (away !== undefined) away.until ??= now()
    } else if (away === undefined) away = begin(now(), { reason: status.detail })
    else {
      if (away.until !== undefined) away.anewAt = now()
      if (away.until !== undefined || away.reason !== status.detail) away.isNoted = false
      away.until = undefined
      away.reason = status.detail
    }
    if (away !== undefined) news.openUnsafe()
  }

  const write = Effect.fnUntraced(function* (outage: Away) {
    const heldUp = [...outage.heldUp].slice(0, MOST_HELD)
    if (!outage.isNoted || heldUp.length > 0) yield* outages.began(place, outage.since, outage.reason, heldUp)
    outage.isNoted = true
    for (const campaignId of heldUp) outage.heldUp.delete(campaignId)
    const { until } = outage
    if (until === undefined || outage.heldUp.size > 0) return outage.heldUp.size > 0
    yield* outages.ended(place, until)
    const { isPending, told } = yield* outages.tell(place, now())
    for (const { campaignId, message } of told) yield* Effect.logInfo(message, { campaignId, event: "telephony_outage" })
    if (isPending) return true
    away = outage.until === undefined ? begin(outage.anewAt, { reason: outage.reason }) : undefined
    return away !== undefined
  })

  const turn = Effect.gen(function* () {
    news.closeUnsafe()
    const isPending = away !== undefined && (yield* write(away))
    if (isPending) yield* Effect.timeoutOption(news.await, AGAIN)
    else yield* news.await
  })
  const again = Effect.catchCause(turn, (cause) =>
    Effect.andThen(Effect.logWarning("an outage of a trunk could not be noted yet", cause), Effect.sleep(AGAIN))
  )
  yield* Effect.forkScoped(Effect.repeat(again, Schedule.forever))
  /** What was seen while another engine decided has been recorded by that one, as far as its own trunk saw it. */
  const startOver = () => {
    isFirst = true
    if (away !== undefined) away.isNoted = false
    look()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => [health.watch(look), charge.onTake(startOver)]),
    (stops) => Effect.sync(() => stops.forEach((stop) => void stop()))
  )

  return (campaignId: CampaignId): void => {
    if (away === undefined || away.until !== undefined || away.noted.has(campaignId)) return
    away.noted.add(campaignId)
    away.heldUp.add(campaignId)
    news.openUnsafe()
  }
})

const begin = (since: number, { isNoted = false, reason }: { readonly isNoted?: boolean; readonly reason?: string | undefined }): Away => ({
  anewAt: since,
  heldUp: new Set(),
  isNoted,
  noted: new Set(),
  reason,
  since,
  until: undefined
})
