/**
 * Calls from browsers. Each takes a slot of its organization, as a call that is dialed does, and gives it back when it ends; nothing else is asked for:
 * no window, no number, no trunk. Which of two pages has the call of a run is decided in the database.
 */
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as beginning from "#core/call/BrowserBeginning.ts"
import { type BrowserCall, BrowserCallRefused, BrowserCalls, type BrowserPage, type FirstOffer } from "#core/call/BrowserCalls.ts"
import { ConcurrencyExhausted, MediaExhausted } from "#core/call/Dialer.ts"
import type { CallId } from "#core/Id.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { CallWatcher } from "#runtime/call/LiveCall.ts"
import { Config } from "#runtime/config/config.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { organizationScope, type Restore, takeSlot } from "#runtime/dispatch/takeSlot.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { BrowserTrunk } from "./BrowserTrunk.ts"
import { makeExpecting } from "./expecting.ts"

/** When a client may try again after all audio capacity was in use. */
const MEDIA_AGAIN_SECONDS = 5

interface Services {
  readonly browsers: BrowserTrunk["Service"]
  readonly clock: Clock.Clock
  readonly local: LocalJournal["Service"]
  readonly lock: EngineLock["Service"]
  readonly media: MediaRoom["Service"]
  readonly nodeName: string
  readonly slots: Slots["Service"]
  readonly sql: SqlClient.SqlClient
  readonly supervisor: CallSupervisor["Service"]
}

export const layer = Layer.effect(
  BrowserCalls,
  Effect.gen(function* () {
    const services: Services = {
      browsers: yield* BrowserTrunk,
      clock: yield* Clock.Clock,
      local: yield* LocalJournal,
      lock: yield* EngineLock,
      media: yield* MediaRoom,
      nodeName: (yield* Config).nodeName,
      slots: yield* Slots,
      sql: yield* SqlClient.SqlClient,
      supervisor: yield* CallSupervisor
    }
    return {
      expect: yield* makeExpecting,
      // A page that is closed meanwhile must not leave behind a slot, or an attempt without a call.
      begin: Effect.fn("BrowserCalls.begin")((run, offer, page) =>
        Effect.uninterruptibleMask((restore) => begin(services, run, offer, page, restore))
      )
    }
  })
)

const begin = Effect.fnUntraced(function* (
  services: Services,
  run: beginning.RunOf,
  { context, sdp }: FirstOffer,
  page: BrowserPage,
  restore: Restore
) {
  const { clock, local, lock, nodeName, slots, sql } = services
  if (!lock.isHeld()) return yield* new BrowserCallRefused({ reason: "The engine is stopping, or does not reach its database" })
  const now = clock.currentTimeMillisUnsafe()
  const callId = newCallId(now)
  yield* admit(services, callId, run, restore)
  const release = Effect.sync(() => slots.release(callId))
  const attempt = yield* beginning.begin(sql, run, { callId, context, journal: local.id, node: nodeName, now }).pipe(
    Effect.catchTag("SqlError", Effect.die),
    Effect.onError(() => release)
  )
  return yield* Effect.onError(connect(services, attempt, sdp, page), () => release)
})

/** Takes the call's slot. All of these calls have audio, here. */
const admit = Effect.fnUntraced(function* (
  { media, slots, sql }: Services,
  callId: CallId,
  { organizationId }: beginning.RunOf,
  restore: Restore
) {
  const own = yield* organizationScope(sql, organizationId)
  const isFull = () => own.limit !== undefined && slots.used(own.key) >= own.limit
  if (!(yield* takeSlot(slots, callId, [own, media.scope(true)], restore)))
    return yield* isFull() ? new ConcurrencyExhausted() : new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS })
  const here = media.here()
  if (here.calls <= here.limit) return
  // Only call nodes have room. The call's own slot counts here.
  slots.release(callId)
  return yield* new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS })
})

const connect = Effect.fnUntraced(function* (
  { browsers, supervisor }: Services,
  attempt: beginning.BrowserAttempt,
  sdp: string,
  page: BrowserPage
) {
  const { callId } = attempt
  const connection = browsers.open(callId, page)
  yield* supervisor.receive(attempt, browsers.trunk, watcherFor(page)).pipe(Effect.onError(() => Effect.sync(connection.close)))
  connection.offer(sdp)
  const call: BrowserCall = {
    offer: (sdp) => connection.offer(sdp),
    candidate: (candidate) => connection.candidate(candidate),
    hangUp: () => browsers.left(callId)
  }
  return call
})

const watcherFor = ({ ended }: BrowserPage): CallWatcher => {
  let isOver = false
  const over: BrowserPage["ended"] = (cause) => {
    if (isOver) return
    isOver = true
    ended(cause)
  }
  return {
    over: (how) => over(how._tag === "Ended" ? how.cause : "internal_error"),
    // Its actor has failed.
    gone: () => over("internal_error")
  }
}
