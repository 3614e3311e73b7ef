/**
 * What a reply of Vonage proves. A call was not placed only if Vonage itself says so: its errors have a type and a title, in one of two forms.
 * https://developer.vonage.com/en/api-errors
 */
import type { Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { isSuccess, notSent } from "#adapters/shared/originated.ts"
import { OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { refusalsByStatus, refusalsByType } from "./vonageCodes.ts"

export const isUuid = (id: unknown): id is string => typeof id === "string" && /^[\w-]{8,64}$/.test(id)

interface VonageError {
  /** Such as `unauthorized`. */
  readonly type: string
  /** The members of the request that are wrong, such as `to[0].number`. */
  readonly parameters: ReadonlyArray<string>
}

const isTitled = (body: unknown): boolean => (textAt(body, "title") ?? textAt(body, "error_title")) !== undefined

/** An error of Vonage itself. Its own words are not kept, because they may quote a number. */
const errorOf = ({ body, status }: Reply): VonageError | undefined => {
  const [, type] = /(?:^|#)([A-Za-z][A-Za-z_-]{0,40})$/.exec(textAt(body, "type") ?? "") ?? []
  if (status < 400 || type === undefined || !isTitled(body) || at(body, "uuid") !== undefined) return undefined
  return { type: type.toLowerCase().replaceAll("_", "-"), parameters: parametersIn(at(body, "invalid_parameters")) }
}

/** A list of names with reasons, or an object of reasons by name. */
const parametersIn = (invalid: unknown): ReadonlyArray<string> => {
  if (typeof invalid !== "object" || invalid === null) return []
  const names: ReadonlyArray<unknown> = Array.isArray(invalid) ? invalid.map((one: unknown) => at(one, "name")) : Object.keys(invalid)
  return names.map((name) => (typeof name === "string" && /^[a-z_]+(\[\d\])?(\.[a-z_]+){0,4}$/.test(name) ? name : "?"))
}

const isOf = (parameter: string, member: "to" | "from"): boolean => /^[a-z_]+/.exec(parameter)?.[0] === member

/** Words for the operator. */
export const detailOf = (reply: Reply): string => {
  const error = errorOf(reply)
  if (error === undefined) return `HTTP ${reply.status}, not an answer that Vonage documents`
  return ["HTTP", reply.status, error.type, ...error.parameters.slice(0, 3)].join(" ")
}

/** Undefined: not the reply that it should be. */
export const placedUuid = (outcome: Outcome): string | undefined => {
  if (!("status" in outcome) || !isSuccess(outcome) || isTitled(outcome.body)) return undefined
  const uuid = at(outcome.body, "uuid")
  return isUuid(uuid) ? uuid : undefined
}

/** Undefined unless it is certain that there was no call. */
export const refusalOf = (outcome: Outcome): OriginateRefused | undefined => {
  if (!("status" in outcome)) return notSent(outcome)
  const error = errorOf(outcome)
  const byStatus = refusalsByStatus.get(outcome.status)
  if (error === undefined || byStatus === undefined) return undefined
  const reason = (outcome.status === 400 ? blamed(error) : undefined) ?? refusalsByType.get(error.type) ?? byStatus
  const { retryAfterMillis } = outcome
  return new OriginateRefused({
    reason,
    detail: detailOf(outcome),
    ...(reason === "number_refused" ? { cause: "invalid_number_format" as const } : {}),
    ...(reason === "rate_limited" && retryAfterMillis !== undefined ? { retryAfterMillis } : {})
  })
}

/** If something besides the numbers is wrong, they are not to blame. */
const blamed = ({ parameters }: VonageError): "number_refused" | "caller_id_refused" | "misconfigured" | undefined => {
  if (parameters.length === 0) return undefined
  if (parameters.every((parameter) => isOf(parameter, "to"))) return "number_refused"
  return parameters.every((parameter) => isOf(parameter, "to") || isOf(parameter, "from")) ? "caller_id_refused" : "misconfigured"
}

/** There is no such call, number or application. */
export const isNotFound = (reply: Reply): boolean => reply.status === 404 && errorOf(reply) !== undefined

/** The call's state does not allow what was asked for. */
export const isOutOfState = (reply: Reply): boolean => reply.status === 400 && errorOf(reply) !== undefined

/** The credentials are not accepted. */
export const isAuthRefused = (reply: Reply): boolean => [401, 403].includes(reply.status) && errorOf(reply) !== undefined

/** A hang-up has no body in its reply. */
export const isDone = (reply: Reply): boolean => reply.status === 204

/** The reply is about this call. */
export const shows = (reply: Reply, uuid: string): boolean => isSuccess(reply) && textAt(reply.body, "uuid") === uuid

const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })

/** What the reply to a request for a list of calls says about the trunk. */
export const standingOf = (outcome: Outcome): TrunkStatus => {
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (isAuthRefused(outcome)) return down("auth", detailOf(outcome))
  return callsIn(outcome) === undefined ? down("unreachable", detailOf(outcome)) : { _tag: "Up" }
}

/** The records in a list of calls; undefined: it is no such list. */
export const callsIn = (reply: Reply): ReadonlyArray<unknown> | undefined => {
  const calls = at(reply.body, "_embedded", "calls")
  return isSuccess(reply) && Array.isArray(calls) ? calls : undefined
}
