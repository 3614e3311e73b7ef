/**
 * The audio of a call: a media channel beside it, both in a bridge that passes frames through. The media channel is a WebSocket that we open to
 * Asterisk, which paces what we send, or RTP if Asterisk has no such channel. Asterisk removes neither the media channel nor the bridge when the
 * callee hangs up: closing the scope does.
 */
import { randomUUID } from "node:crypto"
import { Deferred, Effect, type Scope } from "effect"
import type { CallId } from "#core/Id.ts"
import { complaint, textAt } from "#adapters/shared/Json.ts"
import { openRtp } from "./AriMediaRtp.ts"
import { openSocket } from "./AriMediaSocket.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { ask, type Asterisk, channelPath, isSuccess, type Leg, providerError } from "./Asterisk.ts"

/** Long enough for a busy Asterisk or a busy engine: the callee has answered, and late audio is better than none. */
const STARTED_TIMEOUT_MILLIS = 10_000
/** Asterisk may have loaded the module, or been upgraded, without a gap in its events. */
const NO_MEDIA_SOCKET_MILLIS = 600_000

export const openMedia = Effect.fn("ari.openMedia")(function* (asterisk: Asterisk, callId: CallId) {
  const bridgeId = randomUUID()
  // Does not have the form of a call's id, so that it is never taken for a call that nobody follows.
  const mediaId = `media-${randomUUID()}`
  const leg = yield* watch(asterisk, mediaId)
  yield* Effect.addFinalizer(() => remove(asterisk, bridgeId, mediaId))
  asterisk.bridges.add(bridgeId)
  const [stream] = yield* Effect.all([openLeg(asterisk, callId, mediaId, leg), createBridge(asterisk, bridgeId)], { concurrency: 2 })
  // Before its StasisStart the media channel cannot enter a bridge: 422.
  yield* Deferred.await(leg.started).pipe(
    Effect.timeoutOrElse({
      duration: STARTED_TIMEOUT_MILLIS,
      orElse: () => Effect.fail(providerError("openMedia", "the media channel did not start"))
    })
  )
  yield* ask(asterisk, "openMedia", { method: "POST", path: `/bridges/${bridgeId}/addChannel`, query: { channel: `${callId},${mediaId}` } })
  yield* Effect.acquireRelease(
    Effect.sync(() => asterisk.lines.set(callId, { bridgeId, mediaId })),
    () => Effect.sync(() => asterisk.lines.delete(callId))
  )
  return stream
})

const watch = (asterisk: Asterisk, mediaId: string): Effect.Effect<Leg, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const leg: Leg = { started: Deferred.makeUnsafe(), onGone: () => {} }
      asterisk.media.set(mediaId, {
        started: () => Deferred.doneUnsafe(leg.started, Effect.void),
        gone: () => {
          Deferred.doneUnsafe(leg.started, Effect.fail(providerError("openMedia", "the media channel ended")))
          leg.onGone()
        }
      })
      return leg
    }),
    () => Effect.sync(() => asterisk.media.delete(mediaId))
  )

/** Uninterruptible: anything created after its removal was requested would stay. */
const make = (asterisk: Asterisk, path: string, query: Readonly<Record<string, string>>, isTolerated?: (reply: Reply) => boolean) =>
  Effect.uninterruptible(ask(asterisk, "openMedia", { method: "POST", path, query }, isTolerated))

const createBridge = (asterisk: Asterisk, bridgeId: string) =>
  // The name shows whose bridge it is once nobody knows the id any more.
  make(asterisk, "/bridges", { type: "mixing", bridgeId, name: asterisk.application })

const openLeg = Effect.fnUntraced(function* (asterisk: Asterisk, callId: CallId, mediaId: string, leg: Leg) {
  const common = { app: asterisk.application, channelId: mediaId, format: "ulaw", data: `media,${callId}` }
  if (asterisk.now() >= asterisk.noMediaSocketUntil) {
    const query = { ...common, external_host: "INCOMING", transport: "websocket", encapsulation: "none", connection_type: "server" }
    const reply = yield* make(asterisk, "/channels/externalMedia", query, isNoMediaSocket)
    if (isSuccess(reply)) return yield* openSocket(asterisk, textAt(reply.body, "channelvars", "MEDIA_WEBSOCKET_CONNECTION_ID") ?? "")
    if (reply.status !== 500) asterisk.noMediaSocketUntil = asterisk.now() + NO_MEDIA_SOCKET_MILLIS
  }
  const localAddress = asterisk.socket?.localAddress() ?? "127.0.0.1"
  return yield* openRtp(leg, localAddress, mayHear(asterisk), (externalHost) =>
    make(asterisk, "/channels/externalMedia", { ...common, external_host: externalHost })
  )
})

/** The address of Asterisk itself was checked when the event WebSocket connected to it. */
const mayHear = (asterisk: Asterisk) => {
  const host = asterisk.socket?.remoteAddress()
  return (address: string): boolean => address === host || asterisk.egress.maySendTo(address)
}

/**
 * The replies of an Asterisk without WebSocket channels, which depend on its version. A 500 may mean that the module is not loaded, or that only
 * this channel failed, so it does not count for the next one.
 */
const isNoMediaSocket = ({ body, status }: Reply): boolean => [400, 404, 500, 501].includes(status) && complaint(body) !== ""

const remove = (asterisk: Asterisk, bridgeId: string, mediaId: string) =>
  Effect.all(
    [
      Effect.ignore(ask(asterisk, "closeMedia", { method: "DELETE", path: channelPath(mediaId) })),
      Effect.ignore(ask(asterisk, "closeMedia", { method: "DELETE", path: `/bridges/${bridgeId}` }))
    ],
    { concurrency: 2, discard: true }
  ).pipe(Effect.ensuring(Effect.sync(() => asterisk.bridges.delete(bridgeId))))
