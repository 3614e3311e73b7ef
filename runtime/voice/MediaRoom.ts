/**
 * Limits the calls with audio on this node: to the operator's limit, or a lower one if late audio has shown that the node cannot carry as many.
 * Counted in the same slots as all other limits, so that a call that ends makes room for the next one.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { judge, type MediaLoad, unlimited } from "#core/provider/MediaLimit.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { type SlotScope, Slots } from "#runtime/dispatch/Slots.ts"
import type { MediaMetrics } from "#runtime/metrics/MediaMetrics.ts"
import { type FramePacer, makeFramePacer, type PacerTime, systemTime } from "./FramePacer.ts"

/** A lowered limit is logged at most once in this time. */
const LOG_MILLIS = 60_000

const mediaKey = "media"
/** Calls without audio are counted too, so that a call can move to the other scope once it is known whether it needs audio. */
const silent: SlotScope = { key: "silent", limit: undefined }

export class MediaRoom extends Context.Service<
  MediaRoom,
  {
    /** The scope in which a call counts. Its limit is always the current one. */
    readonly scope: (needsAudio: boolean) => SlotScope
    /** Corrects the assumption made when the call's slot was taken. */
    readonly settle: (callId: string, needsAudio: boolean) => void
    readonly isFull: () => boolean
    /** The calls on this node itself: those with audio, their limit, and all of them. Reserved slots may become calls of other nodes. */
    readonly here: () => { readonly calls: number; readonly limit: number; readonly all: number }
    /** Set once: call nodes carry these calls, which hold slots here, and may carry so many with audio. */
    readonly join: (nodes: { readonly calls: (needsAudio: boolean) => number; readonly limit: () => number }) => void
    readonly metrics: () => MediaMetrics
    /** Paces the audio of all calls of this node. */
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

  let nodes: Parameters<MediaRoom["Service"]["join"]>[0] = { calls: () => 0, limit: () => 0 }
  const limit = () => Math.min(maxLiveMedia, found.limit)
  const media: SlotScope = {
    key: mediaKey,
    get limit() {
      return limit() + nodes.limit()
    }
  }
  const scope = (needsAudio: boolean) => (needsAudio ? media : silent)
  const everywhere = (needsAudio: boolean) => slots.used(scope(needsAudio).key) - slots.reserved(scope(needsAudio).key)
  const hereWith = (needsAudio: boolean) => everywhere(needsAudio) - nodes.calls(needsAudio)
  const placed = () => hereWith(true)

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
    isFull: () => everywhere(true) >= limit() + nodes.limit(),
    here: () => {
      const calls = placed()
      return { all: calls + hereWith(false), calls, limit: limit() }
    },
    join: (joined) => {
      nodes = joined
    },
    metrics: () => ({ placed: placed(), streams: pacer.size(), limit: limit(), framesLate }),
    pacer
  })
})
