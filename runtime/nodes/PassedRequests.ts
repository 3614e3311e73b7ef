/** Answers for the API which engine decides, and passes to it what this one may not answer itself. */
import { Effect, Layer, Result, Stream } from "effect"
import {
  DecidingEngine,
  type Passage,
  type PassedReply,
  type PassedRequest,
  type PassedSocket,
  SHUTTING_DOWN,
  SocketEnded
} from "#core/node/DecidingEngine.ts"
import { type Place, Sealer, type Seals } from "#core/Sealer.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import type { EnginePlace } from "#runtime/lock/EnginePlace.ts"
import { Handover } from "#runtime/lock/Handover.ts"
import { Redis } from "#runtime/redis/Redis.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { followSocket } from "./followSocket.ts"
import { passRequest } from "./passRequest.ts"

/** Long enough for another engine to take over; clients wait longer. */
const PATIENCE_MILLIS = 15_000
const LOOK = "50 millis"
/** Websocket close code: RFC 6455, "try again later". */
const TRY_AGAIN = 1013

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
    const redis = yield* Redis
    const sealer = yield* Sealer
    const named = ({ address, id }: PassedSocket) => sealer.seal(placeOf(id), address)
    return {
      clientOf: (passedBy, requestId) => opened(sealer, passedBy, requestId),
      follow: (request, said) => {
        const place = deciderAt()
        if (place === undefined) return Stream.fail(new SocketEnded({ code: TRY_AGAIN, reason: "No engine is in charge at the moment" }))
        return followSocket(place, request, named(request), said)
      },
      isHere: isDone,
      mayRead: hasFollowed,
      mayWatch: () => hasFollowed() && redis.state()._tag === "Up",
      pass: (request) => passed({ deciderAt, isDone }, request, named(request))
    }
  })
)

interface Known {
  readonly deciderAt: () => EnginePlace | undefined
  readonly isDone: () => boolean
}

/** An engine that is ending has not looked at the request. Its body, if it was streamed, may be gone. */
const isUndone = ({ body, status }: PassedReply, request: PassedRequest): boolean =>
  request.body instanceof Uint8Array && status === 503 && typeof body === "string" && body.includes(SHUTTING_DOWN)

/** Waits for an engine that decides, which may be this one: a request that has not left yet does not notice a takeover. */
const passed = Effect.fnUntraced(function* ({ deciderAt, isDone }: Known, request: PassedRequest, passedBy: string) {
  const until = (yield* SteadyTime.now) + PATIENCE_MILLIS
  while (!isDone()) {
    const place = deciderAt()
    const reply = place && (yield* asked({ deciderAt, isDone }, place, request, passedBy))
    if (reply !== undefined) return reply
    if ((yield* SteadyTime.now) > until) return { _tag: "Nobody" } satisfies Passage
    yield* Effect.sleep(LOOK)
  }
  return { _tag: "Here" } satisfies Passage
})

const told = ({ id }: PassedRequest, why: string) =>
  Effect.annotateLogs(Effect.logWarning("the engine that decides was lost while it had a request"), { requestId: id, why })

/** Undefined: the engine there has not looked at the request. */
const asked = ({ deciderAt, isDone }: Known, place: EnginePlace, request: PassedRequest, passedBy: string) => {
  const isReplaced = () => isDone() || (deciderAt() ?? place) !== place
  const lost: Passage = { _tag: "Lost" }
  const answered = Effect.map(passRequest(place, request, passedBy), (reply): Passage | undefined =>
    isUndone(reply, request) ? undefined : { _tag: "Answered", reply }
  )
  return Effect.raceFirst(
    answered,
    Effect.as(Effect.andThen(Effect.repeat(Effect.sleep(LOOK), { until: isReplaced }), told(request, "another engine decides")), lost)
  ).pipe(
    Effect.catchTag("Unanswered", ({ why }) => Effect.as(told(request, why), lost)),
    Effect.catchTag("NotSent", () => Effect.succeed(undefined))
  )
}
