/**
 * Says why a request failed. A service's message may quote the conversation or the key, so only its codes are passed on, and only those that
 * do not occur in what was sent.
 */
import { refusedCode } from "#core/egress/Egress.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { whyFailed } from "#adapters/shared/whyFailed.ts"

type Reason = ModelError["reason"]

const fault = (reason: Reason, isRetryable: boolean, message: string): ModelError => new ModelError({ reason, isRetryable, message })

/** The service did not keep to the protocol, or broke off. */
export const broken = (message: string): ModelError => fault("broken", true, message)
/** The answer exceeds a limit of ours, and would exceed it again. */
export const tooLarge = (what: string): ModelError => fault("broken", false, `the answer has too many ${what}`)
export const timedOut = (what: string): ModelError => fault("timeout", true, `${what} in time`)
export const misconfigured = (message: string): ModelError => fault("refused", false, message)

export const unreachable = (error: NodeJS.ErrnoException): ModelError =>
  fault("unreachable", error.code !== refusedCode, whyFailed(error, "connection failed"))

const noCredit = /quota|billing|credit|balance|payment/
const tooMany = /rate_?limit|overloaded|too_many/
const wrongKey = /api_?key|authentication|unauthorized|permission/
const ours = /invalid_request|not_found|context_length|unsupported/

const reasonOfCode = (code: string): readonly [Reason, boolean] => {
  if (noCredit.test(code)) return ["credit", false]
  if (tooMany.test(code)) return ["rate_limited", true]
  if (wrongKey.test(code)) return ["auth", false]
  return ours.test(code) ? ["refused", false] : ["broken", true]
}

const reasonOf = (status: number, codes: string): readonly [Reason, boolean] => {
  // ElevenLabs says with 401 that the account's characters are used up.
  if (status === 401 && noCredit.test(codes)) return ["credit", false]
  if (status === 401 || status === 403) return ["auth", false]
  if (status === 402 || (status === 429 && noCredit.test(codes))) return ["credit", false]
  if (status === 429) return ["rate_limited", true]
  if (status === 408) return ["timeout", true]
  if (status === 409 || status === 425 || status >= 500) return ["broken", true]
  // A redirect is not followed.
  return status >= 300 ? ["refused", false] : reasonOfCode(codes)
}

const isCode = /^[a-z][a-z_.-]{1,63}$/i

/** The codes in an error's body that reveal nothing of what was sent. */
const codesIn = (body: unknown, sent: string): ReadonlyArray<string> => {
  // Gemini's errors are lists of one.
  const only: unknown = Array.isArray(body) ? body[0] : body
  const error = at(only, "error") ?? only
  const hidden = sent.toLowerCase()
  const codes = [textAt(error, "type"), textAt(error, "code"), textAt(error, "detail", "status")]
  return [...new Set(codes)].flatMap((code) =>
    code !== undefined && isCode.test(code) && !hidden.includes(code.toLowerCase()) ? [code] : []
  )
}

interface Refused {
  readonly status: number
  readonly retryAfterMillis?: number | undefined
}
/** `sent`: the body of the request and the key. */
export const refusedReply = ({ retryAfterMillis, status }: Refused, body: unknown, sent: string): ModelError => {
  const codes = codesIn(body, sent)
  const [reason, isRetryable] = reasonOf(status, codes.join(" ").toLowerCase())
  const error = { reason, isRetryable, message: [`HTTP ${status}`, ...codes].join(" ") }
  return new ModelError(isRetryable && retryAfterMillis !== undefined ? { ...error, retryAfterMillis } : error)
}

/** An error in place of the next chunk. Some gateways put a status into its code. */
export const midStream = (body: unknown, sent: string): ModelError => {
  const code = at(body, "error", "code")
  const codes = codesIn(body, sent)
  const [reason, isRetryable] = reasonOf(typeof code === "number" ? code : 0, codes.join(" ").toLowerCase())
  return fault(reason, isRetryable, ["error in the middle of the answer", ...codes].join(": "))
}
