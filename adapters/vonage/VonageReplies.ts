/** What Vonage's replies prove. Its own errors have a type and a title, in one of two forms. https://developer.vonage.com/en/api-errors */
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, masked, matchAt, numberAt, textAt } from "#adapters/shared/Json.ts"
import { countedPage } from "#adapters/shared/pages.ts"
import { type CarrierReplies, isErrorOf } from "#adapters/shared/replies.ts"
import { refusalsByMember, refusalsByStatus, refusalsByType } from "./vonageCodes.ts"

const uuid = /^[\w-]{8,64}$/
export const isUuid = (id: string): boolean => uuid.test(id)
export const uuidIn = (body: unknown): string | undefined => matchAt(body, uuid, "uuid")

const titleOf = (body: unknown): string | undefined => textAt(body, "title") ?? textAt(body, "error_title")

/** The type of Vonage's own error, such as `unauthorized`, the invalid members of the request, such as `to[0].number`, and its words. */
const errorOf = ({ body, status }: Reply) => {
  const [, type] = /(?:^|#)([A-Za-z][A-Za-z_-]{0,40})$/.exec(textAt(body, "type") ?? "") ?? []
  const title = titleOf(body)
  if (status < 400 || type === undefined || title === undefined || at(body, "uuid") !== undefined) return undefined
  const words = masked(textAt(body, "detail") ?? title)
  return { type: type.toLowerCase().replaceAll("_", "-"), parameters: parametersIn(at(body, "invalid_parameters")), words }
}

/** A list of names with reasons, or an object of reasons by name. */
const parametersIn = (invalid: unknown): ReadonlyArray<string> => {
  if (typeof invalid !== "object" || invalid === null) return []
  const names: ReadonlyArray<unknown> = Array.isArray(invalid) ? invalid.map((one: unknown) => at(one, "name")) : Object.keys(invalid)
  return names.map((name) => (typeof name === "string" && /^[a-z_]+(\[\d\])?(\.[a-z_]+){0,4}$/.test(name) ? name : "?"))
}

/** If something besides the numbers is wrong, they are not to blame. */
const blamedBy = (parameters: ReadonlyArray<string>) => {
  const reasons = parameters.map((parameter) => refusalsByMember.get(/^[a-z_]+/.exec(parameter)?.[0]) ?? "unexplained")
  return (["misconfigured", "caller_id_refused", "unexplained", "number_refused"] as const).find((reason) => reasons.includes(reason))
}

export const replies: CarrierReplies = {
  errorIn: (reply) => {
    const error = errorOf(reply)
    return error && `${[error.type, ...error.parameters.slice(0, 3)].join(" ")}: ${error.words}`
  },
  isMissing: (reply) => isErrorOf(replies, reply, 404),
  placedIn: (body) => (titleOf(body) === undefined ? uuidIn(body) : undefined),
  refusalIn: (reply) => {
    const error = errorOf(reply)
    const byStatus = refusalsByStatus.get(reply.status)
    if (error === undefined || byStatus === undefined) return undefined
    return { reason: (reply.status === 400 ? blamedBy(error.parameters) : undefined) ?? refusalsByType.get(error.type) ?? byStatus }
  }
}

export const callsIn = (body: unknown) => countedPage(at(body, "_embedded", "calls"), numberAt(body, "count"))
export const numbersIn = (body: unknown) => countedPage(at(body, "numbers"), numberAt(body, "count"))
export const applicationsIn = (body: unknown) => countedPage(at(body, "_embedded", "applications"), numberAt(body, "total_items"))
