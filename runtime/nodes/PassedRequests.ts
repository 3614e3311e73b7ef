/** Answers for the API which engine decides, and passes to it what this one may not answer itself. */
import { Effect, Layer, Result, Stream } from "effect"
import { failure, type Reply, shuttingDown } from "#gateway/http/Endpoint.ts"
import { DecidingEngine, type PassedRequest, SocketEnded } from "#gateway/ports/DecidingEngine.ts"
import { type Place, Sealer, type Seals } from "#core/Sealer.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import type { EnginePlace } from "#runtime/lock/EnginePlace.ts"
import { Handover } from "#runtime/lock/Handover.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { followSocket } from "./followSocket.ts"
import { passRequest } from "./passRequest.ts"

/** Long enough for another engine to take over; clients wait longer. */
const PATIENCE_MILLIS = 15_000
const LOOK = "50 millis"
const RETRY_SECONDS = "1"
/** Websocket close code: RFC 6455, "try again later". */
const TRY_AGAIN = 1013

const refused = failure(503, "No engine is in charge at the moment: try again")
const nobody: Reply = { ...refused, headers: [...refused.headers, ["retry-after", RETRY_SECONDS]] }
/** Not a 503, which clients repeat by themselves. */
const unsure = failure(
  502,
  "The engine that decides was lost while it had this request: look whether it was carried out, or repeat it with the same Idempotency-Key"
)

/** Sealed for one request, so that it names the client of no other. */
const placeOf = (requestId: string): Place => ({ id: requestId, of: "client of a request that is passed on", organizationId: undefined })

const opened = (sealer: Seals, sealed: string, requestId: string): string | undefined =>
  Result.getOrElse(
    Result.try(() => sealer.open(placeOf(requestId), sealed)),
    () => undefined
  )

export const layer = Layer.effect(
  DecidingEngine,
  Effect.gen(function* () {
    const { deciderAt } = yield* Charge
    const { hasFollowed } = yield* Dispatcher
    const { isDone } = yield* Handover
    const sealer = yield* Sealer
    const named = ({ client, id }: Pick<PassedRequest, "client" | "id">) => sealer.seal(placeOf(id), client.address)
    return {
      clientOf: (passedBy, requestId) => opened(sealer, passedBy, requestId),
      follow: (request) => {
        const place = deciderAt()
        if (place === undefined) return Stream.fail(new SocketEnded({ code: TRY_AGAIN, reason: "No engine is in charge at the moment" }))
        return followSocket(place, request, named(request))
      },
      isHere: isDone,
      mayRead: hasFollowed,
      pass: (request) => passed({ deciderAt, isDone }, request, named(request))
    }
  })
)

interface Known {
  readonly deciderAt: () => EnginePlace | undefined
  readonly isDone: () => boolean
}

/** An engine that is ending has not looked at the request. Its body, if it was streamed, may be gone. */
const isUndone = (reply: Reply, { body }: PassedRequest): boolean =>
  body !== "stream" && reply.status === shuttingDown.status && reply.body === shuttingDown.body

/** Waits for an engine that decides, which may be this one: a request that has not left yet does not notice a takeover. */
const passed = Effect.fnUntraced(function* ({ deciderAt, isDone }: Known, request: PassedRequest, passedBy: string) {
  const until = (yield* SteadyTime.now) + PATIENCE_MILLIS
  while (!isDone()) {
    const place = deciderAt()
    if (place !== undefined) {
      const isReplaced = () => isDone() || (deciderAt() ?? place) !== place
      const replaced = Effect.as(Effect.repeat(Effect.sleep(LOOK), { until: isReplaced }), unsure)
      const reply = yield* Effect.raceFirst(passRequest(place, request, passedBy), replaced).pipe(
        Effect.catchTag("Unanswered", () => Effect.succeed(unsure)),
        Effect.catchTag("NotSent", () => Effect.succeed(undefined))
      )
      if (reply !== undefined && !isUndone(reply, request)) return reply
    }
    if ((yield* SteadyTime.now) > until) return nobody
    yield* Effect.sleep(LOOK)
  }
  return undefined
})
