/** What Telnyx' replies prove. Only its own documented errors are proof. */
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, masked, textAt } from "#adapters/shared/Json.ts"
import { type CarrierReplies, isSuccess, type Refusal } from "#adapters/shared/replies.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import { reasonsByPointer, refusalFor } from "./telnyxCodes.ts"

/** The errors in a reply, or none if any of them does not have the documented form. The pointer names what is wrong in the request, such as `/to`. */
const errorsOf = ({ body, status }: Reply) => {
  const errors = at(body, "errors")
  if (status < 400 || !Array.isArray(errors) || at(body, "data") !== undefined) return []
  const wordsIn = (error: unknown) => masked(textAt(error, "detail") ?? textAt(error, "title") ?? "")
  const of = (error: unknown) => ({ code: textAt(error, "code") ?? "", pointer: textAt(error, "source", "pointer"), words: wordsIn(error) })
  const read = errors.map(of)
  return read.every(({ code }) => /^[A-Z]?\d{1,6}$/.test(code)) ? read : []
}

const hasError = (reply: Reply, status: number, code: string): boolean =>
  reply.status === status && errorsOf(reply).some((error) => error.code === code)

/** Undefined unless it proves that there was no call. */
const refusalBy = (status: number, { code, pointer, words }: ReturnType<typeof errorsOf>[number]): Refusal | undefined => {
  const known = refusalFor(status, code)
  if (known === undefined) return undefined
  const byPointer = status === 400 || status === 422 ? reasonsByPointer.get(pointer) : undefined
  const reason = byPointer ?? known.reason
  const about = pointer === undefined ? "" : ` (${masked(pointer)})`
  return { ...known, reason, detail: `HTTP ${status} ${code}${about}: ${reason === "unexplained" ? words : known.words}` }
}

export const replies: CarrierReplies = {
  errorIn: (reply) => errorsOf(reply)[0]?.code,
  // Telnyx keeps a call for ten minutes after its end.
  isMissing: (reply) => hasError(reply, 404, "10005"),
  // `is_alive` says nothing yet: it may be false right after the dial.
  placedIn: (body) => {
    const id = at(body, "data", "call_control_id")
    return at(body, "errors") === undefined && isProviderCallId(id) ? id : undefined
  },
  refusalIn: (reply) => {
    const read = errorsOf(reply).map((error) => refusalBy(reply.status, error))
    const known = read.filter((refusal) => refusal !== undefined)
    if (known.length < read.length) return undefined
    // If something besides the number is wrong, the contact is not to blame.
    return known.find(({ reason }) => reason !== "number_refused") ?? known[0]
  }
}

/** Whether a command was carried out. A 200 that says anything but "ok" is not a success. */
export const isDone = (reply: Reply): boolean => isSuccess(reply) && textAt(reply.body, "data", "result") === "ok"

/** Whether a reply says that the call has already ended. */
export const isEndedAlready = (reply: Reply): boolean => hasError(reply, 422, "90018")
