/**
 * A request's life between the socket and the handler: the stages, in order. The cheapest refusals come first, and a body is only parsed for
 * callers who may use the route. `gateway/http/server.ts` runs the head's stages as soon as the head has arrived, and the others once the body
 * has. Stages are composed when routes are built; a stage that a route does not need costs its requests nothing.
 */
import { Effect } from "effect"
import type { AuditLog } from "#core/organization/AuditLog.ts"
import type { Caller } from "#core/organization/Caller.ts"
import type { RequestRates } from "#core/organization/RequestRates.ts"
import { weightOf } from "#core/load/LoadShedding.ts"
import { heavy, type HeavyLanes } from "#core/load/HeavyWork.ts"
import { audited } from "./audit.ts"
import { authenticate, authenticateKey, credentialHeaders, type Identities } from "./authenticate.ts"
import { forbidden } from "./authorize.ts"
import { type Asked, type Endpoint, failure, type Reply } from "#gateway/http/Endpoint.ts"
import { fillIn, type Given, isEmpty, nothingGiven } from "./given.ts"
import { type Parsed, parseAs } from "./json.ts"
import { matched } from "#gateway/http/resolved.ts"
import { orOverloaded, overloaded } from "./overloaded.ts"
import { NotAuthenticated, refuse, unprocessable } from "./Refusal.ts"
import { responder } from "./respond.ts"
import type { Route } from "./Route.ts"
import type { Shedding } from "./shedding.ts"
import { missing } from "./Violation.ts"
import { withinTenant } from "./withinTenant.ts"

interface StageOptions {
  /** Whether every answer is checked against its own schema; one that does not fit becomes a 500. For tests. */
  readonly checksAnswers: boolean
  /** The caller of a recently authenticated API key. */
  readonly remembered: (rawKey: string) => Caller | undefined
  readonly rates: Pick<RequestRates, "refusal">
  readonly shedding: Shedding
  readonly lanes: Pick<(typeof HeavyLanes)["Service"], "refusalFor">
}

/** What every route needs. */
export type GatewayNeeds = Identities | AuditLog

/** What is known of a request so far. */
interface Progress {
  readonly asked: Asked
  /** The body of a route with JSON, once it is parsed. */
  json: Parsed | undefined
  readonly given: Given
}

/** Judges a request by its head, before its body arrives. Undefined: nothing to refuse. */
type HeadStage = <R>(route: Route<R>, options: StageOptions) => Endpoint<R>["refusal"] | undefined

type Step<R> = (request: Progress) => Effect.Effect<Reply, never, R | GatewayNeeds>
/** Refuses the request, or adds to what is known of it and goes on with `next`. */
type Stage = <R>(route: Route<R>, options: StageOptions, next: Step<R>) => Step<R>

// --- the head

/** Without a credential, there is no point in waiting for a body. */
const requireCredential: HeadStage = ({ access }) =>
  access === "api-key"
    ? (headers) => (credentialHeaders.every((name) => headers[name] === undefined) ? noCredential : undefined)
    : undefined

/**
 * Refuses the busiest clients while the thread is overloaded, but never a health check: restarting the engine for it would make things worse.
 */
const shedLoad: HeadStage = ({ isHeavy, method, tag }, { shedding }) => {
  const kind = isHeavy ? "heavy" : method === "get" ? "light" : "change"
  return tag.name === "Health" ? undefined : (headers, client, bodyBytes) => shedding.refusal(headers, client, weightOf(kind, bodyBytes))
}

/** Refuses a large body that would find no lane before it arrives: receiving it costs more than refusing it. */
const requireLane: HeadStage = ({ body }, { lanes, rates, remembered }) =>
  body._tag === "Json"
    ? (headers, _, bodyBytes) => {
        const caller = bodyBytes >= heavyBytes ? remembered(headers[keyHeader] ?? "") : undefined
        const full = caller && lanes.refusalFor(caller.organizationId)
        if (caller === undefined || full === undefined) return undefined
        const tooMany = rates.refusal(caller)
        return tooMany === undefined ? overloaded(full) : refuse(tooMany)
      }
    : undefined

// --- the whole request

/** A route that accepts the key only in its own header treats its absence as an invalid request. */
const requireKeyHeader: Stage = ({ access }, _, next) =>
  access === "api-key-header"
    ? (request) => (request.asked.headers[keyHeader] === undefined ? Effect.succeed(keyMissing) : next(request))
    : next

/** Turns an overload in any later stage into a 429 or 503. */
const answerOverload: Stage = (_, __, next) => (request) => orOverloaded(request.asked.client, next(request))

/** What an administrator changes, such as where events are sent to, lasts: who has just lost the right to it gets no second more. */
const isLasting = ({ method, needs }: Pick<Route<unknown>, "method" | "needs">): boolean =>
  method !== "get" && needs !== "viewer" && needs !== "member"

const identifyCaller: Stage = (route, { remembered }, next) => {
  if (route.access === "none") return next
  const ask = route.access === "api-key" ? authenticate : authenticateKey
  const isFresh = isLasting(route)
  return (request) => {
    const { asked, given } = request
    const caller = isFresh ? undefined : remembered(asked.headers[keyHeader] ?? "")
    // A forbidden caller may have been granted more since, so check again.
    if (caller !== undefined && forbidden(route, caller) === undefined) {
      given.caller = caller
      return next(request)
    }
    return matched(ask(asked.headers, asked.client.address, isFresh), {
      onFailure: (error) => Effect.succeed(refuse(error)),
      onSuccess: (caller) => {
        given.caller = caller
        return next(request)
      }
    })
  }
}

const limitRate: Stage = ({ access }, { rates }, next) =>
  access === "none"
    ? next
    : (request) => {
        const { caller } = request.given
        const tooMany = caller && rates.refusal(caller)
        return tooMany === undefined ? next(request) : Effect.succeed(refuse(tooMany))
      }

const authorize: Stage = (route, _, next) =>
  route.access === "none"
    ? next
    : (request) => {
        const { caller } = request.given
        const refusal = caller && forbidden(route, caller)
        return refusal === undefined ? next(request) : Effect.succeed(refuse(refusal))
      }

/** A large body is not parsed before its organization has a lane. */
const waitForLane: Stage = ({ access, body }, _, next) =>
  access === "none" || body._tag !== "Json"
    ? next
    : (request) => {
        const { asked, given } = request
        if (given.caller === undefined || asked.bytes.byteLength < heavyBytes) return next(request)
        return heavy(
          Effect.suspend(() => next(request)),
          given.caller.organizationId
        )
      }

const parseBody: Stage = ({ body }, _, next) =>
  body._tag === "Json"
    ? (request) => {
        const { bytes, headers } = request.asked
        const json = parseAs(headers["content-type"], bytes, body)
        if (json._tag === "Refused") return Effect.succeed(unprocessable([json.violation]))
        if (json._tag === "Unreadable") return Effect.succeed(unreadable)
        request.json = json
        return next(request)
      }
    : next

/** Between two long steps, other requests get the thread. */
const yieldThread: Stage = ({ body }, _, next) =>
  body._tag === "Json"
    ? (request) =>
        request.asked.bytes.byteLength < heavyBytes
          ? next(request)
          : Effect.andThen(
              Effect.yieldNow,
              Effect.suspend(() => next(request))
            )
    : next

const validate: Stage = (route, _, next) => (request) => {
  const violations = fillIn(request.given, route, request.asked, request.json)
  return violations.length > 0 ? Effect.succeed(unprocessable(violations)) : next(request)
}

/** From here on, the database only shows the caller's rows. */
const confineToTenant: Stage = ({ access, success }, _, next) =>
  access === "none" ? next : (request) => withinTenant(request.given.caller, success._tag === "Content", next(request))

/** What the route puts around its handler, such as `Idempotency-Key`. */
const wrap: Stage = ({ around }, _, next) =>
  around === undefined ? next : (request) => around(request.given, next(request), request.asked.headers)

/** Runs the handler, in a lane if the route is heavy. Success goes into the audit log; a domain error becomes a status and a `detail`. */
const handle: Stage = (route, { checksAnswers }) => {
  const respond = responder(route, checksAnswers)
  return ({ asked, given }) => {
    const work = route.handle(given)
    return matched(audited(route, given, route.isHeavy ? heavy(work) : work), {
      onFailure: (error) => Effect.succeed(refuse(error)),
      onSuccess: (value) => Effect.succeed(respond(value, asked))
    })
  }
}

export const headStages: ReadonlyArray<HeadStage> = [requireCredential, shedLoad, requireLane]

export const stages: ReadonlyArray<Stage> = [
  requireKeyHeader,
  answerOverload,
  identifyCaller,
  limitRate,
  authorize,
  waitForLane,
  parseBody,
  yieldThread,
  validate,
  confineToTenant,
  wrap,
  handle
]

export const endpointOf = <R>(route: Route<R>, options: StageOptions): Endpoint<R | GatewayNeeds> => {
  const judgeHead = headStages
    .flatMap((stage) => stage(route, options) ?? [])
    .reduceRight((next, judge) => (headers, client, bytes) => judge(headers, client, bytes) ?? next(headers, client, bytes), notRefused)
  const live = stages.reduceRight<Step<R>>((next, stage) => stage(route, options, next), unanswered)
  return {
    method: route.method,
    path: route.path,
    headers: wantedHeaders(route),
    hasQuery: !isEmpty(route.query.properties),
    isSealed: route.isSealed,
    body: route.body._tag === "Json" ? "bytes" : route.body._tag === "Upload" ? "stream" : "none",
    bodyLimit: route.body._tag === "None" ? 0 : route.body.maxBytes,
    refusal: judgeHead,
    answer: (asked) => live({ asked, json: undefined, given: nothingGiven(asked) })
  }
}
const notRefused: Endpoint<never>["refusal"] = () => undefined
/** After the last stage, which answers. */
const unanswered: Step<never> = () => Effect.die(new Error("No stage answers"))

/** From this size on, a body is heavy work. */
const heavyBytes = 65_536
const keyHeader = "x-api-key"
const noCredential = refuse(new NotAuthenticated({ detail: "Authorization header required" }))
const keyMissing = unprocessable([missing(["header", "X-API-Key"], null)])
const unreadable = failure(400, "There was an error parsing the body")

/** Only headers that are read: each costs a copy. */
const wantedHeaders = <R>(route: Route<R>): ReadonlyArray<string> => {
  const credentials = route.access === "none" ? [] : credentialHeaders
  const type = route.body._tag === "Json" ? ["content-type"] : []
  const range = route.success._tag === "Content" ? ["range", "accept-encoding"] : []
  return [...new Set([...credentials, ...type, ...range, ...Object.keys(route.headers.properties).map((name) => name.toLowerCase())])]
}
