/**
 * Events over websockets. A connection is accepted first and checked afterwards, because browsers report a close code to the page but not a
 * refused upgrade. Each connection is one fiber, which waits while the socket is full and never touches a closed socket.
 */
import { Cause, Duration, Effect, type Fiber, FiberSet, Result, Schema, Stream } from "effect"
import type { Static } from "typebox"
import type * as uws from "uWebSockets.js"
import { Compatibility } from "#core/Compatibility.ts"
import type { Event } from "#core/event/Event.ts"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { weightOf } from "#core/load/LoadShedding.ts"
import { CurrentAddress } from "#core/organization/CurrentTenant.ts"
import { followersOf } from "#core/organization/Quota.ts"
import type { RequestRates } from "#core/organization/RequestRates.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { hasScope } from "#core/organization/Scope.ts"
import { AllowedHosts, refusedByHead } from "#gateway/http/admission.ts"
import { authenticate, credentialHeaders, type Identities } from "#gateway/request/authenticate.ts"
import type { Proxies } from "#gateway/http/Client.ts"
import { Closing } from "#gateway/http/Closing.ts"
import { cookieCredential } from "#gateway/http/sessionCookie.ts"
import { refuseUpgrade } from "#gateway/http/refuseUpgrade.ts"
import { drained, type Written, written, writtenNow } from "#gateway/http/written.ts"
import { clientOf, requestId } from "#gateway/http/requestParts.ts"
import { DecidingEngine, PASSED_BY } from "#core/node/DecidingEngine.ts"
import { credentialLost, FollowingTimes, longestFollowing } from "./followerLimits.ts"
import { eventText } from "./toldOnce.ts"
import { overloadOf } from "#gateway/request/overloaded.ts"
import type { NotAuthenticated } from "#gateway/request/Refusal.ts"
import { shed, type Shedding } from "#gateway/request/shedding.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import { read } from "#gateway/request/validation.ts"
import type { Violation } from "#gateway/request/Violation.ts"
import { EventSocketQuery, feedbackWire, positionOf, selectionOf } from "#gateway/wire/Event.ts"

export const socketPath = "/api/v1/events/ws"

const maxMessageBytes = 1024
const KNOWN_LOOK = "1 second"
/** Close code that asks the client to connect again; registered with IANA. */
const SERVICE_RESTART = 1012
const maxBufferedBytes = 1_048_576

type Following = Closing | Identities | LiveEvents | LiveFeedback
type Socket = uws.WebSocket<Connection>

interface Connection extends Written {
  readonly id: string
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: string
  fiber: Fiber.Fiber<void> | undefined
}

/** Why the server ends a connection. */
class Ended extends Schema.TaggedError<Ended>()("Ended", { code: Schema.Int, reason: Schema.String }) {}

export const mountLiveEvents = (
  app: uws.TemplatedApp,
  trusted: Proxies,
  rates: RequestRates,
  shedding: Shedding
): Effect.Effect<void, never, Following> =>
  Effect.gen(function* () {
    const { awaited } = yield* Closing
    const runFork = yield* FiberSet.runtime(awaited)<Following>()
    const { idleSeconds } = yield* FollowingTimes
    const hosts = yield* AllowedHosts
    const deciding = yield* DecidingEngine
    app.ws<Connection>(socketPath, {
      idleTimeout: idleSeconds,
      sendPingsAutomatically: true,
      maxPayloadLength: maxMessageBytes,
      maxBackpressure: maxBufferedBytes,
      maxLifetime: Duration.toMinutes(longestFollowing),
      upgrade: (res, req, socket) => {
        const refused = refusedByHead(req, hosts)
        if (refused !== undefined) return refuseUpgrade(res, refused.reply, refused.closes)
        const connection = connectionOf(req, (id) => {
          const passedBy = req.getHeader(PASSED_BY)
          const named = passedBy === "" ? undefined : deciding.clientOf(passedBy, id)
          return named ?? clientOf({ res, isOver: false }, req, trusted).address
        })
        const isShed = shedding.refusal(connection.headers, connection, weightOf("change", 0)) !== undefined
        if (isShed) return refuseUpgrade(res, shed)
        return res.upgrade<Connection>(
          connection,
          req.getHeader("sec-websocket-key"),
          "",
          req.getHeader("sec-websocket-extensions"),
          socket
        )
      },
      open: (ws) => {
        const connection = ws.getUserData()
        connection.fiber = runFork(follow(ws, connection, rates))
      },
      drain: drained,
      close: (ws) => {
        const connection = ws.getUserData()
        connection.isOpen = false
        connection.fiber?.interruptUnsafe()
      }
    })
  })

/** Copies the request: `req` is invalid once its handler returns. */
const connectionOf = (req: uws.HttpRequest, addressOf: (requestId: string) => string): Connection => {
  const id = requestId(req)
  const headers: Record<string, string> = {}
  for (const name of credentialHeaders) {
    const value = req.getHeader(name)
    if (value !== "") headers[name] = value
  }
  const credential = Object.keys(headers).length === 0 ? cookieCredential(req) : undefined
  if (credential !== undefined) headers["authorization"] = credential
  return { id, address: addressOf(id), headers, query: req.getQuery() ?? "", isOpen: true, onDrain: new Set(), fiber: undefined }
}

const follow = (ws: Socket, connection: Connection, rates: RequestRates): Effect.Effect<void, never, Following> =>
  Effect.matchCauseEffect(Effect.provideService(followed(ws, connection, rates), CurrentAddress, connection.address), {
    onSuccess: () => Effect.sync(() => end(ws, connection, new Ended({ code: 1001, reason: "The service is shutting down" }))),
    onFailure: (cause) => {
      const ended = Cause.findErrorOption(cause)
      if (ended._tag === "Some") return Effect.sync(() => end(ws, connection, ended.value))
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      if (Result.isSuccess(overloadOf(cause))) return Effect.sync(() => end(ws, connection, tooBusy))
      const failed = new Ended({ code: 1011, reason: "Internal Server Error" })
      return Effect.andThen(
        Effect.logError("followed events failed", cause),
        Effect.sync(() => end(ws, connection, failed))
      )
    }
  })

const tooBusy = new Ended({ code: 4429, reason: "The engine is overloaded" })

/** Events are in the database; what is said in a call, not every engine hears. */
const followed = Effect.fnUntraced(function* (ws: Socket, connection: Connection, rates: RequestRates) {
  const query = yield* queryOf(connection)
  const { follow, isHere, mayRead, mayWatch } = yield* DecidingEngine
  const isKnownHere = () => isHere() || (orUndefined(query.run_id) === undefined ? mayRead() : mayWatch())
  if (isKnownHere()) {
    const unknown = Effect.repeat(Effect.sleep(KNOWN_LOOK), { until: () => !isKnownHere() })
    const again = Effect.andThen(unknown, new Ended({ code: SERVICE_RESTART, reason: "Another engine knows more: follow again" }))
    return yield* Effect.raceFirst(followedHere(ws, connection, { query, rates }), again)
  }
  const { begun } = yield* Closing
  const { address, headers, id } = connection
  const told = follow({ address, headers, id, path: `${socketPath}?${connection.query}` })
  return yield* Stream.interruptWhen(told, begun).pipe(
    Stream.runForEach((text) => send(ws, connection, text)),
    Effect.catchTag("SocketEnded", ({ code, reason }) => Effect.fail(new Ended({ code, reason })))
  )
})

interface Request {
  readonly query: Static<typeof EventSocketQuery>
  readonly rates: RequestRates
}

const followedHere = Effect.fnUntraced(function* (ws: Socket, connection: Connection, { query, rates }: Request) {
  const key = query.api_key === null ? {} : { "x-api-key": query.api_key }
  const credential = { ...key, ...connection.headers }
  const caller = yield* authenticate(credential, connection.address).pipe(
    Effect.mapError((error) =>
      error._tag === "NotAuthenticated" ? unwelcome(error) : new Ended({ code: 4429, reason: "Too many wrong keys" })
    )
  )
  if (rates.refusal(caller) !== undefined) return yield* new Ended({ code: 4429, reason: "Too many requests" })
  if (!hasScope(caller, "read")) return yield* new Ended({ code: 4403, reason: "The key lacks the scope 'read'" })
  const { organizationId } = caller
  const { begun } = yield* Closing
  const compatibility = yield* Compatibility
  const follow = yield* LiveEvents.use((_) =>
    _.follow(selectionOf(organizationId, query), positionOf(query.last_event_id), followersOf(caller))
  ).pipe(Effect.mapError(() => new Ended({ code: 4429, reason: "Too many connections" })))
  const textOf = (event: Event) => eventText(event, compatibility)
  const told = follow({
    write: (events) => Effect.forEach(events, (event) => send(ws, connection, textOf(event)), { discard: true }),
    writeNow: (events) => writtenNow(ws, connection, events.map(textOf))
  })
  const watched = orUndefined(query.run_id)
  const said =
    watched === undefined
      ? Effect.never
      : Stream.runForEach(yield* feedbackOf(organizationId, watched), (text) => send(ws, connection, text))
  yield* Effect.raceAllFirst([
    told,
    Effect.andThen(said, Effect.never),
    begun,
    Effect.mapError(credentialLost(credential, caller), unwelcome)
  ])
})

const feedbackOf = (organizationId: OrganizationId, runId: RunId) =>
  LiveFeedback.useSync(({ watch }) => Stream.map(watch(organizationId, runId), (event) => JSON.stringify(feedbackWire(event, runId))))

const unwelcome = ({ detail }: NotAuthenticated): Ended => new Ended({ code: 4401, reason: detail })

const queryOf = ({ query }: Connection): Effect.Effect<Static<typeof EventSocketQuery>, Ended> => {
  const found: Array<Violation> = []
  const value = read(EventSocketQuery, Object.fromEntries(new URLSearchParams(query)), ["query"], found)
  return found.length > 0
    ? Effect.fail(new Ended({ code: 4400, reason: "Bad query" }))
    : // `value` was validated against this schema.
      Effect.succeed(value as Static<typeof EventSocketQuery>)
}

/** Returns when the socket can take more. */
const send = (ws: Socket, connection: Connection, text: string): Effect.Effect<void, Ended> =>
  Effect.flatMap(FollowingTimes, ({ longestWait }) =>
    Effect.timeoutOrElse(written(ws, connection, text), {
      duration: longestWait,
      orElse: () => Effect.fail(new Ended({ code: 4408, reason: "The client read nothing for too long" }))
    })
  )

const end = (ws: Socket, connection: Connection, { code, reason }: Ended): void => {
  if (!connection.isOpen) return
  connection.isOpen = false
  ws.end(code, reason)
}
