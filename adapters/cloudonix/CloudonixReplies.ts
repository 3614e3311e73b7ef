/**
 * What Cloudonix' replies prove. The form of its errors is not documented beyond the status, so an error counts as Cloudonix' own only if it is a JSON
 * object that names no call.
 */
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, complaint, matchAt, textAt } from "#adapters/shared/Json.ts"
import { type CarrierReplies, isErrorOf } from "#adapters/shared/replies.ts"
import { blamed, refusals } from "./cloudonixCodes.ts"

/** A session's token goes into paths. */
const form = /^[A-Za-z0-9_-]{8,128}$/
export const isToken = (token: string): boolean => form.test(token)
/** `name`: the member that holds it. */
export const tokenIn = (body: unknown, name = "token"): string | undefined => matchAt(body, form, name)

const isOwnError = ({ body, status }: Reply): boolean =>
  status >= 400 && typeof body === "object" && body !== null && !Array.isArray(body) && at(body, "token") === undefined

export const replies: CarrierReplies = {
  errorIn: (reply) => (isOwnError(reply) ? complaint(reply.body) : undefined),
  isMissing: (reply) => isErrorOf(replies, reply, 404),
  placedIn: (body) => (at(body, "error") === undefined ? tokenIn(body) : undefined),
  refusalIn: (reply) => {
    const { body, status } = reply
    const byStatus = isOwnError(reply) ? refusals.get(status) : undefined
    if (byStatus === undefined) return undefined
    const text = textAt(body, "message") ?? textAt(body, "error") ?? ""
    const isInvalid = status === 400 || status === 422
    const refusal = (isInvalid ? blamed.find(([part]) => part.test(text))?.[1] : undefined) ?? byStatus
    return { ...refusal, detail: `HTTP ${status}: ${refusal.words ?? complaint(body)}` }
  }
}
