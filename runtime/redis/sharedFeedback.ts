/**
 * What happens in conversations, for those who watch them at another engine. An engine where somebody watches a run says so every second, and listens
 * to a channel of that run. Other engines publish there only while they are told so; nothing is said about the other calls.
 */
import { Clock, Effect } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { parseJson } from "#core/parseJson.ts"
import type { LiveFeedback } from "#core/run/LiveFeedback.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { Redis } from "./Redis.ts"

const BEAT = "1 second"
/** An engine that has not said again that somebody watches is silent, or nobody watches there any more. */
const WATCHED_MILLIS = 3000

const watchedChannel = "watched"
const channelOf = (organizationId: OrganizationId, runId: RunId): string => `feedback:${organizationId}:${runId}`

interface SharedFeedback {
  /** Whether somebody watches the run at another engine, and can be told. */
  readonly isWatched: (organizationId: OrganizationId, runId: RunId) => boolean
  readonly publish: (organizationId: OrganizationId, runId: RunId, event: FeedbackEvent) => void
}

/** `here`: who watches at this engine. */
export const make = Effect.fnUntraced(function* (here: LiveFeedback["Service"]) {
  const redis = yield* Redis
  const clock = yield* Clock.Clock
  /** By channel: until when somebody is known to watch elsewhere. */
  const elsewhere = new Map<string, SteadyMillis>()
  const ends = new Map<string, () => void>()
  const announce = (channel: string) => redis.publish(watchedChannel, channel)

  redis.subscribe(watchedChannel, (channel) => void elsewhere.set(channel, nowOf(clock) + WATCHED_MILLIS))
  here.onWatch(({ organizationId, runId }, isWatched) => {
    const channel = channelOf(organizationId, runId)
    if (!isWatched) {
      ends.get(channel)?.()
      ends.delete(channel)
      return
    }
    const { begun, end } = redis.subscribe(channel, (text) => {
      const event = parseJson(text)
      // Engines write it, below.
      if (event !== undefined) here.heard(organizationId, runId, event as FeedbackEvent)
    })
    ends.set(channel, end)
    void begun.then(() => announce(channel))
  })
  if (redis.state()._tag !== "Off") {
    yield* Effect.sync(() => {
      for (const channel of ends.keys()) announce(channel)
      for (const [channel, until] of elsewhere) if (until <= nowOf(clock)) elsewhere.delete(channel)
    }).pipe(Effect.andThen(Effect.sleep(BEAT)), Effect.forever, Effect.forkScoped)
  }
  return {
    isWatched: (organizationId, runId) =>
      elsewhere.size > 0 && redis.state()._tag === "Up" && (elsewhere.get(channelOf(organizationId, runId)) ?? 0) > nowOf(clock),
    publish: (organizationId, runId, event) => redis.publish(channelOf(organizationId, runId), JSON.stringify(event))
  } satisfies SharedFeedback
})
