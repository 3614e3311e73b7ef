/**
 * From a route to an endpoint: what is checked of a request, and in which order. First who asks and whether that role may, so that nobody
 * else has a body parsed; then whether the body is JSON at all; then path, query, headers and body together, so that a client hears of all
 * that is wrong at once.
 */
import { Effect } from "effect"
import Type, { type TObject, type TSchema } from "typebox"
import { Compile } from "typebox/compile"
import type { AuditLog } from "#core/organization/AuditLog.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { OperatorNeeded, type TooManyRequests } from "#core/organization/Quota.ts"
import type { RequestRates } from "#core/organization/RequestRates.ts"
import { includes, RoleTooLow } from "#core/organization/Role.ts"
import { hasScope, ScopeMissing } from "#core/organization/Scope.ts"
import type { TooManyWrongKeys } from "#core/organization/WrongKeys.ts"
import { weightOf } from "#core/load/LoadShedding.ts"
import { heavy, type HeavyLanes } from "#core/load/HeavyWork.ts"
import { isStorable } from "#core/storable.ts"
import { audited } from "./audit.ts"
import { authenticate, authenticateKey, credentialHeaders, type Identities } from "./authenticate.ts"
import { withinTenant } from "./withinTenant.ts"
import { type Asked, type Endpoint, failure, json, type Reply } from "#gateway/http/Endpoint.ts"
import { contentReply } from "./content.ts"
import { decodeText, notStorable, type Parsed, parse } from "./json.ts"
import { resolved } from "#gateway/http/resolved.ts"
import { orOverloaded, overloaded } from "./overloaded.ts"
import { NotAuthenticated, refuse, unprocessable } from "./Refusal.ts"
import type { AnyGiven, Content, Listed, Route } from "./Route.ts"
import type { Shedding } from "./shedding.ts"
import { read } from "./validation.ts"
import { missing, type Violation } from "./Violation.ts"

const noQuery: Readonly<Record<string, string>> = {}

type Rates = Pick<RequestRates, "refusal">

interface AnswerOptions {
  /** Whether every answer is held against its own schema; one that does not fit becomes a 500. For tests. */
  readonly checksAnswers: boolean
  /** The caller of a key, where that is known already. */
  readonly remembered: (rawKey: string) => Caller | undefined
  readonly rates: Rates
  readonly shedding: Shedding
  readonly lanes: Pick<(typeof HeavyLanes)["Service"], "refusalFor">
}

/** What every route stands on. */
export type GatewayNeeds = Identities | AuditLog

export const endpointOf = <R>(route: Route<R>, options: AnswerOptions): Endpoint<R | GatewayNeeds> => {
  const respond = responder(route, options)
  const kind = route.isHeavy ? "heavy" : route.method === "get" ? "light" : "change"
  const isVital = route.tag === "Health"
  return {
    method: route.method,
    path: route.path,
    headers: wantedHeaders(route),
    hasQuery: !isEmpty(route.query.properties),
    body: route.body._tag === "Json" ? "bytes" : route.body._tag === "Upload" ? "stream" : "none",
    bodyLimit: route.body._tag === "None" ? 0 : route.body.maxBytes,
    refusal: (headers, client, bodyBytes) => {
      // Without a key, nobody waits for what would not be read.
      if (route.access === "api-key" && credentialHeaders.every((name) => headers[name] === undefined)) return nobody
      // Whoever restarts engines that do not answer would make it worse.
      const refused = isVital ? undefined : options.shedding.refusal(headers, client, weightOf(kind, bodyBytes))
      if (refused !== undefined) return refused
      return route.body._tag === "Json" && bodyBytes >= heavyBytes ? crowdedOut(headers, options) : undefined
    },
    answer: (asked) => {
      if (route.access === "api-key-header" && asked.headers[keyHeader] === undefined) return Effect.succeed(keyMissing)
      return orOverloaded(
        asked.client,
        matched(callerOf(route, asked, options), {
          onFailure: (error) => Effect.succeed(refuse(error)),
          onSuccess: (caller) =>
            caller === undefined || asked.bytes.byteLength < heavyBytes
              ? judged(route, asked, caller, respond)
              : heavy(
                  Effect.suspend(() => judged(route, asked, caller, respond)),
                  caller.organizationId
                )
        })
      )
    }
  }
}

/** A body of so many bytes is not read before its organization has its turn. */
const heavyBytes = 65_536

/** A body that would find no lane is refused before it comes: to receive it costs more than to say so. */
const crowdedOut = (headers: Asked["headers"], { lanes, rates, remembered }: AnswerOptions): Reply | undefined => {
  const caller = remembered(headers[keyHeader] ?? "")
  if (caller === undefined) return undefined
  const full = lanes.refusalFor(caller.organizationId)
  if (full === undefined) return undefined
  const tooMany = rates.refusal(caller)
  return tooMany === undefined ? overloaded(full) : refuse(tooMany)
}

const keyHeader = "x-api-key"
const nobody = refuse(new NotAuthenticated({ detail: "Authorization header required" }))
const keyMissing = unprocessable([missing(["header", "X-API-Key"], null)])

/** A request whose caller, where there has to be one, may ask for this. */
const judged = <R>(
  route: Route<R>,
  asked: Asked,
  caller: Caller | undefined,
  respond: Respond
): Effect.Effect<Reply, never, R | AuditLog> => {
  const body = bodyOf(route, asked)
  return asked.bytes.byteLength < heavyBytes
    ? readAndHandled(route, asked, body, caller, respond)
    : // Whoever else waits for the thread has it between two long steps.
      Effect.andThen(
        Effect.yieldNow,
        Effect.suspend(() => readAndHandled(route, asked, body, caller, respond))
      )
}

const readAndHandled = <R>(
  route: Route<R>,
  asked: Asked,
  body: Parsed | undefined,
  caller: Caller | undefined,
  respond: Respond
): Effect.Effect<Reply, never, R | AuditLog> => {
  if (body?._tag === "Refused") return Effect.succeed(unprocessable([body.violation]))
  if (body?._tag === "Unreadable") return Effect.succeed(failure(400, "There was an error parsing the body"))
  const given = givenOf(route, asked, body, caller)
  return "violations" in given ? Effect.succeed(unprocessable(given.violations)) : handled(route, asked, given, respond)
}

/** What is known already needs no fiber: neither then does the answer, if it is known as well. */
const matched = <A, E, R, S>(
  effect: Effect.Effect<A, E, R>,
  cases: { readonly onSuccess: (value: A) => Effect.Effect<Reply, never, S>; readonly onFailure: (error: E) => Effect.Effect<Reply> }
): Effect.Effect<Reply, never, R | S> => {
  const value = resolved(effect)
  return value === undefined ? Effect.matchEffect(effect, cases) : cases.onSuccess(value.value)
}

/** Only what is looked at: each costs a copy. */
const wantedHeaders = <R>(route: Route<R>): ReadonlyArray<string> => {
  const credentials = route.access === "none" ? [] : credentialHeaders
  const type = route.body._tag === "Json" ? ["content-type"] : []
  const range = route.success._tag === "Content" ? ["range"] : []
  return [...new Set([...credentials, ...type, ...range, ...headerNames(route).map((name) => name.toLowerCase())])]
}

const handled = <R>(route: Route<R>, asked: Asked, given: AnyGiven, respond: Respond): Effect.Effect<Reply, never, R | AuditLog> => {
  const work = route.handle(given)
  const reply = matched(audited(route, given, route.isHeavy ? heavy(work) : work), {
    onFailure: (error) => Effect.succeed(refuse(error)),
    onSuccess: (value) => Effect.succeed(respond(value, asked))
  })
  return withinTenant(
    given.caller,
    route.success._tag === "Content",
    route.around === undefined ? reply : route.around(given, reply, asked.headers)
  )
}

type Unknown = NotAuthenticated | TooManyWrongKeys
type Forbidden = OperatorNeeded | RoleTooLow | ScopeMissing
type Unwelcome = Unknown | Forbidden | TooManyRequests

const callerOf = <R>(
  route: Route<R>,
  { client, headers }: Asked,
  { rates, remembered }: AnswerOptions
): Effect.Effect<Caller | undefined, Unwelcome, Identities> => {
  if (route.access === "none") return Effect.undefined
  const caller = remembered(headers[keyHeader] ?? "")
  if (caller !== undefined && forbidden(route, caller) === undefined) {
    const refusal = rates.refusal(caller)
    return refusal === undefined ? Effect.succeed(caller) : Effect.fail(refusal)
  }
  return allowed(
    route,
    rates,
    route.access === "api-key" ? authenticate(headers, client.address) : authenticateKey(headers, client.address)
  )
}

/** Why a caller may not use a route. */
const forbidden = <R>({ needs, scope }: Route<R>, caller: Caller): Forbidden | undefined => {
  if (needs !== "operator" && !includes(caller.role, needs)) return new RoleTooLow()
  if (!hasScope(caller, scope)) return new ScopeMissing({ scope })
  return needs === "operator" && caller.isOperator !== true ? new OperatorNeeded() : undefined
}

const allowed = <R>(
  route: Route<R>,
  rates: Rates,
  caller: Effect.Effect<Caller, Unknown, Identities>
): Effect.Effect<Caller, Unwelcome, Identities> =>
  Effect.flatMap(caller, (one) => {
    const refusal = rates.refusal(one) ?? forbidden(route, one)
    return refusal === undefined ? Effect.succeed(one) : Effect.fail(refusal)
  })

type Respond = (value: unknown, asked: Asked) => Reply

const responder = <R>({ name, path, success }: Route<R>, { checksAnswers }: AnswerOptions): Respond => {
  // `download` lets nothing else than Content through.
  if (success._tag === "Content") return (value, asked) => contentReply(value as Content, asked.headers["range"])
  // And `redirect` nothing else than an address.
  if (success._tag === "Redirect") return (value) => ({ status: 302, headers: [["location", value as string]], body: "" })
  const validator = checksAnswers ? Compile(success.schema) : undefined
  const answer = (value: unknown): Reply => {
    if (validator?.Check(value) === false) {
      throw new Error(`${name} does not answer as declared: ${JSON.stringify(validator.Errors(value))}`)
    }
    return json(200, value)
  }
  if (!success.isListed) return answer
  return (value, asked) => {
    // And `list` nothing else than a part of one.
    const { body, next } = value as Listed<unknown>
    const reply = answer(body)
    return next === undefined ? reply : { ...reply, headers: [...reply.headers, ["link", linkTo(path, asked, next)]] }
  }
}

/** The same request for the next part. */
const linkTo = (path: string, { params, query }: Asked, next: NonNullable<Listed<unknown>["next"]>): string => {
  const place = path.replaceAll(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(next)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
  return `<${place}?${parameters}>; rel="next"`
}

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i

/** Undefined for a route without a JSON body. A body that says to be something else than JSON is its own text. */
const bodyOf = <R>(route: Route<R>, { bytes, headers }: Asked): Parsed | undefined => {
  if (route.body._tag !== "Json") return undefined
  const contentType = headers["content-type"]
  if (contentType === undefined || jsonType.test(contentType) || bytes.byteLength === 0) return parse(bytes, route.body)
  const text = decodeText(bytes)
  return text === undefined ? { _tag: "Unreadable" } : { _tag: "Value", value: text }
}

const givenOf = <R>(
  route: Route<R>,
  asked: Asked,
  body: Parsed | undefined,
  caller: Caller | undefined
): AnyGiven | { readonly violations: ReadonlyArray<Violation> } => {
  const found: Array<Violation> = []
  const given = {
    caller,
    params: readNamed(route.params, asked.params, "path", found),
    query: readNamed(route.query, asked.query === "" ? noQuery : lastOfEach(asked.query), "query", found),
    headers: isEmpty(route.headers.properties) ? {} : readNamed(route.headers, asNamed(headerNames(route), asked.headers), "header", found),
    body: readBody(route, asked, body, found),
    client: asked.client
  }
  // Read against the route's own schemas just now, without a violation.
  return found.length > 0 ? { violations: found } : (given as AnyGiven)
}

const headerNames = <R>(route: Route<R>): ReadonlyArray<string> => Object.keys(route.headers.properties)

/** Under the names that the route gives them: only there are capitals kept. */
const asNamed = (names: ReadonlyArray<string>, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name.toLowerCase()]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** Of a name that comes more than once, the last one counts. */
const lastOfEach = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

const isEmpty = (record: Readonly<Record<string, unknown>>): boolean => {
  for (const _ in record) return false
  return true
}

const readNamed = (schema: TObject, values: Readonly<Record<string, string>>, place: string, found: Array<Violation>): unknown => {
  if (isEmpty(values) && isEmpty(schema.properties)) return {}
  const own: Array<Violation> = []
  for (const [name, value] of Object.entries(values)) {
    if (!isStorable(value)) own.push(notStorable([place, name]))
  }
  const value = read(schema, values, [place], own)
  // There is no enclosing object to show.
  for (const violation of own) found.push(violation.type === "missing" ? { ...violation, input: null } : violation)
  return value
}

/** Of a body with a password in it, nothing is repeated. */
const holdsPassword = (schema: TSchema): boolean =>
  Type.IsObject(schema) && Object.values(schema.properties).some((property) => "format" in property && property.format === "password")

const withoutInput = (violation: Violation): Violation => ({ ...violation, input: null })

const readBody = <R>(route: Route<R>, asked: Asked, body: Parsed | undefined, found: Array<Violation>): unknown => {
  if (route.body._tag === "Upload") return asked.stream
  if (route.body._tag === "None" || body === undefined) return undefined
  if (body._tag === "Value") {
    const own: Array<Violation> = []
    const value = read(route.body.schema, body.value, ["body"], own)
    found.push(...(own.length > 0 && holdsPassword(route.body.schema) ? own.map(withoutInput) : own))
    return value
  }
  found.push(missing(["body"], null))
  return undefined
}
