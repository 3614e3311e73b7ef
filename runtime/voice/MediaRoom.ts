/**
 * How many calls with audio this node may have placed: as many as the operator has set, and no more than the lateness of the audio has shown
 * to be possible. Counted in the same ledger as all other limits, so that a call which ends makes room for whoever waits.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { judge, type MediaLoad, unlimited } from "#core/provider/MediaLimit.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { type SlotScope, Slots } from "#runtime/dispatch/Slots.ts"
import type { MediaMetrics } from "#runtime/metrics/MediaMetrics.ts"
import { type FramePacer, makeFramePacer, type PacerTime, systemTime } from "./FramePacer.ts"

/** The engine's log speaks of a lower limit no more often than this. */
const LOG_MILLIS = 60_000

const mediaKey = "media"
/** For calls without audio: counted, so that a call can be moved once more is known of it. */
const silent: SlotScope = { key: "silent", limit: undefined }

export class MediaRoom extends Context.Service<
  MediaRoom,
  {
    /** In which a call counts; its limit is always the present one. */
    readonly scope: (needsAudio: boolean) => SlotScope
    /** Corrects what was assumed of a call when its slot was taken. */
    readonly settle: (callId: string, needsAudio: boolean) => void
    readonly isFull: () => boolean
    readonly metrics: () => MediaMetrics
    /** That all calls of this node speak by. */
    readonly pacer: FramePacer
  }
>()("runtime/voice/MediaRoom") {
  static readonly layerPacedBy = (time: PacerTime) =>
    Layer.effect(
      MediaRoom,
      Effect.suspend(() => make(time))
    ).pipe(Layer.provide(Slots.layerMemory))
  static readonly layer = MediaRoom.layerPacedBy(systemTime)
}

const make = Effect.fnUntraced(function* (time: PacerTime) {
  const slots = yield* Slots
  const { maxLiveMedia = Number.POSITIVE_INFINITY } = yield* Config
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())
  let found = unlimited
  let framesLate = 0
  let loggedAt = Number.NEGATIVE_INFINITY

  const limit = () => Math.min(maxLiveMedia, found.limit)
  const media: SlotScope = {
    key: mediaKey,
    get limit() {
      return limit()
    }
  }
  const scope = (needsAudio: boolean) => (needsAudio ? media : silent)
  const placed = () => slots.used(mediaKey)

  const tell = (streamsThen: number) => {
    const now = SteadyTime.nowOf(clock)
    if (now < loggedAt + LOG_MILLIS) return
    loggedAt = now
    const seen = { streams: streamsThen, limit: limit() }
    run(Effect.annotateLogs(Effect.logWarning("audio is late: fewer calls with audio are placed at once"), seen))
  }

  const hear = (load: MediaLoad) => {
    const before = limit()
    found = judge(found, load, placed())
    framesLate += load.late
    if (limit() < before) tell(load.streams)
    if (limit() > before) slots.recheck()
  }
  const pacer = makeFramePacer(time, hear)

  return MediaRoom.of({
    scope,
    settle: (callId, needsAudio) => slots.move(callId, scope(!needsAudio).key, scope(needsAudio).key),
    isFull: () => placed() >= limit(),
    metrics: () => ({ placed: placed(), streams: pacer.size(), limit: limit(), framesLate }),
    pacer
  })
})
