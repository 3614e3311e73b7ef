/** Follows a websocket of another engine for a client that is connected to this one. */
import { Cause, Deferred, Effect, Queue, Stream } from "effect"
import WebSocket from "ws"
import { PASSED_BY, type PassedSocket, SocketEnded } from "#core/node/DecidingEngine.ts"
import { hostHeader } from "#runtime/call/passOn.ts"
import type { EnginePlace } from "#runtime/lock/EnginePlace.ts"

const CONNECT_MILLIS = 5000
/** A client that has so many messages to read is cut off, as one that is connected to the other engine. */
const MOST_WAITING = 1000
/** Close codes: RFC 6455, and that of a client that does not read. */
const GOING_AWAY = 1001
const TOO_SLOW = 4408

export const followSocket = (
  { host, port }: EnginePlace,
  { headers, id, path }: PassedSocket,
  passedBy: string,
  said: Stream.Stream<string> = Stream.empty
): Stream.Stream<string, SocketEnded> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const heard = yield* Queue.dropping<string, SocketEnded | Cause.Done>(MOST_WAITING)
      const end = (code: number, reason: string) => void Queue.failCauseUnsafe(heard, Cause.fail(new SocketEnded({ code, reason })))
      const accepted = yield* Deferred.make<void>()
      const far = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const own = { ...hostHeader, [PASSED_BY]: passedBy, "x-request-id": id }
          const far = new WebSocket(`ws://${host}:${port}${path}`, { handshakeTimeout: CONNECT_MILLIS, headers: { ...headers, ...own } })
          far.on("open", () => Deferred.doneUnsafe(accepted, Effect.void))
          far.on("message", (data: Buffer) => {
            if (!Queue.offerUnsafe(heard, data.toString())) end(TOO_SLOW, "The client read nothing for too long")
          })
          // Without a close frame the engine is gone: the client connects again.
          far.on("close", (code, reason) =>
            code > 1006 || code < 1005 ? end(code, reason.toString()) : end(GOING_AWAY, "The engine is gone")
          )
          far.on("error", () => {})
          return far
        }),
        (far) => Effect.sync(() => far.terminate())
      )
      const saying = Stream.runForEach(said, (text) => Effect.sync(() => far.send(text)))
      yield* Effect.forkScoped(Effect.andThen(Deferred.await(accepted), saying))
      return Stream.fromQueue(heard)
    })
  )
