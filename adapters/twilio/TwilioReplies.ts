/**
 * What a reply of Twilio's REST interface proves. Its own errors have a code and repeat the HTTP status, which no proxy does.
 * https://www.twilio.com/docs/api/errors
 */
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { complaint, matchAt, numberAt } from "#adapters/shared/Json.ts"
import { type CarrierReplies, isSuccess } from "#adapters/shared/replies.ts"
import { refusalsByCode, refusalsByStatus } from "./twilioCodes.ts"

const callSid = /^CA[0-9a-fA-F]{32}$/
export const isCallSid = (sid: string): boolean => callSid.test(sid)
export const sidIn = (body: unknown): string | undefined => matchAt(body, callSid, "sid")

/** The code of Twilio's own error. */
const errorCodeOf = ({ body, status }: Reply): number | undefined => {
  const code = numberAt(body, "code")
  return status >= 400 && Number.isInteger(code) && numberAt(body, "status") === status ? code : undefined
}

export const replies: CarrierReplies = {
  // Contains neither numbers nor the account's id.
  errorIn: (reply) => {
    const code = errorCodeOf(reply)
    return code === undefined ? undefined : `${code} ${complaint(reply.body).replace(/\b(AC|CA)\w[\w#]*/g, "$1#")}`
  },
  isMissing: (reply) => reply.status === 404 && errorCodeOf(reply) === 20404,
  placedIn: sidIn,
  refusalIn: (reply) => {
    const code = errorCodeOf(reply)
    const byStatus = refusalsByStatus.get(reply.status)
    return code === undefined || byStatus === undefined ? undefined : (refusalsByCode.get(code) ?? byStatus)
  }
}

/** The reply shows this call. */
export const shows = (reply: Reply, sid: string): boolean => isSuccess(reply) && sidIn(reply.body) === sid

/** The call's state does not allow it, which may mean that it has ended, or that it still waits and can only be canceled. */
export const isOutOfState = (reply: Reply): boolean => errorCodeOf(reply) === 21220
