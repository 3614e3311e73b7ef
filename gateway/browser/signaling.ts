/**
 * The websockets over which pages make calls from browsers. As for events, a connection is accepted first and checked afterwards, because browsers
 * report a close code to the page but not a refused upgrade. Each connection is one fiber; when the page closes it, the call is hung up.
 */
import { Cause, Effect, type Fiber, FiberSet, Queue, Result } from "effect"
import type * as uws from "uWebSockets.js"
import type { BrowserCalls } from "#core/call/BrowserCalls.ts"
import { weightOf } from "#core/load/LoadShedding.ts"
import { DecidingEngine, PASSED_BY } from "#core/node/DecidingEngine.ts"
import { CurrentAddress } from "#core/organization/CurrentTenant.ts"
import type { RequestRates } from "#core/organization/RequestRates.ts"
import type { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { FollowingTimes } from "#gateway/events/followerLimits.ts"
import { AllowedHosts, refusedByHead } from "#gateway/http/admission.ts"
import type { Proxies } from "#gateway/http/Client.ts"
import { Closing } from "#gateway/http/Closing.ts"
import { refuseUpgrade } from "#gateway/http/refuseUpgrade.ts"
import { drained, type Written, written } from "#gateway/http/written.ts"
import { clientOf, pathNames, requestId, requestParts } from "#gateway/http/requestParts.ts"
import { credentialHeaders, type Identities } from "#gateway/request/authenticate.ts"
import { overloadOf } from "#gateway/request/overloaded.ts"
import { shed, type Shedding } from "#gateway/request/shedding.ts"
import { type Conduct, conduct } from "./conduct.ts"
import { PageEnded } from "./PageEnded.ts"

export const signalingPath = "/api/v1/ws/signaling/:workflow_id/:run_id"

const maxMessageBytes = 65_536
const maxBufferedBytes = 262_144
/** What a page may say in all. */
const mostBytes = 1_048_576
/** Frames that may wait while the credential is checked, or a call begins. */
const mostWaiting = 96
const TOO_MUCH = 1008

type Needs = BrowserCalls | Closing | Identities | LiveFeedback
type Socket = uws.WebSocket<Connection>

interface Connection extends Written {
  readonly page: Omit<Conduct, "frames" | "rates" | "send" | "sendText">
  readonly address: string
  /** Received so far. */
  bytes: number
  frames: Queue.Queue<Uint8Array> | undefined
  fiber: Fiber.Fiber<void> | undefined
}

export const mountSignaling = (
  app: uws.TemplatedApp,
  trusted: Proxies,
  rates: RequestRates,
  shedding: Shedding
): Effect.Effect<void, never, Needs> =>
  Effect.gen(function* () {
    const { awaited } = yield* Closing
    const runFork = yield* FiberSet.runtime(awaited)<Needs>()
    const { idleSeconds } = yield* FollowingTimes
    const hosts = yield* AllowedHosts
    const deciding = yield* DecidingEngine
    const names = pathNames(signalingPath)
    app.ws<Connection>(signalingPath, {
      idleTimeout: idleSeconds,
      sendPingsAutomatically: true,
      maxPayloadLength: maxMessageBytes,
      maxBackpressure: maxBufferedBytes,
      upgrade: (res, req, context) => {
        const refused = refusedByHead(req, hosts)
        if (refused !== undefined) return refuseUpgrade(res, refused.reply, refused.closes)
        const id = requestId(req)
        const passedBy = req.getHeader(PASSED_BY)
        const named = passedBy === "" ? undefined : deciding.clientOf(passedBy, id)
        const address = named ?? clientOf({ res, isOver: false }, req, trusted).address
        const { headers, params, query } = requestParts(req, { headers: credentialHeaders, hasQuery: true }, names)
        const page = { address, headers: credentialOf(headers, query), id, params, path: req.getUrl() }
        if (shedding.refusal(page.headers, page, weightOf("change", 0)) !== undefined) return refuseUpgrade(res, shed)
        return res.upgrade<Connection>(
          { page, address, isOpen: true, bytes: 0, onDrain: new Set(), frames: undefined, fiber: undefined },
          req.getHeader("sec-websocket-key"),
          "",
          "",
          context
        )
      },
      open: (ws) => {
        const connection = ws.getUserData()
        const frames = Effect.runSync(Queue.dropping<Uint8Array>(mostWaiting))
        connection.frames = frames
        const sendText = (text: string) => send(ws, connection, text)
        const page = { ...connection.page, frames, rates, send: (frame: object) => sendText(JSON.stringify(frame)), sendText }
        connection.fiber = runFork(served(ws, connection, page))
      },
      message: (ws, message) => {
        const connection = ws.getUserData()
        connection.bytes += message.byteLength
        const isKept =
          connection.frames !== undefined &&
          connection.bytes <= mostBytes &&
          Queue.offerUnsafe(connection.frames, new Uint8Array(message.slice(0)))
        if (!isKept) end(ws, connection, new PageEnded({ code: TOO_MUCH, reason: "Too much was said" }))
      },
      drain: drained,
      close: (ws) => {
        const connection = ws.getUserData()
        connection.isOpen = false
        connection.fiber?.interruptUnsafe()
      }
    })
  })

/** Pages cannot send headers, so the token may be in the query. The one place that knows where a page's credential is. */
const credentialOf = (headers: Readonly<Record<string, string>>, query: string): Readonly<Record<string, string>> => {
  const token = new URLSearchParams(query).get("token")
  return token === null || token === "" ? headers : { authorization: `Bearer ${token}`, ...headers }
}

const served = (ws: Socket, connection: Connection, page: Conduct): Effect.Effect<void, never, Needs> =>
  Effect.matchCauseEffect(Effect.provideService(conduct(page), CurrentAddress, connection.address), {
    onSuccess: (ended) => Effect.sync(() => end(ws, connection, ended)),
    onFailure: (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const failed = new PageEnded({ code: 1011, reason: "Internal Server Error" })
      if (Result.isSuccess(overloadOf(cause))) return Effect.sync(() => end(ws, connection, tooBusy))
      return Effect.andThen(
        Effect.logError("the websocket of a call from a browser failed", cause),
        Effect.sync(() => end(ws, connection, failed))
      )
    }
  })

const tooBusy = new PageEnded({ code: 4429, reason: "The engine is overloaded" })

/** Returns when the socket can take more. */
const send = (ws: Socket, connection: Connection, text: string): Effect.Effect<void, PageEnded> =>
  Effect.flatMap(FollowingTimes, ({ longestWait }) =>
    Effect.timeoutOrElse(written(ws, connection, text), {
      duration: longestWait,
      orElse: () => Effect.fail(new PageEnded({ code: 4408, reason: "The page read nothing for too long" }))
    })
  )

const end = (ws: Socket, connection: Connection, { code, reason }: PageEnded): void => {
  if (!connection.isOpen) return
  connection.isOpen = false
  connection.fiber?.interruptUnsafe()
  ws.end(code, reason)
}
